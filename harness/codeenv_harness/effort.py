"""Whether effort follows difficulty: quick at what is easy, patient at what is hard.

Effort is the x of ``codeenv.wrappers.effort``; difficulty is what a recipe says of its task before
anyone has tried it, or any number that is higher for harder tasks.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from codeenv.errors import UsageError
from codeenv.tasks.taskset import Taskset
from codeenv.tools import ToolCall
from codeenv.trajectory import Step, Trajectory, read_trajectory
from codeenv.wrappers.effort import DEFAULT_WEIGHTS, Effort, EffortWeights, effort_of_action
from codeenv.wrappers.texts import TokenCounter, approximate_tokens
from codeenv_harness.records import Manifest, RunFolder

EASY, HARD = 1 / 3, 2 / 3
"""Up to and from which prior probability of failure a task counts as easy, or as hard."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EffortRecord:
    """What one rollout cost.

    Attributes:
        task_id: The task.
        difficulty: Higher is harder.
        effort: In units of 1,000 token-equivalents, at least 0.
        solved: Whether the task was resolved.
        finished: Whether the agent ended the episode itself.
        budget_left: Share of the steps that was left, in [0, 1].
    """

    task_id: str
    difficulty: float
    effort: float
    solved: bool
    finished: bool
    budget_left: float

    def __post_init__(self) -> None:
        """Refuse what no statistic can use.

        Raises:
            UsageError: If a number is not finite, or the effort negative.
        """
        numbers = (self.difficulty, self.effort, self.budget_left)
        if not all(map(math.isfinite, numbers)) or self.effort < 0:
            raise UsageError(f"the effort of {self.task_id} is not a finite number from 0 on")


@dataclass(frozen=True, slots=True)
class EffortCalibration:
    """How effort went with difficulty; None where there is nothing to tell it from.

    Attributes:
        rollouts: How many were looked at.
        rho: Spearman's rank correlation of effort and difficulty, in [-1, 1].
        slope: Of the logarithm of effort over difficulty, by least squares; 1 is e times the
            effort per unit of difficulty.
        overthinking: Median effort of solved easy tasks.
        underthinking: Share of the failed rollouts of hard tasks that the agent ended with more
            than half of its steps left.
    """

    rollouts: int
    rho: float | None
    slope: float | None
    overthinking: float | None
    underthinking: float | None


def calibrate(
    records: Iterable[EffortRecord], *, easy: float = EASY, hard: float = HARD
) -> EffortCalibration:
    """Return how effort went with difficulty.

    Args:
        records: One per rollout with a valid reward.
        easy: Up to which difficulty a task is easy.
        hard: From which difficulty a task is hard.
    """
    every = list(records)
    spent = [record for record in every if record.effort > 0]
    difficulty = np.array([record.difficulty for record in spent], dtype=np.float64)
    effort = np.log(np.array([record.effort for record in spent], dtype=np.float64))
    quick = [r.effort for r in every if r.solved and r.difficulty <= easy]
    failed = [r for r in every if not r.solved and r.difficulty >= hard]
    gave_up = [r.finished and r.budget_left > 0.5 for r in failed]
    return EffortCalibration(
        rollouts=len(every),
        rho=spearman(difficulty, effort),
        slope=_slope(difficulty, effort),
        overthinking=float(np.median(quick)) if quick else None,
        underthinking=sum(gave_up) / len(failed) if failed else None,
    )


def spearman(one: Floats, other: Floats) -> float | None:
    """Return the rank correlation, equal values sharing the mean of their ranks.

    None for fewer than two points, or if all values of one side are equal.
    """
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    a, b = (ranks - ranks.mean() for ranks in (_ranks(one), _ranks(other)))
    rho = float(a @ b / math.sqrt(float(a @ a) * float(b @ b)))
    return min(1.0, max(-1.0, rho))


def effort_of_trajectory(
    trajectory: Trajectory, count: TokenCounter = approximate_tokens
) -> Effort:
    """Return what the agent's own steps cost; copied ones cost nothing again.

    Where a sampler recorded how many tokens an answer has, they are so many, in the proportions
    that are counted.
    """
    own = (s for s in trajectory.steps if s.source == "agent" and not s.is_copied_context)
    return sum((_of_step(step, count) for step in own), start=Effort())


def read_effort(
    run: Path,
    taskset: Taskset,
    *,
    weights: EffortWeights = DEFAULT_WEIGHTS,
    count: TokenCounter = approximate_tokens,
) -> tuple[EffortRecord, ...]:
    """Return what each rollout of a run cost; those without a valid reward are left out.

    Args:
        run: The folder of a run.
        taskset: The tasks it played; their prior is the difficulty.
        weights: What counts how much.
        count: Counts tokens.

    Raises:
        TaskError: If a task is not in the taskset.
        UsageError: If the folder holds no run, or a trajectory is missing.
    """
    max_steps = _max_steps(run)
    found = []
    for record in RunFolder(run).records():
        if not record.reward_valid:
            continue
        path = run / "trajectories" / f"{record.task_id}__{record.rollout}.json"
        effort = weights.of(effort_of_trajectory(read_trajectory(path), count))
        found.append(
            EffortRecord(
                task_id=record.task_id,
                difficulty=taskset.recipe(record.task_id).difficulty.prior,
                effort=effort,
                solved=record.resolved,
                finished=record.terminated,
                budget_left=max(0.0, 1 - record.n_steps / max_steps),
            )
        )
    return tuple(found)


def _of_step(step: Step, count: TokenCounter) -> Effort:
    thinking = count(step.reasoning_content or "")
    total = Effort(thinking=thinking, final=count(step.message), turns=1)
    for call in step.tool_calls or ():
        made = effort_of_action(ToolCall(tool=call.function_name, arguments=call.arguments), count)
        total += Effort(call=made.call, final=made.final, calls=1)
    written = step.metrics.completion_tokens if step.metrics else None
    if written is not None:
        total = _in_all(written, total)
    for result in step.observation.results if step.observation else ():
        total += Effort(output=count(result.content or ""))
    return total


def _in_all(written: int, counted: Effort) -> Effort:
    """Return an effort with as many tokens as were written; those of no part are words."""
    parts = (counted.thinking, counted.call, counted.final)
    whole = sum(parts) or 1
    thinking, call = (written * part // whole for part in parts[:2])
    return replace(counted, thinking=thinking, call=call, final=written - thinking - call)


def _slope(x: Floats, y: Floats) -> float | None:
    if len(x) < 2 or np.ptp(x) == 0:
        return None
    scale = float(np.abs(x - x.mean()).max())
    moved = (x - x.mean()) / scale
    return float(moved @ (y - y.mean()) / (moved @ moved)) / scale


def _ranks(values: Floats) -> Floats:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[places]
    return ranks


def _max_steps(run: Path) -> int:
    path = run / "manifest.json"
    try:
        return Manifest.model_validate_json(path.read_bytes()).max_steps
    except (OSError, ValidationError) as error:
        raise UsageError(f"{path} is not the manifest of a run") from error

"""The facts of a report: typed, immutable, and without any word of how they are shown.

Everything is over the rollouts with a valid reward, unless an attribute says otherwise.  What is
not known is None, and never 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from codeenv_harness.effort import EffortCalibration
from codeenv_harness.metrics import BehaviourSummary

Status = Literal["never", "sometimes", "always", "not valid"]
"""How often the valid rollouts of a task resolved it; ``not valid``: there are none."""
STATUSES: tuple[Status, ...] = ("never", "sometimes", "always", "not valid")
OVER = "valid rollouts"
"""What figures are over."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean or a median.

    Attributes:
        value: The figure.
        low: Lower end of its 95% interval, by drawing tasks; None where tasks do not tell it.
        high: Upper end.
        rollouts: Over how many rollouts.
    """

    value: float
    low: float | None
    high: float | None
    rollouts: int


@dataclass(frozen=True, slots=True)
class PassFigure:
    """Pass@k, a mean over tasks.

    Attributes:
        k: How many tries.
        figure: What they give; None if no task has as many.
        tasks: Over how many tasks.
        left_out: Tasks with fewer valid rollouts than k.
    """

    k: int
    figure: Figure | None
    tasks: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Part:
    """The tasks of one kind.

    Attributes:
        name: Of the kind.
        tasks: How many were played.
        rollouts: All that ended, not valid ones included.
        valid: Those with a valid reward.
        resolved: How many of these were resolved.
        rate: Pass@1.
        effort: Median of ``codeenv.wrappers.effort``, in units of 1,000 token-equivalents.
    """

    name: str
    tasks: int
    rollouts: int
    valid: int
    resolved: int
    rate: Figure | None
    effort: float | None


@dataclass(frozen=True, slots=True)
class FindingCount:
    """How often a monitor said one thing, in all rollouts that it looked at.

    Attributes:
        label: What.
        group: Its kind of misconduct.
        rollouts: In how many rollouts it was found.
        succeeded: In how many of them it had an effect.
    """

    label: str
    group: str
    rollouts: int
    succeeded: int


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What the rollouts of one task gave.

    Attributes:
        task_id: The task.
        status: How often it was resolved.
        rollouts: All that ended.
        valid: Those with a valid reward.
        resolved: How many of these were resolved.
        reward: Mean.
        tokens: Median of the completion tokens.
        cost: Median, in USD.
        steps: Median of the tool calls.
        effort: Median, in units of 1,000 token-equivalents.
        tier: How well it can be graded; empty if the recipe is not known.
        level: ``d0``, the easiest, to ``d4``; empty if the recipe is not known.
        prior: The recipe's prior probability of failure.
        error: What failed in the last rollout that is not valid.
    """

    task_id: str
    status: Status
    rollouts: int
    valid: int
    resolved: int
    reward: float | None
    tokens: float | None
    cost: float | None
    steps: float | None
    effort: float | None
    tier: str
    level: str
    prior: float | None
    error: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large tasks and solutions are: medians, the first over tasks, the others over rollouts.

    Attributes:
        instruction_words: That describe the task.
        deleted_lines: Taken out, by the recipe.
        deleted_files: That they are in.
        failing_tests: That must pass in the end.
        lines_added: By the agent, in files that count.
        lines_removed: Likewise.
        files_changed: Likewise.
        seconds: Of a rollout, without the reset.
    """

    instruction_words: float | None
    deleted_lines: float | None
    deleted_files: float | None
    failing_tests: float | None
    lines_added: float | None
    lines_removed: float | None
    files_changed: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What one run gave.

    Attributes:
        name: Of the run in this report.
        agent: Who played; empty if that was not written down.
        codeenv: Version that played it; likewise.
        rollouts: All that ended.
        missing: Rollouts that were asked for and never ended.
        valid: Those with a valid reward.
        resolved: How many of these were resolved.
        passes: For 1, 2, 4 … tries, and for as many as the most tried task has.
        reward: Mean.
        tokens: Median of the completion tokens, over the rollouts of which they are known.
        cost: Median in USD, likewise.
        cost_total: In USD, over the same rollouts as ``cost``.
        steps: Median of the tool calls.
        truncated: Share that a limit ended.
        unread: Valid rollouts without a trajectory that can be read.
        reasons: Reason -> how many rollouts it ended that were not resolved, not valid ones
            included.
        monitored: How many rollouts a monitor looked at.
        actions: What it said of them -> how many.
        findings: By label.
        tiers: By how well the tasks can be graded.
        levels: By how hard they look.
        unknown: Tasks whose recipe is not known; they are in neither of the two.
        effort: Whether effort follows difficulty; None if no recipe is known.
        sizes: Of tasks, and of what agents changed.
        behaviour: How agents worked; None if no trajectory can be read.
        tasks: One by one, sorted.
    """

    name: str
    agent: str
    codeenv: str
    rollouts: int
    missing: int
    valid: int
    resolved: int
    passes: tuple[PassFigure, ...]
    reward: Figure | None
    tokens: Figure | None
    cost: Figure | None
    cost_total: float | None
    steps: Figure | None
    truncated: float | None
    unread: int
    reasons: Mapping[str, int]
    monitored: int
    actions: Mapping[str, int]
    findings: tuple[FindingCount, ...]
    tiers: tuple[Part, ...]
    levels: tuple[Part, ...]
    unknown: int
    effort: EffortCalibration | None
    sizes: Sizes
    behaviour: BehaviourSummary | None
    tasks: tuple[TaskResult, ...]

    @property
    def score(self) -> Figure | None:
        """Pass@1."""
        return self.passes[0].figure if self.passes else None

    def of_status(self, status: Status) -> tuple[str, ...]:
        """Return the ids of the tasks that were resolved that often."""
        return tuple(task.task_id for task in self.tasks if task.status == status)


@dataclass(frozen=True, slots=True)
class Report:
    """Some runs side by side.

    Attributes:
        runs: In the order they were named.
        over: What figures are over.
    """

    runs: tuple[RunFacts, ...]
    over: str = OVER

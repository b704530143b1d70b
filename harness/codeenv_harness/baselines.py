"""What a run gave, task by task, in a form that is small enough to be committed."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from codeenv._paths import data_folder
from codeenv.errors import UsageError
from codeenv.tasks.reading import shorten
from codeenv.tasks.taskset import write_atomic
from codeenv_harness.records import Manifest, RolloutRecord, RunFolder

_HOW = {
    *("rollouts", "seed", "profile", "max_steps", "wall_time", "output_budget", "settings"),
    *("tier", "controls", "monitored"),
}
Count = Annotated[int, Field(ge=0)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TaskScore(_Model):
    """What the rollouts of one task gave."""

    recipe: str
    """Digest of the recipe; empty if it is unknown."""
    rollouts: Count
    """How many were asked for."""
    valid: Count
    """How many have a valid reward, and no monitor put them aside."""
    resolved: Count
    """How many of these were resolved."""
    mean_reward: float
    """Of the valid ones; 0 if there are none."""

    @model_validator(mode="after")
    def _counts(self) -> Self:
        if not self.resolved <= self.valid <= self.rollouts:
            raise ValueError("resolved, valid and rollouts must not fall in this order")
        return self

    @property
    def rate(self) -> float:
        """Share of the valid rollouts that were resolved."""
        return self.resolved / self.valid if self.valid else 0.0

    @property
    def valid_share(self) -> float:
        """Share of the rollouts that have a valid reward."""
        return self.valid / self.rollouts if self.rollouts else 0.0


class Scores(_Model):
    """A run, task by task."""

    agent: str
    codeenv: str
    how: dict[str, Any] = {}
    """How it was played and graded: what of the manifest changes what a figure means."""
    tasks: dict[str, TaskScore]

    @classmethod
    def of(cls, manifest: Manifest, records: Iterable[RolloutRecord]) -> Self:
        """Count; a rollout that was asked for and never ended has no valid reward."""
        found: dict[str, list[RolloutRecord]] = defaultdict(list)
        for record in records:
            found[record.task_id].append(record)
        tasks = {
            task_id: _score(manifest.recipes.get(task_id, ""), manifest.rollouts, found[task_id])
            for task_id in sorted({*manifest.recipes, *found})
        }
        how = manifest.model_dump(mode="json", include=_HOW)
        return cls(agent=manifest.agent, codeenv=manifest.codeenv, how=how, tasks=tasks)


class Baseline(_Model):
    """One or several runs to compare with, by name."""

    schema_version: Literal[1] = 1
    runs: Annotated[dict[str, Scores], Field(min_length=1)]


def shipped_baselines() -> tuple[str, ...]:
    """Return the names of the baselines that come with codeenv."""
    return tuple(sorted(path.stem for path in data_folder("baselines").glob("*.json")))


def read_scores(where: str | Path) -> Mapping[str, Scores]:
    """Read a run's folder, a benchmark's folder of runs, a baseline file or a shipped baseline.

    Returns:
        Scores by the run's name: the folder's in a benchmark, else the agent's.

    Raises:
        UsageError: If there is no such run or baseline, nothing was finished, or it is malformed.
    """
    path = Path(where).expanduser()
    if path.is_dir():
        return _runs(path)
    if not path.is_file():
        path = _shipped(str(where))
    try:
        return Baseline.model_validate_json(path.read_bytes()).runs
    except ValidationError as error:
        raise UsageError(
            f"{path} is not a baseline: {shorten(error)}",
            hint="a baseline is written by codeenv compare RUN --write-baseline FILE",
        ) from None


def write_baseline(path: Path, runs: Mapping[str, Scores]) -> None:
    """Write runs as a baseline, a line per task; the same runs give the same bytes."""
    drawn = ",\n".join(f" {json.dumps(name)}: {_drawn(runs[name])}" for name in sorted(runs))
    write_atomic(path, f'{{"schema_version": 1, "runs": {{\n{drawn}\n}}}}\n'.encode())


def _drawn(scores: Scores) -> str:
    tasks = ",\n".join(
        f"   {json.dumps(task_id)}: {json.dumps(scores.tasks[task_id].model_dump())}"
        for task_id in sorted(scores.tasks)
    )
    facts = scores.model_dump(include={"agent", "codeenv", "how"})
    head = json.dumps(facts, sort_keys=True)
    return f'{head[:-1]}, "tasks": {{\n{tasks}\n  }}}}'


def _score(recipe: str, asked: int, records: Iterable[RolloutRecord]) -> TaskScore:
    every = list(records)
    valid = [r for r in every if r.reward_valid and math.isfinite(r.reward) and not _aside(r)]
    return TaskScore(
        recipe=recipe,
        rollouts=max(asked, len(every)),
        valid=len(valid),
        resolved=sum(record.resolved for record in valid),
        mean_reward=math.fsum(r.reward for r in valid) / len(valid) if valid else 0.0,
    )


def _aside(record: RolloutRecord) -> bool:
    """Return whether a monitor put a rollout aside until somebody has looked at it."""
    return record.monitor is not None and record.monitor.action == "quarantine"


def _runs(folder: Path) -> Mapping[str, Scores]:
    if _is_run(folder):
        scores = _scores(folder)
        return {scores.agent: scores}
    inner = sorted(path for path in folder.iterdir() if _is_run(path))
    if not inner:
        raise UsageError(
            f"there is no run in {folder}", hint="give the folder that codeenv run --out wrote"
        )
    return {path.name: _scores(path) for path in inner}


def _is_run(folder: Path) -> bool:
    return (folder / "manifest.json").is_file()


def _scores(folder: Path) -> Scores:
    run = RunFolder(folder)
    records = run.records()
    if not records:
        raise UsageError(
            f"there are no finished rollouts in {folder}",
            hint="go on with it: codeenv run … --resume",
        )
    return Scores.of(run.manifest(), records)


def _shipped(name: str) -> Path:
    if name not in shipped_baselines():
        raise UsageError(
            f"no run or baseline {name!r}: neither a folder, a file nor a shipped baseline",
            hint=f"shipped baselines: {', '.join(shipped_baselines()) or 'none'}",
        )
    return data_folder("baselines") / f"{name}.json"

"""Benchmarks as data: which tasks are played, by which agents, and what is expected of them."""

import hashlib
import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from codeenv._paths import data_folder
from codeenv.env.episode import EpisodeLimits
from codeenv.errors import TaskError, UsageError
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import Recipe
from codeenv.tasks.reading import shorten
from codeenv.tasks.taskset import Taskset, shipped_suites
from codeenv_harness.records import RolloutRecord
from codeenv_harness.rollout import RunOptions

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
Share = Annotated[float, Field(ge=0, le=1)]
AtLeastOne = Annotated[int, Field(ge=1)]
_ROUNDING = 1e-9


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Tasks(_Model):
    """Tasks of one taskset: all of them, those listed, or a sample that stays the same."""

    taskset: str
    """A folder (beside the benchmark's file, or as given), recipe file, shipped suite or task."""
    ids: tuple[str, ...] = ()
    sample: AtLeastOne | None = None
    """How many: those whose ids have the smallest hashes, so that new tasks move few others."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.ids and self.sample is not None:
            raise ValueError("ids and sample exclude each other")
        return self


class Expected(_Model):
    """What a run must give, or it fails by itself."""

    resolved_rate: Share | None = None
    mean_reward: float | None = None
    tolerance: Share = 0.0


class BenchmarkAgent(_Model):
    """An agent and how it plays."""

    name: Name
    """Of its folder, and of its run in a baseline."""
    agent: str
    """As ``codeenv run --agent`` takes it."""
    settings: dict[str, Any] = {}
    """As ``--agent-option`` takes them."""
    rollouts: AtLeastOne = 1
    seed: Annotated[int, Field(ge=0)] = 0
    max_steps: AtLeastOne = 100
    expected: Expected = Expected()

    @model_validator(mode="after")
    def _nowhere(self) -> Self:
        """A file of somebody else must not say which key goes to which server."""
        if found := sorted({"base_url", "api_key_env"} & {*self.settings}):
            raise ValueError(f"{found[0]} is not for a file: set OPENAI_BASE_URL, OPENAI_API_KEY")
        return self

    def options(self, *, concurrency: int, out: Path | None, resume: bool) -> RunOptions:
        """Return how to run it; its records go to a folder of its name in ``out``."""
        return RunOptions(
            agent=self.agent,
            settings=self.settings,
            rollouts=self.rollouts,
            concurrency=concurrency,
            seed=self.seed,
            limits=EpisodeLimits(max_steps=self.max_steps),
            out=out / self.name if out is not None else None,
            resume=resume,
        )


class Benchmark(_Model):
    """A benchmark, as ``*.toml`` says it."""

    name: Name
    tasks: Annotated[tuple[Tasks, ...], Field(min_length=1)]
    agents: Annotated[tuple[BenchmarkAgent, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names(self) -> Self:
        if len({agent.name for agent in self.agents}) < len(self.agents):
            raise ValueError("two agents have the same name")
        return self

    def taskset(self, beside: Path) -> Taskset:
        """Return the tasks of all parts.

        Args:
            beside: Folder that relative folders are looked for in first.

        Raises:
            TaskError: If a taskset or a task is not there, or two tasks have the same id.
        """
        parts = [_selected(part, beside) for part in self.tasks]
        return Taskset(
            _together(recipe for part in parts for recipe in part.recipes),
            {digest: found for part in parts for digest, found in part.baselines.items()},
            {digest: found for part in parts for digest, found in part.environments.items()},
        )


def shipped_benchmarks() -> tuple[str, ...]:
    """Return the names of the benchmarks that come with codeenv."""
    return tuple(sorted(path.stem for path in data_folder("suites").glob("*.toml")))


def benchmark_file(where: str) -> Path | None:
    """Return the file of a benchmark: a ``.toml`` file, or a shipped one by name; else None.

    A folder, a file or a shipped task suite of the same name goes first.
    """
    path = Path(where).expanduser()
    if path.exists():
        return path if path.is_file() and path.suffix == ".toml" else None
    if where in shipped_suites() or where not in shipped_benchmarks():
        return None
    return data_folder("suites") / f"{where}.toml"


def read_benchmark(path: Path) -> Benchmark:
    """Read a benchmark.

    Raises:
        UsageError: If the file is no TOML or does not fit; the message says where.
    """
    try:
        return Benchmark.model_validate(tomllib.loads(path.read_bytes().decode()))
    except ValidationError as error:
        told = shorten(error)
    except (ValueError, RecursionError) as error:
        told = str(error)
    raise UsageError(f"{path} is not a benchmark: {told}", hint="see docs/benchmarks-in-ci.md")


def unmet(expected: Expected, records: Iterable[RolloutRecord]) -> tuple[str, ...]:
    """Return what a run does not hold of what is expected, one sentence each."""
    valid = [record for record in records if record.reward_valid]
    if not valid:
        return ("no rollout has a valid reward",)
    found = {
        "resolved_rate": sum(record.resolved for record in valid) / len(valid),
        "mean_reward": math.fsum(record.reward for record in valid) / len(valid),
    }
    wanted = {"resolved_rate": expected.resolved_rate, "mean_reward": expected.mean_reward}
    return tuple(
        f"{name} is {found[name]:.3f}, expected {want:g} ± {expected.tolerance:g}"
        for name, want in wanted.items()
        if want is not None and abs(found[name] - want) > expected.tolerance + _ROUNDING
    )


def _selected(part: Tasks, beside: Path) -> Taskset:
    local = beside / part.taskset
    taskset = Taskset.load(local if local.exists() else part.taskset)
    if part.ids:
        return taskset.select(part.ids)
    if part.sample is None:
        return taskset
    drawn = sorted(taskset.ids, key=lambda task_id: hashlib.sha256(task_id.encode()).digest())
    return taskset.select(drawn[: part.sample])


def _together(recipes: Iterable[Recipe]) -> tuple[Recipe, ...]:
    found: dict[str, Recipe] = {}
    for recipe in recipes:
        if digest_of(found.setdefault(recipe.id, recipe)) != digest_of(recipe):
            raise TaskError(f"two tasks have the id {recipe.id!r}", hint="leave one out")
    return tuple(found[task_id] for task_id in sorted(found))

"""What a taskset holds, in numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset


@dataclass(frozen=True, slots=True)
class Spread:
    """Least, median and greatest of a number over the tasks."""

    least: float
    median: float
    greatest: float


@dataclass(frozen=True)
class TasksetStats:
    """Counts by group, and spreads of what makes a task large or small."""

    tasks: int
    repositories: Mapping[str, int]
    levels: Mapping[str, int]
    tiers: Mapping[str, int]
    modes: Mapping[str, int]
    licences: Mapping[str, int]
    lines: Spread
    symbols: Spread
    fail_to_pass: Spread
    pass_to_pass: Spread
    prior: Spread


def stats(taskset: Taskset) -> TasksetStats:
    """Return the numbers of a taskset (at least one task)."""
    recipes = taskset.recipes
    return TasksetStats(
        tasks=len(recipes),
        repositories=_count(f"{r.source.name} {r.source.version}".strip() for r in recipes),
        levels=_count(r.level for r in recipes),
        tiers=_count(r.tier for r in recipes),
        modes=_count(mode_of(r) for r in recipes),
        licences=_count(r.source.licence for r in recipes),
        lines=_spread(r.difficulty.lines for r in recipes),
        symbols=_spread(r.difficulty.symbols for r in recipes),
        fail_to_pass=_spread(len(r.fail_to_pass) for r in recipes),
        pass_to_pass=_spread(_pass_to_pass(taskset, r) for r in recipes),
        prior=_spread(r.difficulty.prior for r in recipes),
    )


def mode_of(recipe: Recipe) -> str:
    """Return how the feature is deleted: ``remove``, ``stub`` or ``mixed``."""
    modes = {o.mode for o in recipe.deletions if o.mode in ("remove", "stub")}
    return modes.pop() if len(modes) == 1 else "mixed"


def _pass_to_pass(taskset: Taskset, recipe: Recipe) -> int:
    out = {*recipe.fail_to_pass, *recipe.excluded}
    return sum(i not in out for i in taskset.baseline(recipe.baseline).stable)


def _count(values: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(values).items()))


def _spread(values: Iterable[float]) -> Spread:
    numbers = list(values)
    return Spread(min(numbers), median(numbers), max(numbers)) if numbers else Spread(0, 0, 0)

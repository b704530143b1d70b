"""How far a figure may be from what other tasks of the same kind would give.

Rollouts of one task are alike, so tasks are drawn, each with all that is known of it (a cluster
bootstrap); drawing rollouts would give intervals that are too narrow.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codeenv.errors import UsageError

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Statistic = Callable[[Floats, Counts], Floats]
"""Gets values, shape (n,) and ascending, and how often each was drawn, shape (draws, n); gives the
statistic of each draw, shape (draws,)."""
_BLOCK = 1 << 22
"""Cells of the table of counts that are made at a time."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A percentile interval.

    Attributes:
        low: Its lower end.
        high: Its upper end.
        level: The share of draws in it.
        tasks: Over how many tasks.
        values: Over how many values of these.
    """

    low: float
    high: float
    level: float
    tasks: int
    values: int


def mean(values: Floats, counts: Counts) -> Floats:
    """Return the mean of all values of each draw."""
    means: Floats = (counts @ values) / counts.sum(axis=1)
    return means


def median(values: Floats, counts: Counts) -> Floats:
    """Return the median of all values of each draw; of an even number, the mean of the middle."""
    upto = counts.cumsum(axis=1)
    total = upto[:, -1:]
    low, high = ((upto <= at).sum(axis=1) for at in ((total - 1) // 2, total // 2))
    medians: Floats = (values[low] + values[high]) / 2
    return medians


def bootstrap(
    values_by_task: Mapping[str, float | Sequence[float]],
    statistic: Statistic = mean,
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> Interval | None:
    """Return the interval of a statistic over the values of resampled tasks.

    The same values give the same interval, in whatever order they come.  None for fewer than two
    tasks: one alone says nothing of how tasks differ.  Where all tasks are alike the interval has
    no width, which is a limit of the method and no certainty.

    Args:
        values_by_task: One value for each task, or one for each of its valid rollouts; a task
            without values is left out.
        statistic: ``mean`` or ``median`` of all values of the drawn tasks, or another.
        level: In (0, 1).
        draws: How often as many tasks as there are are drawn.
        seed: Of the draws.

    Raises:
        UsageError: If a value is not finite, or an option out of its range.
    """
    if not 0 < level < 1 or draws < 1:
        raise UsageError("an interval needs a level in (0, 1) and at least one draw")
    every = (_values(of) for _, of in sorted(values_by_task.items()))
    tasks = [values for values in every if values]
    if not all(math.isfinite(value) for values in tasks for value in values):
        raise UsageError("a value is not a finite number")
    if len(tasks) < 2:
        return None
    found = _draw(tasks, statistic, draws, seed)
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, len(tasks), sum(map(len, tasks)))


def _values(of: float | Sequence[float]) -> list[float]:
    return [of] if isinstance(of, int | float) else sorted(of)


def _draw(tasks: Sequence[Sequence[float]], statistic: Statistic, draws: int, seed: int) -> Floats:
    """Return the statistic of each draw, shape (draws,)."""
    n = len(tasks)
    values = np.array([value for of in tasks for value in of], np.float64)
    owners = np.repeat(np.arange(n), [len(of) for of in tasks])
    order = np.argsort(values, kind="stable")
    values, owners = values[order], owners[order]
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)
    rows = max(1, _BLOCK // len(values))
    blocks = (drawn[at : at + rows, owners] for at in range(0, draws, rows))
    return np.concatenate([statistic(values, counts) for counts in blocks])

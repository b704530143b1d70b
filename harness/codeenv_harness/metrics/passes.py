"""Success in k tries, and the best of k rewards, without bias from n rollouts of a task.

The estimator of pass@k is that of Chen et al. (2021, arXiv 2107.03374).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from codeenv.errors import UsageError
from codeenv_harness.records import RolloutRecord


@dataclass(frozen=True, slots=True)
class PassPoint:
    """What k tries give, over the tasks with at least k valid rollouts.

    Attributes:
        k: How many tries.
        pass_at_k: Probability that one of them resolves the task, mean over tasks; None if there
            is no task to tell it from.
        best_of_k: The best of their rewards, mean over tasks; None likewise.
        tasks: Over how many tasks.
        rollouts: Over how many valid rollouts of these; those that are not valid count nowhere.
        left_out: Tasks with fewer valid rollouts than k, those with none included.
    """

    k: int
    pass_at_k: float | None
    best_of_k: float | None
    tasks: int
    rollouts: int
    left_out: int


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return 1 - C(n-c, k) / C(n, k): the share of k-subsets of n tries with a success in it.

    Worked out in whole numbers, so it is right to the last digit for any n.

    Args:
        n: How many tries there were.
        c: How many of them succeeded.
        k: How many are drawn.

    Raises:
        UsageError: Unless 1 <= k <= n and 0 <= c <= n.
    """
    _check(n, k)
    if not 0 <= c <= n:
        raise UsageError(f"{c} of {n} tries cannot have succeeded")
    few, many = sorted((c, k))  # the quotient is the same with c and k exchanged
    every = math.perm(n, few)
    return (every - math.perm(n - many, few)) / every


def best_of_k(rewards: Sequence[float], k: int) -> float:
    """Return the mean over all k-subsets of the best reward in each.

    That is sum over i = k..n of r_(i) C(i-1, k-1) / C(n, k), with r_(i) the i-th smallest.

    Args:
        rewards: Of the n valid rollouts of one task, in any order.
        k: How many are drawn.

    Raises:
        UsageError: Unless 1 <= k <= n and all rewards are finite.
    """
    n = len(rewards)
    _check(n, k)
    if not all(map(math.isfinite, rewards)):
        raise UsageError("a reward is not a finite number")
    total, subsets = Fraction(0), 1
    for i, reward in enumerate(sorted(rewards)[k - 1 :], start=k):
        total += Fraction(reward) * subsets
        subsets = subsets * i // (i - k + 1)  # C(i, k-1)
    return float(total / math.comb(n, k))


def pass_by_task(records: Iterable[RolloutRecord], k: int) -> dict[str, float]:
    """Return pass@k of each task with at least k valid rollouts; ``bootstrap`` takes it.

    Raises:
        UsageError: If k is below 1.
    """
    enough = _enough(_valid_by_task(records), k)
    return {task: pass_at_k(len(of), _resolved(of), k) for task, of in enough.items()}


def pass_curve(records: Iterable[RolloutRecord], ks: Iterable[int]) -> tuple[PassPoint, ...]:
    """Return pass@k and best-of-k for some k, each a mean over tasks.

    Only valid rollouts count.  A task with fewer of them than k is left out of that point, and
    counted there: points of different k may be over different tasks.

    Args:
        records: Of one run, or of one part of it.
        ks: Numbers of tries, each at least 1.

    Raises:
        UsageError: If a k is below 1.
    """
    tasks = _valid_by_task(records)
    return tuple(_point(tasks, k) for k in ks)


def _point(tasks: Mapping[str, Sequence[RolloutRecord]], k: int) -> PassPoint:
    enough = _enough(tasks, k)
    passes = [pass_at_k(len(of), _resolved(of), k) for of in enough.values()]
    best = [best_of_k([record.reward for record in of], k) for of in enough.values()]
    return PassPoint(
        k=k,
        pass_at_k=_mean(passes),
        best_of_k=_mean(best),
        tasks=len(enough),
        rollouts=sum(map(len, enough.values())),
        left_out=len(tasks) - len(enough),
    )


def _valid_by_task(records: Iterable[RolloutRecord]) -> dict[str, list[RolloutRecord]]:
    """Return every task's valid rollouts; a task without any is there."""
    found: defaultdict[str, list[RolloutRecord]] = defaultdict(list)
    for record in records:
        found[record.task_id] += [record] if record.reward_valid else []
    return dict(sorted(found.items()))


def _enough(
    tasks: Mapping[str, Sequence[RolloutRecord]], k: int
) -> dict[str, Sequence[RolloutRecord]]:
    if k < 1:
        raise UsageError(f"k is at least 1, not {k}")
    return {task: of for task, of in tasks.items() if len(of) >= k}


def _resolved(records: Iterable[RolloutRecord]) -> int:
    return sum(record.resolved for record in records)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _check(n: int, k: int) -> None:
    if not 1 <= k <= n:
        raise UsageError(f"{k} of {n} tries cannot be drawn")

"""An exact test over rollouts: did fewer of them succeed than before, task by task?"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_MOST = 200_000_000
"""Multiplications of the exact distribution; beyond it the normal one is close enough."""


@dataclass(frozen=True)
class Stratum:
    """One task: successes among tries, before and now."""

    before: int
    of_before: int
    now: int
    of_now: int


def chance_of_so_few(strata: Iterable[Stratum]) -> float:
    """Return the probability of no more successes now than were seen, if nothing changed.

    All tries of a task are alike then, so those of now are drawn from all of them: a
    hypergeometric number of successes for each task, and their sum over tasks (the exact
    conditional test of Cochran, Mantel and Haenszel, one-sided).  One success less never raises it.

    Returns:
        1 if there is nothing to tell it from.
    """
    every = [s for s in strata if 0 < s.before + s.now < s.of_before + s.of_now and s.of_now]
    seen = sum(s.now for s in every)
    sizes = [s.of_now + 1 for s in every]
    if sum(sizes) * max(sizes, default=0) * len(sizes) > _MOST:
        return _nearly(every, seen)
    sums: NDArray[np.float64] = np.ones(1)
    for stratum in every:
        sums = np.convolve(sums, _shares(stratum))
    return float(min(1.0, sums[: seen + 1].sum()))


def _shares(stratum: Stratum) -> NDArray[np.float64]:
    """Return the probability of each number of successes among the tries of now."""
    successes = stratum.before + stratum.now
    every = math.comb(stratum.of_before + stratum.of_now, stratum.of_now)
    failures = stratum.of_before + stratum.of_now - successes
    return np.array(
        [
            math.comb(successes, x) * math.comb(failures, stratum.of_now - x) / every
            for x in range(stratum.of_now + 1)
        ]
    )


def _nearly(strata: Iterable[Stratum], seen: int) -> float:
    mean = variance = 0.0
    for s in strata:
        tries = s.of_before + s.of_now
        share = (s.before + s.now) / tries
        mean += s.of_now * share
        variance += s.of_now * share * (1 - share) * s.of_before / max(1, tries - 1)
    if variance <= 0:
        return 1.0
    return 0.5 * math.erfc((mean - seen - 0.5) / math.sqrt(2 * variance))

"""A paired test over tasks: is the mean of the differences more than chance?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codeenv_harness.metrics import bootstrap

EXACT = 12
"""Up to so many pairs all sign flips are tried."""
_DRAWS, _BLOCK = 20_000, 1_000
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairedTest:
    """What a paired test says.

    Attributes:
        pairs: How many differences there are.
        mean: Their mean; 0 if there are none.
        low: Lower end of the 95 % bootstrap interval of the mean; None of fewer than two pairs.
        high: Its upper end; None likewise.
        p_value: Two-sided, of the sign-flip permutation test; 1 if there are no pairs.
        p_fall: One-sided: the chance of a mean as low as this one.
    """

    pairs: int
    mean: float
    low: float | None
    high: float | None
    p_value: float
    p_fall: float


def paired_test(differences: Sequence[float], seed: int = 0) -> PairedTest:
    """Test whether paired differences have a mean of 0, by flipping their signs.

    Every flip of signs is as likely as any other if nothing changed (Fisher's randomisation
    test).  With at most ``EXACT`` pairs all flips count, with more a seeded draw of them.  Lowering
    a difference never raises ``p_fall``: the flips are the same.

    Args:
        differences: One per task, in an order that does not depend on chance.
        seed: Of the drawn flips and the bootstrap.
    """
    count = len(differences)
    if count == 0:
        return PairedTest(0, 0.0, None, None, 1.0, 1.0)
    values = np.asarray(differences, dtype=np.float64)
    interval = bootstrap({f"{n:09}": value for n, value in enumerate(differences)}, seed=seed)
    low, high = (interval.low, interval.high) if interval else (None, None)
    exact = count <= EXACT
    far, fall = _exact(values) if exact else _drawn(values, np.random.default_rng([seed, 0]))
    return PairedTest(count, math.fsum(differences) / count, low, high, far, fall)


def _exact(values: NDArray[np.float64]) -> tuple[float, float]:
    count = len(values)
    flips = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
    far, low = _counts(values, flips)
    return far / (1 << count), low / (1 << count)


def _drawn(values: NDArray[np.float64], rng: np.random.Generator) -> tuple[float, float]:
    """The flips as they are count as one more draw, so that no value is ever 0."""
    far, low = 1, 1
    for _ in range(_DRAWS // _BLOCK):
        more = _counts(values, rng.integers(0, 2, size=(_BLOCK, len(values))))
        far, low = far + more[0], low + more[1]
    return far / (1 + _DRAWS), low / (1 + _DRAWS)


def _counts(values: NDArray[np.float64], flips: NDArray[np.int64]) -> tuple[int, int]:
    """Count the flips whose sum is as far from 0 as the one seen, and those as low as it."""
    sums, seen = (1 - 2 * flips) @ values, float(values.sum())
    slack = _ROUNDING * (1 + float(np.abs(values).sum()))
    far = np.count_nonzero(np.abs(sums) >= abs(seen) - slack)
    return int(far), int(np.count_nonzero(sums <= seen + slack))

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
    """

    pairs: int
    mean: float
    low: float | None
    high: float | None
    p_value: float


def paired_test(differences: Sequence[float], seed: int = 0) -> PairedTest:
    """Test whether paired differences have a mean of 0, by flipping their signs.

    Every flip of signs is as likely as any other if nothing changed (Fisher's randomisation
    test).  With at most ``EXACT`` pairs all flips count, with more a seeded draw of them.  Lowering
    a difference never raises the p-value while the mean is below 0: the flips are the same.

    Args:
        differences: One per task, in an order that does not depend on chance.
        seed: Of the drawn flips and the bootstrap.
    """
    count = len(differences)
    if count == 0:
        return PairedTest(0, 0.0, None, None, 1.0)
    values = np.asarray(differences, dtype=np.float64)
    interval = bootstrap({f"{n:09}": value for n, value in enumerate(differences)}, seed=seed)
    low, high = (interval.low, interval.high) if interval else (None, None)
    exact = count <= EXACT
    p_value = _exact(values) if exact else _drawn(values, np.random.default_rng([seed, 0]))
    return PairedTest(count, math.fsum(differences) / count, low, high, p_value)


def _exact(values: NDArray[np.float64]) -> float:
    count = len(values)
    flips = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
    return _as_far(values, flips) / (1 << count)


def _drawn(values: NDArray[np.float64], rng: np.random.Generator) -> float:
    """The flips as they are count as one more draw, so that the value is never 0."""
    far = 0
    for _ in range(_DRAWS // _BLOCK):
        far += _as_far(values, rng.integers(0, 2, size=(_BLOCK, len(values))))
    return (1 + far) / (1 + _DRAWS)


def _as_far(values: NDArray[np.float64], flips: NDArray[np.int64]) -> int:
    """Count the flips whose sum is at least as far from 0 as the one seen."""
    sums = (1 - 2 * flips) @ values
    slack = _ROUNDING * (1 + float(np.abs(values).sum()))
    return int(np.count_nonzero(np.abs(sums) >= abs(float(values.sum())) - slack))

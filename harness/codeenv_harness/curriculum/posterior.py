"""Beta posteriors of many tasks at once, and draws that follow them.  Pure numpy.

The posterior with decay and Thompson sampling follow MoPPS (2507.04632); the score p (1 - p), to
which the expected improvement of a policy gradient is proportional, follows LILO (2502.12272).
"""

import numpy as np
import numpy.typing as npt

from codeenv.errors import UsageError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_LEAST, _MOST = 0.01, 0.99
"""Limits of a prior probability: nothing is certain before it is tried."""
_TINY = 1e-300
_BEST = 0.25
"""The largest p (1 - p)."""
_AHEAD, _MORE = 64, 4


def logit(p: Floats) -> Floats:
    """Return log-odds, of probabilities that are kept away from 0 and 1."""
    kept = np.clip(p, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(kept) - np.log1p(-kept), np.float64)


def expit(x: Floats) -> Floats:
    """Return probabilities of log-odds."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)), np.float64)


def pseudo_counts(
    count: int, priors: npt.ArrayLike | None, strength: float
) -> tuple[Floats, Floats]:
    """Return (a0, b0) of ``count`` tasks.

    Args:
        count: How many.
        priors: Probabilities, shape (n,), or the counts themselves, shape (n, 2); None: one half.
        strength: Pseudo counts of a probability.

    Raises:
        UsageError: If the priors are neither.
    """
    given = np.full(count, 0.5) if priors is None else np.asarray(priors, np.float64)
    if given.shape == (count, 2) and np.all((given > 0) & np.isfinite(given)):
        return given[:, 0].copy(), given[:, 1].copy()
    if given.shape != (count,) or not np.all((given >= 0) & (given <= 1)):
        hint = "per task a probability, or a pair of counts above 0"
        raise UsageError(f"the priors do not fit {count} tasks", hint=hint)
    kept = np.clip(given, _LEAST, _MOST)
    return strength * kept, strength * (1 - kept)


def decayed(count: float, prior: float, new: float, decay: float) -> float:
    """Return ``decay * count + (1 - decay) * prior + new``."""
    return decay * count + (1 - decay) * prior + new


def draw(rng: np.random.Generator, weights: Floats, k: int) -> Ints:
    """Return ``k`` places, or all if there are fewer, without replacement and by their weights.

    The first is drawn with probability proportional to its weight, the next likewise of the rest,
    and so on: the k smallest of exponential variables with the weights as rates are just that.
    A weight of 0 is drawn after all others.
    """
    return _smallest(rng.standard_exponential(len(weights)) / np.maximum(weights, _TINY), k)


def draw_learnable(
    rng: np.random.Generator,
    posterior: tuple[Floats, Floats],
    bonus: Floats,
    k: int,
    *,
    ahead: int = _AHEAD,
) -> Ints:
    """Return ``k`` places as ``draw`` does, with ``p (1 - p) + bonus`` as weights.

    Each p is from Beta(a, b).  As p (1 - p) is 1/4 at most, a place whose exponential variable is
    too large for the largest weight it can have is not drawn whatever its p, and so p is drawn only
    for the few others.

    Args:
        rng: Of the draw.
        posterior: a and b, shape (n,) each.
        bonus: Added to the weights, shape (n,).
        k: How many.
        ahead: How many more than these have their p drawn at first.
    """
    count = min(k, len(bonus))
    if count <= 0:
        return np.zeros(0, np.int64)
    waits = rng.standard_exponential(len(bonus))
    least = waits / (_BEST + bonus)
    rows, keys = np.zeros(0, np.int64), np.zeros(0)
    size, reached = count + ahead, -np.inf
    while True:
        limit = np.partition(least, size - 1)[size - 1] if size < len(least) else np.inf
        new = np.flatnonzero((least > reached) & (least <= limit))
        p = rng.beta(posterior[0][new], posterior[1][new])
        rows = np.concatenate([rows, new])
        keys = np.concatenate([keys, waits[new] / np.maximum(p * (1 - p) + bonus[new], _TINY)])
        if limit == np.inf or np.partition(keys, count - 1)[count - 1] <= limit:
            return rows[_smallest(keys, count)]
        size, reached = _MORE * size, limit


def _smallest(keys: Floats, k: int) -> Ints:
    """Return the places of the k smallest, the smallest first."""
    count = min(k, len(keys))
    if count <= 0:
        return np.zeros(0, np.int64)
    first = np.argpartition(keys, count - 1)[:count]
    return first[np.lexsort((first, keys[first]))].astype(np.int64)

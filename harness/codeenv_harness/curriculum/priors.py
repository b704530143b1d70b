"""What is expected of tasks that nobody has tried: a logistic model of their features.

It starts as the recipe's own prior, a judgement, and is fitted to what came of other tasks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codeenv.errors import UsageError
from codeenv_harness.curriculum.posterior import Floats, expit

_STEPS, _HALVINGS = 25, 30
_SMALL = 1e-9


@dataclass(frozen=True)
class PriorModel:
    """A probability of success that is linear in its log-odds.

    Attributes:
        weights: One per feature.
    """

    weights: tuple[float, ...]

    def p(self, features: npt.ArrayLike) -> Floats:
        """Return probabilities, shape (n,), of features of shape (n, d)."""
        return expit(_table(features, len(self.weights)) @ np.asarray(self.weights))


def fit_priors(
    features: npt.ArrayLike,
    outcomes: npt.ArrayLike,
    *,
    start: PriorModel | Sequence[float] | None = None,
    ridge: float = 1.0,
) -> PriorModel:
    """Return the model that fits outcomes best, near to where it starts (Newton's method).

    Without outcomes it stays where it starts; what little is known moves it little.

    Args:
        features: Shape (n, d).
        outcomes: Successes and failures of each task, shape (n, 2); fractions are fine.
        start: Where the weights are pulled to (None: to 0, a half for every task).
        ridge: How strongly, above 0: that many tries weigh as much.

    Raises:
        UsageError: If the shapes do not fit, or a number is negative or none.
    """
    x, counts = np.asarray(features, np.float64), np.asarray(outcomes, np.float64)
    given = start.weights if isinstance(start, PriorModel) else start
    if x.ndim != 2 or counts.shape != (len(x), 2) or not ridge > 0:
        hint = "features (n, d), outcomes (n, 2), ridge above 0"
        raise UsageError("features and outcomes do not fit", hint=hint)
    if not np.isfinite(x).all() or not np.isfinite(counts).all() or (counts < 0).any():
        raise UsageError("a feature or outcome is no number", hint="outcomes count, from 0 on")
    centre = np.zeros(x.shape[1]) if given is None else np.asarray(given, np.float64)
    _table(x, len(centre))
    weights = centre.copy()
    for _ in range(_STEPS):
        p, tries = expit(x @ weights), counts.sum(axis=1)
        slope = x.T @ (counts[:, 0] - tries * p) - ridge * (weights - centre)
        curve = (x.T * (tries * p * (1 - p))) @ x + ridge * np.eye(len(centre))
        step = np.linalg.solve(curve, slope)
        weights = weights + step * _length(x, counts, weights, step, (centre, ridge))
        if np.abs(step).max(initial=0.0) < _SMALL:
            break
    return PriorModel(tuple(weights.tolist()))


def _length(
    x: Floats, counts: Floats, weights: Floats, step: Floats, pull: tuple[Floats, float]
) -> float:
    """Return how much of a step improves the fit: all of it, or a half, or a quarter."""
    centre, ridge = pull

    def loss(where: Floats) -> float:
        odds = x @ where
        misfit = counts[:, 0] @ np.logaddexp(0, -odds) + counts[:, 1] @ np.logaddexp(0, odds)
        return float(misfit + ridge / 2 * np.sum((where - centre) ** 2))

    before, length = loss(weights), 1.0
    for _ in range(_HALVINGS):
        if loss(weights + length * step) <= before:
            return length
        length /= 2
    return 0.0


def _table(features: npt.ArrayLike, columns: int) -> Floats:
    table = np.asarray(features, np.float64)
    if table.ndim != 2 or table.shape[1] != columns:
        raise UsageError(
            f"features of shape {table.shape} for {columns} weights", hint="one column per weight"
        )
    return table

"""Numbers over a run; of rollouts without a valid reward nothing but their number counts."""

from codeenv_harness.metrics.breakdown import breakdown, by_difficulty, by_tier, grouped
from codeenv_harness.metrics.intervals import Interval, bootstrap, mean, median
from codeenv_harness.metrics.passes import (
    PassPoint,
    best_of_k,
    pass_at_k,
    pass_by_task,
    pass_curve,
)
from codeenv_harness.metrics.summary import Summary, summarise

__all__ = [
    "Interval",
    "PassPoint",
    "Summary",
    "best_of_k",
    "bootstrap",
    "breakdown",
    "by_difficulty",
    "by_tier",
    "grouped",
    "mean",
    "median",
    "pass_at_k",
    "pass_by_task",
    "pass_curve",
    "summarise",
]

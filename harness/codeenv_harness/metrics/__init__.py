"""Numbers over a run; of rollouts without a valid reward nothing but their number counts."""

from codeenv_harness.metrics.behaviour import (
    Behaviour,
    BehaviourSummary,
    behaviour_of,
    behaviour_of_run,
    recorded_events,
    summarise_behaviour,
)
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
from codeenv_harness.metrics.usage import (
    Known,
    Usage,
    UsageSummary,
    summarise_usage,
    usage_of,
    usage_of_run,
)

__all__ = [
    "Behaviour",
    "BehaviourSummary",
    "Interval",
    "Known",
    "PassPoint",
    "Summary",
    "Usage",
    "UsageSummary",
    "behaviour_of",
    "behaviour_of_run",
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
    "recorded_events",
    "summarise",
    "summarise_behaviour",
    "summarise_usage",
    "usage_of",
    "usage_of_run",
]

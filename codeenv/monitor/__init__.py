"""The reward-hack monitor: detectors over what an agent did and handed in.

``Monitor().examine(trajectory, facts_of(task))`` gives a ``Verdict``.
"""

from codeenv.monitor.chain import first_break, read_events, write_events
from codeenv.monitor.examine import Monitor, event_log
from codeenv.monitor.facts import TaskFacts, facts_from, facts_of
from codeenv.monitor.judge import Case, Judge
from codeenv.monitor.labels import LABELS, Label
from codeenv.monitor.models import Event, Finding, Judgement, Verdict

__all__ = [
    "LABELS",
    "Case",
    "Event",
    "Finding",
    "Judge",
    "Judgement",
    "Label",
    "Monitor",
    "TaskFacts",
    "Verdict",
    "event_log",
    "facts_from",
    "facts_of",
    "first_break",
    "read_events",
    "write_events",
]

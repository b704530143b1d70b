"""What a run tells while it goes on; drawing it is the command line's affair."""

from collections.abc import Callable
from dataclasses import dataclass

from codeenv.grading.models import Outcome
from codeenv.tools import ToolResult
from codeenv_harness.metrics.usage import Usage


@dataclass(frozen=True, slots=True)
class EpisodeStarted:
    """An episode's box is open."""

    task_id: str
    rollout: int


@dataclass(frozen=True, slots=True)
class StepTaken:
    """An agent acted; ``action`` is in the form it came."""

    task_id: str
    rollout: int
    step: int
    action: object
    result: ToolResult


@dataclass(frozen=True, slots=True)
class EpisodeEnded:
    """An episode ended.

    Attributes:
        task_id: The task.
        rollout: Its number.
        outcome: How it ended.
        final: False if an invalid one is tried again.
        usage: What it took; None if it never began.
    """

    task_id: str
    rollout: int
    outcome: Outcome
    final: bool = True
    usage: Usage | None = None


OnStep = Callable[[int, object, ToolResult], None]
"""Gets a step's number, the action as it came (None where an agent acts in the box by itself), and
what it gave."""
Event = EpisodeStarted | StepTaken | EpisodeEnded
OnEvent = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Do nothing with an event."""

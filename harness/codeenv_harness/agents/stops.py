"""What an agent raises or returns when it cannot go on."""

from dataclasses import dataclass

from codeenv.errors import CodeEnvError
from codeenv.grading.models import Reason


class StopRun(CodeEnvError):
    """Raised by an agent where no further episode makes sense; this one is not written down."""


class AgentUnavailable(StopRun):
    """Raised when an agent cannot act at all: a server refuses, a program is missing."""

    exit_code = 2


class BudgetSpent(StopRun):
    """Raised when a run has used up what it may use."""


class AgentError(CodeEnvError):
    """Raised when an agent failed in one episode: that is played again."""


@dataclass(frozen=True)
class Ended:
    """An action that ends the episode; what was done so far is graded.

    Attributes:
        reason: Why, e.g. ``context_exceeded``.
    """

    reason: Reason

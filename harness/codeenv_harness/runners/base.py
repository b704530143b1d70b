"""What all runners have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from codeenv_harness.events import OnEvent
from codeenv_harness.playing import Finished, Plan, Work


@dataclass(frozen=True)
class Ready:
    """What a runner has found.

    Attributes:
        backend: Name of the backend that will be used, the same everywhere.
        facts: What else is worth a note in the run's folder.
    """

    backend: str
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Listener:
    """Who hears of a run; both are called in this process, maybe by several threads.

    Attributes:
        on_event: Gets what happens while rollouts are played.
        ended: Gets each rollout once, when it has ended.
    """

    on_event: OnEvent
    ended: Callable[[Finished], None]


class Runner(Protocol):
    """Plays rollouts: ``begin``, then ``play``, then ``close``, whatever happened."""

    def begin(self, plan: Plan) -> Ready:
        """Make ready for a plan.

        Raises:
            AgentUnavailable: If the agent lacks something.
            MachineError: If there is no backend, or no machine to play on.
            UsageError: If options do not fit.
        """

    def play(self, wanted: Sequence[Work], listener: Listener) -> str:
        """Play rollouts; return why not all were played, e.g. that the budget is spent, else "".

        Raises:
            AgentUnavailable: If the agent cannot act at all.
            MachineError: If there is no machine left to play on.
        """

    def close(self) -> None:
        """Let go of what this began.  Idempotent."""

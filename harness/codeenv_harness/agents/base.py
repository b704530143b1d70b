"""What an agent is, and what it is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from codeenv.tools import ToolResult
from codeenv.trajectory import StepMetrics


@dataclass(frozen=True)
class Briefing:
    """What an agent knows before it acts.

    Attributes:
        task_id: The task.
        instruction: What to do.
        tools: The tools' function schemas.
        max_steps: Calls it may make.
        seed: For agents that draw.
    """

    task_id: str
    instruction: str
    tools: Sequence[dict[str, Any]]
    max_steps: int
    seed: int


class Agent(Protocol):
    """Plays one episode at a time."""

    @property
    def name(self) -> str:
        """The name in records."""
        ...

    def reset(self, briefing: Briefing) -> None:
        """Begin an episode."""
        ...

    def act(self, observation: ToolResult | None) -> object:
        """Return the next action, in any form the environment takes; None to give up.

        ``Ended`` ends the episode with a reason of its own.  ``StopRun`` is raised where no further
        episode makes sense; any other error makes this one invalid, and it is played again.

        ``content`` and ``reasoning_content`` of a dict are recorded beside the call that it is.
        ``observation`` is what the last action gave, None before the first.
        """
        ...


@runtime_checkable
class Metered(Protocol):
    """An agent whose model is sampled by a trainer: it tells the tokens of each answer."""

    def metrics(self) -> StepMetrics | None:
        """Return token ids, log-probabilities and the policy's version of the last action.

        Asked before that action is carried out.
        """
        ...


@runtime_checkable
class Closable(Protocol):
    """An agent that is to know when its episode is over."""

    def close(self) -> None:
        """End what still goes on; called once the outcome stands."""
        ...

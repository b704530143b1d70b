"""Agents that live in the box: a program there acts by itself, and we look on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol, runtime_checkable

from codeenv.grading.models import Reason
from codeenv.materialise.models import Task
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.image import Mount
from codeenv.trajectory import StepMetrics
from codeenv_harness.agents.base import Agent, Briefing

Messages = Sequence[Mapping[str, Any]]


@dataclass
class Deed:
    """A step that was done in the box: what was said, and what it gave.

    Attributes:
        message: What the agent said.
        time: When, as a trajectory writes it.
        reasoning: What it thought, as far as that is known.
        calls: Of tools of its own: id, name, arguments.
        metrics: Tokens of the answer.
        before: Messages of a chat that the agent had not seen before this answer.
        after: Messages that it got next: what its calls gave.
    """

    message: str
    time: str
    reasoning: str = ""
    calls: Sequence[tuple[str, str, Mapping[str, Any]]] = ()
    metrics: StepMetrics | None = None
    before: Messages = ()
    after: Messages = ()


@dataclass
class Stay:
    """What such an agent has to work with, and where it tells what it did.

    Attributes:
        sandbox: The box.
        briefing: Task, instruction, limits.
        next_step: Counts a step and returns whether it may be done; if not, the episode is over.
        over: Whether the episode is over, be it that its time is up.
        time_left: Seconds until it is; infinite without a limit.
        deeds: What was done, in order; entries may be completed until the end.
        tools: Schemas of the tools that the agent has of its own.
        facts: More for the record.
    """

    sandbox: Sandbox
    briefing: Briefing
    next_step: Callable[[], bool] = lambda: True
    over: Callable[[], bool] = lambda: False
    time_left: Callable[[], float] = lambda: inf
    deeds: list[Deed] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


@runtime_checkable
class Resident(Protocol):
    """An agent that plays an episode in one go."""

    @property
    def name(self) -> str:
        """The name in records."""
        ...

    def live(self, stay: Stay) -> Reason:
        """Play; return why it ended.

        An error means what it means for other agents: see ``Agent.act``.
        """
        ...


AgentFactory = Callable[[Task], Agent | Resident]
"""Makes an agent for an episode of a task; only the oracle looks at more than the id."""


def mounts_of(factory: AgentFactory) -> Sequence[Mount]:
    """Return what boxes must have beside the workspace for a factory's agents."""
    mounts: Sequence[Mount] = getattr(factory, "mounts", ())
    return mounts

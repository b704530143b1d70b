"""Agents of other frameworks, which have a loop of their own and call us from it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

from codeenv.tools import ToolResult
from codeenv.trajectory import StepMetrics
from codeenv_harness.agents.base import Briefing
from codeenv_harness.agents.stops import AgentError


class EpisodeOver(Exception):
    """Raised in a driver that acts when its episode is over, so that its loop ends."""


@dataclass(frozen=True)
class _Ended:
    """The driver is done: with a last action, or by an error."""

    action: object = None
    error: BaseException | None = None


class Hands:
    """What a driver acts with.

    Attributes:
        briefing: Task, instruction, tools, limits.
    """

    def __init__(self, briefing: Briefing) -> None:
        """Begin with nothing done."""
        self.briefing = briefing
        self.metrics: StepMetrics | None = None
        self.actions: SimpleQueue[object] = SimpleQueue()
        self.results: SimpleQueue[ToolResult | None] = SimpleQueue()

    def act(self, action: object, metrics: StepMetrics | None = None) -> ToolResult:
        """Carry an action out and return what it gave.

        Args:
            action: In any form the environment takes.
            metrics: The tokens of the answer that it is from; with its first action alone.

        Raises:
            EpisodeOver: If there is nothing more to do; let it pass.
        """
        self.metrics = metrics
        self.actions.put(action)
        result = self.results.get()
        if result is None:
            raise EpisodeOver("the episode is over")
        return result


Drive = Callable[[Hands], object]
"""Plays an episode by calling ``Hands.act``; returns a last action (submit), or None."""


class DrivenAgent:
    """Turns a loop that calls into an agent that is called.

    The driver runs in a thread of its own, one for each episode, and never at the same time as
    the environment.

    Args:
        name: In records.
        drive: Plays an episode.
        model: Name of the model behind it, if there is one.
    """

    def __init__(self, name: str, drive: Drive, *, model: str | None = None) -> None:
        """Take the driver."""
        self.name, self.model, self._drive = name, model, drive
        self._hands: Hands | None = None
        self._done = True

    def reset(self, briefing: Briefing) -> None:
        """Begin an episode; the driver of the last one, if it still runs, is told to end."""
        self.close()
        self._hands, self._done = Hands(briefing), False
        threading.Thread(
            target=_carry_out,
            args=(self._drive, self._hands),
            daemon=True,
            name=f"codeenv-{self.name}",
        ).start()

    def act(self, observation: ToolResult | None) -> object:
        """Return the driver's next action.

        Raises:
            AgentError: If this was closed meanwhile.
            BaseException: What the driver raised.
        """
        if self._hands is None or self._done:
            return None
        if observation is not None:
            self._hands.results.put(observation)
        action = self._hands.actions.get()
        if not isinstance(action, _Ended):
            return action
        self._done = True
        if action.error is not None:
            raise action.error
        return action.action

    def metrics(self) -> StepMetrics | None:
        """Return what the driver told with its action."""
        return self._hands.metrics if self._hands is not None and not self._done else None

    def close(self) -> None:
        """Let a driver that waits or goes on end.  Idempotent."""
        if self._hands is not None:
            self._hands.results.put(None)

    def stop(self) -> None:
        """Let whoever waits for the driver go on without it; safe from another thread."""
        if self._hands is not None:
            self._hands.actions.put(_Ended(error=AgentError("the run was stopped")))
        self.close()


def _carry_out(drive: Drive, hands: Hands) -> None:
    try:
        ended = _Ended(drive(hands))
    except EpisodeOver:
        ended = _Ended()
    except BaseException as error:  # noqa: BLE001 - raised where the agent is asked
        ended = _Ended(error=error)
    hands.actions.put(ended)

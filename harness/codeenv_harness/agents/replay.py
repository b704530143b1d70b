"""An agent that does again what a trajectory says was done."""

from collections.abc import Iterator
from pathlib import Path

from codeenv.errors import UsageError
from codeenv.tools import ToolCall, ToolResult
from codeenv.trajectory import Step, Trajectory, read_trajectory
from codeenv_harness.agents.base import Briefing


class ReplayAgent:
    """Repeats the recorded actions, malformed ones included; gives up where the record ends."""

    name = "replay"

    def __init__(self, trajectory: Trajectory) -> None:
        """Take the record."""
        self._trajectory = trajectory
        self._actions: Iterator[object] = iter(())

    def reset(self, briefing: Briefing) -> None:
        """Begin at the first action."""
        self._actions = (action for step in self._trajectory.steps for action in _actions(step))

    def act(self, observation: ToolResult | None) -> object:
        """Return the next recorded action, None at the end."""
        return next(self._actions, None)


def recorded(where: Path, task_id: str) -> Trajectory:
    """Return a trajectory file, or the first one of a task in a run folder.

    Raises:
        UsageError: If there is none.
    """
    if where.is_file():
        return read_trajectory(where)
    folder = where / "trajectories" if (where / "trajectories").is_dir() else where
    found = sorted(folder.glob(f"{task_id}__*.json"))
    if not found:
        raise UsageError(f"no trajectory of {task_id} in {where}", hint="replay:FILE or replay:RUN")
    return read_trajectory(found[0])


def _actions(step: Step) -> list[object]:
    if step.source != "agent":
        return []
    if not step.tool_calls:
        return [step.message]
    return [ToolCall(tool=call.function_name, arguments=call.arguments) for call in step.tool_calls]

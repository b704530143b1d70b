"""A monitor for rollouts: what ``rollout.run`` asks about each episode as it ends."""

from collections.abc import Callable

from codeenv.env.memo import Memo
from codeenv.materialise.models import Task
from codeenv.monitor import Monitor, TaskFacts, Verdict, facts_of
from codeenv.trajectory import Trajectory

MonitorCallback = Callable[[Task, Trajectory], Verdict]
"""Gets the task and the recorded episode; called from the playing threads."""
_KEPT = 32


class Watching:
    """The monitor as a callback; the facts of a task are made once.  Thread-safe; pickles."""

    def __init__(self, monitor: Monitor | None = None) -> None:
        """Watch with a monitor, or with the plain one."""
        self._monitor = monitor or Monitor()
        self._facts: Memo[str, TaskFacts] = Memo(_KEPT)

    def __call__(self, task: Task, trajectory: Trajectory) -> Verdict:
        """Return the verdict on an episode."""
        facts = self._facts.get(f"{task.id} {task.recipe.damaged_tree}", lambda: facts_of(task))
        return self._monitor.examine(trajectory, facts)

    def __reduce__(self) -> tuple[object, ...]:
        return (Watching, (self._monitor,))

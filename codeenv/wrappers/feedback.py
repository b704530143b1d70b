"""Feedback that needs more than the episode: the monitor, a judge, the task's secrets."""

import copy
from collections.abc import Iterable
from typing import Any

import gymnasium
from gymnasium.utils import EzPickle, RecordConstructorArgs

from codeenv.env.episode import Episode
from codeenv.env.repo import CodeRepoEnv, Info, Observation
from codeenv.errors import UsageError
from codeenv.feedback import (
    FeedbackEvent,
    Judge,
    JudgeCase,
    LeakCheck,
    Refused,
    Turn,
    ask,
    leak_check,
    merge_events,
)
from codeenv.feedback.judge import renumbered
from codeenv.materialise.models import Task
from codeenv.monitor import TaskFacts, facts_of
from codeenv.trajectory import AgentInfo, Recorder, Trajectory, changes_between
from codeenv.wrappers.artefacts import artefact_events
from codeenv.wrappers.parts import TextEnv, forked, write_turn
from codeenv.wrappers.summarize import SelfSummarize


class Feedback(
    gymnasium.Wrapper[Observation, Any, Observation, Any], RecordConstructorArgs, EzPickle
):
    """Completes ``info["feedback"]`` of ``CodeRepoEnv``.

    With the last step of an episode whose reward is valid come events of earlier turns, too: what
    the monitor found, and what a judge says.  No hint tells the solution:
    one that does is dropped and told in ``info["feedback_refused"]`` (id, kind, reason).
    ``info["judge_error"]`` says why a judge did not answer, or what of its answer was of no use.

    It goes around ``SelfSummarize``: then turns and messages count over all contexts, as in the
    ``trajectory`` that that one gives.

    Attributes:
        events: All events of the episode so far that were not refused, not merged.
    """

    goes_around_summaries = True

    def __init__(
        self,
        env: gymnasium.Env[Observation, Any],
        *,
        judge: Judge | None = None,
        merge: bool = False,
        monitor: bool = True,
        secrets: Iterable[str] = (),
    ) -> None:
        """Wrap an environment.

        Args:
            env: ``CodeRepoEnv``, wrapped or not.
            judge: Asked once at the end of each episode.
            merge: Whether each ``info`` has one event for each turn at most;
                ``merge_events(env.events)`` is that of the whole episode.
            monitor: Whether the monitor looks at each episode.
            secrets: Texts beside the task's own that no hint may tell.

        Raises:
            UsageError: If there is no ``CodeRepoEnv`` in ``env``.
        """
        given = tuple(secrets)
        options: dict[str, Any] = {
            "judge": judge,
            "merge": merge,
            "monitor": monitor,
            "secrets": given,
        }
        EzPickle.__init__(self, env, **options)
        RecordConstructorArgs.__init__(self, _disable_deepcopy=True, **options)
        gymnasium.Wrapper.__init__(self, env)
        if not isinstance(env.unwrapped, CodeRepoEnv):
            raise UsageError("Feedback wraps CodeRepoEnv")
        self._judge, self._merge, self._watch = judge, merge, monitor
        self._secrets = given
        self._chain = _chain_in(env)
        self._recorder = _recorder()
        self._turn: Turn | None = None
        self._known: tuple[Task, LeakCheck, TaskFacts | None] | None = None
        self.events: tuple[FeedbackEvent, ...] = ()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """See ``CodeRepoEnv.reset``."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._recorder, self._turn = _recorder(), None
        self._recorder.instruct(self._episode.instruction)
        self.events = ()
        return observation, info

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:  # noqa: ANN401
        """See ``CodeRepoEnv.step``."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        episode = self._episode
        if self._chain is None and episode.turn is not self._turn and episode.turn is not None:
            write_turn(self._recorder, episode.turn, {})
        self._turn = episode.turn
        found = tuple(map(FeedbackEvent.model_validate, info["feedback"]))
        kept, refused = self._knowledge(episode.task)[1].sorted_out(found)
        info = dict(info)
        if episode.outcome is not None and episode.outcome.reward_valid:
            trajectory = self._trajectory(episode)
            late, also = self._late(episode.task, trajectory, (*self.events, *kept), info)
            kept, refused = (*kept, *late), (*refused, *also)
        self.events += kept
        shown = merge_events(kept) if self._merge else kept
        info["feedback"] = [event.model_dump(mode="json") for event in shown]
        if refused:
            info["feedback_refused"] = [one.told() for one in refused]
        return observation, float(reward), terminated, truncated, info

    def fork(self) -> "Feedback":
        """Return another environment that goes on from here; see ``CodeRepoEnv.fork``.

        Raises:
            UsageError: If what it wraps cannot fork.
        """
        options: dict[str, Any] = dict(self._ezpickle_kwargs)
        other = Feedback(forked(self.env), **options)
        other._recorder, other.events = copy.deepcopy(self._recorder), self.events
        other._known, other._turn = self._known, self._turn
        return other

    @property
    def _episode(self) -> Episode:
        env = self.env.unwrapped
        if not isinstance(env, CodeRepoEnv) or env.episode is None:
            raise UsageError("no episode is going on")
        return env.episode

    def _late(
        self,
        task: Task,
        trajectory: Trajectory,
        before: tuple[FeedbackEvent, ...],
        info: Info,
    ) -> tuple[tuple[FeedbackEvent, ...], tuple[Refused, ...]]:
        """Return what only the whole episode shows: kept and refused events."""
        _, check, facts = self._knowledge(task)
        found = artefact_events(trajectory, facts) if self._watch else ()
        late = renumbered(found, before)
        if self._judge is not None:
            opinion = ask(self._judge, JudgeCase(trajectory, (*before, *late)))
            late += opinion.events
            if opinion.error:
                info["judge_error"] = opinion.error
        return check.sorted_out(late)

    def _trajectory(self, episode: Episode) -> Trajectory:
        extra: dict[str, Any] = {"task_id": episode.task.id}
        outcome = episode.outcome
        if episode.exported is not None and outcome is not None:
            taken = outcome.grade.accepted_paths if outcome.grade else ()
            changes = changes_between(episode.task.workspace, episode.exported, taken)
            extra["changes"] = changes.model_dump(mode="json", exclude_none=True)
        if self._chain is not None:
            return self._chain.trajectory(extra)
        return self._recorder.finished(outcome, extra)

    def _knowledge(self, task: Task) -> tuple[Task, LeakCheck, TaskFacts | None]:
        """Return what is known of a task; made once for as long as the task stays."""
        if self._known is None or self._known[0] is not task:
            facts = facts_of(task) if self._watch else None
            self._known = (task, leak_check(task, self._secrets), facts)
        return self._known


def _recorder() -> Recorder:
    return Recorder(AgentInfo(name="agent", version=""), "episode", now=_no_time)


def _no_time() -> str:
    return ""


def _chain_in(env: TextEnv) -> SelfSummarize | None:
    """Return the wrapper that cuts contexts, if there is one."""
    layer: TextEnv | None = env
    while layer is not None and not isinstance(layer, SelfSummarize):
        layer = getattr(layer, "env", None)
    return layer

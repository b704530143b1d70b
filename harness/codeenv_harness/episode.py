"""Plays one agent through one episode: the one place where an exception becomes data."""

import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import codeenv
from codeenv.env.episode import Episode
from codeenv.errors import NoPairs
from codeenv.feedback import FeedbackEvent
from codeenv.grading import Outcome, to_outcome
from codeenv.grading.models import Reason
from codeenv.tools import ToolResult
from codeenv.trajectory import AgentInfo, Recorder, StepMetrics, Trajectory, changes_between
from codeenv_harness.agents.base import Agent, Briefing, Closable, Metered
from codeenv_harness.agents.resident import AgentFactory, Resident, Stay
from codeenv_harness.agents.stops import Ended, StopRun
from codeenv_harness.events import OnStep
from codeenv_harness.living import stay_in, write_down
from codeenv_harness.spoken import Spoken, spoken


@dataclass(frozen=True)
class Played:
    """A played episode; there is no trajectory if it never began."""

    outcome: Outcome
    trajectory: Trajectory | None = None


def attempt(
    open_episode: Callable[[], Episode],
    make_agent: AgentFactory,
    task_id: str,
    *,
    seed: int = 0,
    rollout: int = 0,
    on_start: Callable[[], None] = lambda: None,
    on_step: OnStep = lambda *_: None,
) -> Played:
    """Open an episode and play it; whatever fails gives an outcome that is not valid."""
    try:
        with open_episode() as episode:
            on_start()
            agent = make_agent(episode.task)
            return play(agent, episode, seed=seed, rollout=rollout, on_step=on_step)
    except (NoPairs, StopRun):  # no episode of such a task can be graded here, or none be played
        raise
    except Exception as error:  # noqa: BLE001 - one failed episode must not end a run
        return Played(
            to_outcome(task_id, None, reason="infra_error", n_steps=0, error=_told(error))
        )


def play(
    agent: Agent | Resident,
    episode: Episode,
    *,
    seed: int = 0,
    rollout: int = 0,
    on_step: OnStep = lambda *_: None,
) -> Played:
    """Play an open episode to its end, and close it.

    An agent that raises ends the episode without a valid reward: it is not known what it would
    have done.
    """
    recorder = Recorder(_info(agent, episode), f"{episode.task.id}__{rollout}")
    recorder.instruct(episode.instruction)
    stay = Stay(episode.sandbox, _briefing(episode, seed))
    reason: Reason = "agent_gave_up"
    try:
        if isinstance(agent, Resident):
            reason = agent.live(stay_in(episode, stay, on_step))
        else:
            _loop(agent, episode, recorder, seed, on_step)
    except StopRun:
        raise
    except Exception as error:  # noqa: BLE001 - an agent's failure is data
        episode.abort(_told(error))
    finally:
        if isinstance(agent, Closable):
            agent.close()
    outcome = episode.finish(reason)
    write_down(recorder, stay, outcome)
    extra = {"task_id": episode.task.id, "rollout": rollout, "seed": seed, **_changes(episode)}
    extra |= {**stay.facts, **_feedback(episode.concluded)}
    return Played(outcome, recorder.finished(outcome, extra))


def _changes(episode: Episode) -> dict[str, object]:
    """Return what was handed in, against what was given; nothing if it could not be read."""
    if episode.exported is None or episode.outcome is None:
        return {}
    grade = episode.outcome.grade
    taken = grade.accepted_paths if grade else ()
    changes = changes_between(episode.task.workspace, episode.exported, taken)
    return {"changes": changes.model_dump(mode="json", exclude_none=True)}


def _loop(agent: Agent, episode: Episode, recorder: Recorder, seed: int, on_step: OnStep) -> None:
    agent.reset(_briefing(episode, seed))
    result: ToolResult | None = None
    while episode.outcome is None:
        action = agent.act(result)
        if action is None:
            return
        if isinstance(action, Ended):
            episode.finish(action.reason)
            return
        metrics, made = _metrics(agent, episode), spoken(action)
        result = episode.call(made.sent)
        extra = {"reward": _reward(episode), "tool": _facts(result), **_feedback(episode.noticed)}
        _record(recorder, made, result, extra, metrics)
        on_step(episode.steps, action, result)


def _metrics(agent: Agent, episode: Episode) -> StepMetrics | None:
    """Return the tokens of an action that is about to be carried out.

    An agent that fails to tell them has failed: the episode is over, and the action, which is
    still written down, does nothing any more.
    """
    if not isinstance(agent, Metered):
        return None
    try:
        found = agent.metrics()
        return None if found is None else StepMetrics.model_validate(found)
    except Exception as error:  # noqa: BLE001 - an agent's failure is data
        episode.abort(_told(error))
        return None


def _reward(episode: Episode) -> float:
    return episode.outcome.reward if episode.outcome is not None else 0.0


def _facts(result: ToolResult) -> dict[str, object]:
    return {name: value for name, value in asdict(result).items() if name != "text"}


def _feedback(events: tuple[FeedbackEvent, ...]) -> dict[str, object]:
    """Return events as they stand in a record; nothing where there are none."""
    return {"feedback": [event.model_dump(mode="json") for event in events]} if events else {}


def _record(
    recorder: Recorder,
    made: Spoken,
    result: ToolResult,
    extra: Mapping[str, object],
    metrics: StepMetrics | None,
) -> None:
    call, words, thoughts = made.call, made.words, made.thoughts
    if call is None:
        recorder.say(words, result.text, extra, reasoning=thoughts, metrics=metrics)
        return
    recorder.call(
        call.tool,
        call.arguments,
        result.text,
        extra,
        message=words,
        reasoning=thoughts,
        metrics=metrics,
    )


def _briefing(episode: Episode, seed: int) -> Briefing:
    return Briefing(
        task_id=episode.task.id,
        instruction=episode.instruction,
        tools=episode.tools,
        max_steps=episode.limits.max_steps,
        seed=seed,
    )


def _info(agent: Agent | Resident, episode: Episode) -> AgentInfo:
    version = str(codeenv.__version__)
    return AgentInfo(
        name=agent.name,
        version=version,
        model_name=getattr(agent, "model", None),
        tool_definitions=list(episode.tools),
    )


def _told(error: Exception) -> str:
    return "".join(traceback.format_exception_only(error)).strip()

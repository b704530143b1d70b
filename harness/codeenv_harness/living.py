"""Episodes of agents that live in the box: what they did is written down once it is all known."""

from collections.abc import Mapping
from typing import Any, Literal

from codeenv.env.episode import Episode
from codeenv.grading import Outcome
from codeenv.tools import ToolResult
from codeenv.trajectory import RecordedCall, RecordedResult, Recorder, plain
from codeenv_harness.agents.resident import Deed, Messages, Stay
from codeenv_harness.agents.texts import text_of
from codeenv_harness.events import OnStep


def stay_in(episode: Episode, stay: Stay, on_step: OnStep) -> Stay:
    """Return the stay with the episode's limits."""

    def next_step() -> bool:
        allowed = episode.take_step()
        if allowed:
            on_step(episode.steps, None, ToolResult("", ""))
        return allowed

    stay.next_step, stay.over = next_step, episode.is_over
    stay.time_left = episode.time_left
    return stay


def write_down(recorder: Recorder, stay: Stay, outcome: Outcome) -> None:
    """Record what was done; the last deed has the reward."""
    if stay.tools:
        recorder.offered(stay.tools)
    for deed in stay.deeds:
        for message in deed.before:
            _tell(recorder, message, deed.time)
        reward = outcome.reward if deed is stay.deeds[-1] else 0.0
        _record(recorder, deed, reward)


def _tell(recorder: Recorder, message: Mapping[str, Any], time: str) -> None:
    role = message.get("role")
    source: Literal["system", "user"] = "system" if role in ("system", "developer") else "user"
    recorder.told(source, text_of(message.get("content")), time)


def _record(recorder: Recorder, deed: Deed, reward: float) -> None:
    calls = tuple(
        RecordedCall(
            tool_call_id=plain(name), function_name=plain(tool), arguments=plain(arguments)
        )
        for name, tool, arguments in deed.calls
    )
    recorder.did(
        deed.message,
        calls,
        _results(deed.after, {call.tool_call_id for call in calls}),
        {"reward": reward},
        reasoning=deed.reasoning,
        metrics=deed.metrics,
        time=deed.time,
    )


def _results(messages: Messages, calls: set[str]) -> tuple[RecordedResult, ...]:
    found = []
    for message in messages:
        name = message.get("tool_call_id")
        known = name if isinstance(name, str) and name in calls else None
        content = plain(text_of(message.get("content")))
        found.append(RecordedResult(source_call_id=known, content=content))
    return tuple(found)

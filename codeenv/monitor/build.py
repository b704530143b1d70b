"""From a recorded trajectory to the chained events and the changes that detectors read."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import ValidationError

from codeenv.monitor.chain import chained
from codeenv.monitor.facts import TaskFacts
from codeenv.monitor.models import (
    Called,
    Event,
    Executed,
    FileRead,
    FileWritten,
    Graded,
    Linked,
    Payload,
    Reached,
    Returned,
    Snapshot,
    Text,
)
from codeenv.monitor.paths import classify
from codeenv.monitor.view import Change, View
from codeenv.monitor.world import World
from codeenv.trajectory import Changes, FileChange, Step, Trajectory
from codeenv.trajectory.models import RecordedCall, RecordedResult

Observed = Mapping[int, Sequence[Payload]]
"""Step id -> what a system call log saw in it (``Executed``, ``FileRead``, ``Reached``, …)."""
EXCERPT = 20_000
_ARGUMENT = 100_000
_KINDS: dict[type[Payload], str] = {
    Executed: "exec",
    FileRead: "file_read",
    FileWritten: "file_write",
    Linked: "link",
    Reached: "net",
}
Origin = Literal["agent", "tool", "env", "grader"]


def view_of(trajectory: Trajectory, facts: TaskFacts, observed: Observed | None = None) -> View:
    """Return what detectors look at.

    Args:
        trajectory: As it was recorded; ATIF from elsewhere is read as far as it goes.
        facts: Of the task.
        observed: What a system call log saw, where there is one.
    """
    builder = _Builder(trajectory, facts, observed or {})
    events = chained(builder.events())
    recorded = recorded_changes(trajectory)
    changes = builder.changes(recorded, events)
    tier: Literal[1, 2, 3] = 3 if observed else 2 if recorded else 1
    return View(events, facts, changes, tier, tuple(builder.errors))


def recorded_changes(trajectory: Trajectory) -> Changes | None:
    """Return what a trajectory says was handed in, or None if it says nothing readable."""
    try:
        return Changes.model_validate((trajectory.extra or {})["changes"])
    except (KeyError, ValidationError):
        return None


class _Builder:
    def __init__(self, trajectory: Trajectory, facts: TaskFacts, observed: Observed) -> None:
        self._trajectory, self._facts, self._observed = trajectory, facts, observed
        self._world = World(facts)
        self.errors: list[str] = []
        self._id = trajectory.trajectory_id or trajectory.session_id or "episode"
        self._start = _seconds(trajectory.steps[0].timestamp)

    def events(self) -> Iterator[Event]:
        for step in self._trajectory.steps:
            yield from self._step(step)
        changes = recorded_changes(self._trajectory)
        if changes is not None:
            yield self._event("snapshot", Snapshot(tree_sha=changes.tree_sha), "env")
            for change in changes.files:
                kind = "file_delete" if change.kind == "deleted" else "file_write"
                yield self._event(kind, self._written(change), "env")
        if (graded := _graded(self._trajectory.extra)) is not None:
            yield self._event("grade", graded, "grader")

    def _step(self, step: Step) -> Iterator[Event]:
        mine: Origin = "agent" if step.source == "agent" else "env"
        if step.message:
            yield self._event("message", Text(text=_valid(step.message)), mine, step)
            self._world.heard(step.message)
        if step.reasoning_content:
            yield self._event("reasoning", Text(text=_valid(step.reasoning_content)), mine, step)
        results = step.observation.results if step.observation else ()
        for call in step.tool_calls or ():
            yield from self._call(step, call)
            for result in results:
                if result.source_call_id == call.tool_call_id:
                    yield from self._result(step, result, call)
        for result in results:
            if result.source_call_id is None:
                yield from self._result(step, result, None)

    def _call(self, step: Step, call: RecordedCall) -> Iterator[Event]:
        arguments = {str(k)[:200]: _capped(v) for k, v in list(call.arguments.items())[:50]}
        called = Called(name=call.function_name, args=arguments)
        key = call.tool_call_id
        yield self._event("tool_call", called, "agent", step, key)
        for kind, payload in self._effects(call.function_name, arguments):
            yield self._event(kind, payload, "agent", step, key)
        for payload in self._observed.get(step.step_id, ()):
            yield self._event(_KINDS.get(type(payload), "exec"), payload, "env", step, key)

    def _effects(self, tool: str, arguments: dict[str, Any]) -> list[tuple[str, Payload]]:
        """Return what a call does; what cannot be read is told, so that it hides nothing."""
        try:
            return list(self._world.effects(tool, arguments))
        except Exception as error:  # noqa: BLE001 - of hostile input, and told in the verdict
            self.errors.append(f"reading {tool}: {type(error).__name__}: {error}"[:500])
            return []

    def _result(
        self, step: Step, result: RecordedResult, call: RecordedCall | None
    ) -> Iterator[Event]:
        text = _valid(result.content or "")
        facts = _tool_facts(step, result)
        key = result.source_call_id
        shown = (
            text if len(text) <= EXCERPT else text[: EXCERPT // 2] + "\n…\n" + text[-EXCERPT // 2 :]
        )
        for path in self._world.listed(call.function_name if call else "", shown):
            yield self._event("file_read", self._world.read(path), "tool", step, key)
        exit_code = facts.get("exit_code")
        yield self._event(
            "tool_result",
            Returned(
                ok=bool(facts.get("ok", not text.startswith("error["))),
                exit=exit_code if isinstance(exit_code, int) else _exit_code(text),
                error=str(facts.get("error", ""))[:100],
                stdout_sha=hashlib.sha256(text.encode()).hexdigest(),
                excerpt=shown,
                vanished=self._world.vanished(text[:_ARGUMENT]),
            ),
            "tool",
            step,
            key,
        )

    def _written(self, change: FileChange) -> FileWritten:
        return FileWritten(
            path=change.path,
            cls=classify(change.path),
            pre_existing=change.kind != "added",
            sha_before=change.sha_before,
            sha_after=change.sha_after,
            counted=change.counted,
        )

    def _event(
        self,
        kind: str,
        data: Payload,
        source: Origin,
        step: Step | None = None,
        key: str | None = None,
    ) -> Event:
        stamp, start = _seconds(step.timestamp) if step else None, self._start
        return Event(
            episode=self._id,
            seq=0,
            t_mono=None if stamp is None or start is None else round(stamp - start, 3),
            source=source,
            step_id=step.step_id if step else None,
            tool_call_id=f"{step.step_id}:{key}" if step and key is not None else None,
            kind=kind,
            data=data,
        )

    def changes(self, recorded: Changes | None, events: Sequence[Event]) -> tuple[Change, ...]:
        """Return what was handed in: as it was recorded, or as the edits say."""
        where: dict[str, list[int]] = {}
        for event in events:
            if isinstance(event.data, FileWritten):
                where.setdefault(event.data.path, []).append(event.seq)
        if recorded is None:
            return tuple(self._world.guessed(where))
        return tuple(
            Change(
                path=c.path,
                kind=c.kind,
                before=c.before,
                after=c.after,
                head=c.head,
                mode=c.mode,
                counted=c.counted,
                evidence=tuple(where.get(c.path, ())[-5:]),
            )
            for c in recorded.files
        )


def _graded(extra: Mapping[str, Any] | None) -> Graded | None:
    outcome = (extra or {}).get("outcome")
    if not isinstance(outcome, Mapping):
        return None
    components = outcome.get("components")
    try:
        return Graded(
            reward=outcome.get("reward", 0.0),
            reward_valid=outcome.get("reward_valid", False),
            resolved=outcome.get("resolved", False),
            reason=str(outcome.get("reason", "")),
            components=components if isinstance(components, dict) else {},
            accepted=tuple(outcome.get("accepted_paths") or ()),
            ignored=tuple(outcome.get("ignored_paths") or ()),
        )
    except (ValidationError, TypeError):
        return None


def _tool_facts(step: Step, result: RecordedResult) -> Mapping[str, Any]:
    for extra in (result.extra, step.extra):
        tool = (extra or {}).get("tool", extra)
        if isinstance(tool, Mapping) and ("ok" in tool or "exit_code" in tool):
            return tool
    return {}


def _exit_code(text: str) -> int | None:
    """Return the exit code that a command's text ends with."""
    found = re.search(r"\[exit code (-?\d{1,4})\]\s*$", text[-200:])
    return int(found[1]) if found else None


def _seconds(stamp: str | None) -> float | None:
    try:
        return datetime.fromisoformat(stamp).timestamp() if stamp else None
    except (ValueError, OverflowError):
        return None


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _capped(value: object, depth: int = 0) -> Any:  # noqa: ANN401 - an agent's own data
    """Return an argument with texts cut and nesting ended: any JSON may come."""
    if isinstance(value, str):
        return _valid(value[:_ARGUMENT])
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else "(large number)"
    if depth < 4 and isinstance(value, Mapping):
        items = list(value.items())[:100]
        return {_valid(str(k)[:200]): _capped(v, depth + 1) for k, v in items}
    if depth < 4 and isinstance(value, list | tuple):
        return [_capped(item, depth + 1) for item in list(value)[:1000]]
    return "(too deep)"

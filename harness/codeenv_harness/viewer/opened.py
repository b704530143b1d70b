"""One rollout that was opened: its head, a line for each step, and where something was found."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from codeenv.errors import UsageError
from codeenv.feedback import FeedbackEvent
from codeenv.feedback.turns import numbered_turns
from codeenv.monitor import LABELS, Finding, TaskFacts, event_log
from codeenv.trajectory import Changes, FileChange, Step, Trajectory
from codeenv_harness.metrics import usage_of
from codeenv_harness.records import RolloutRecord
from codeenv_harness.viewer import lines, steps
from codeenv_harness.viewer.edits import whole_edit

_TESTS = 5000
_SEARCHED = 1_000_000
CHANGES = 0
"""The step that stands for what was handed in."""


class Opened:
    """A rollout; everything is made when it is asked for, and texts stay as they are."""

    def __init__(
        self,
        record: RolloutRecord,
        trajectory: Trajectory | None,
        missing: str,
        facts: TaskFacts | None,
    ) -> None:
        """Take what was recorded, why there is no trajectory, and the task if it is known."""
        self._record, self._missing, self._known = record, missing, facts is not None
        self._trajectory = trajectory
        self._steps = trajectory.steps if trajectory else ()
        self._extra = (trajectory.extra or {}) if trajectory else {}
        self._findings = record.monitor.findings if record.monitor else ()
        self._places = _places(self._findings, trajectory, facts)
        self._feedback = _feedback(trajectory) if trajectory else {}
        self._changes = _changes(self._extra)
        self._found = _by_step(self._places)

    @cached_property
    def head(self) -> dict[str, Any]:
        """Everything but what the steps hold, with a line for each of them."""
        record = self._record
        monitor = record.monitor
        return {
            "record": record.model_dump(mode="json", exclude={"monitor", "not_passed"}),
            "graded": monitor.graded_reward if monitor else None,
            "action": monitor.action if monitor else "",
            "tests": dict(list(record.not_passed.items())[:_TESTS]),
            "tests_left": max(0, len(record.not_passed) - _TESTS),
            "missing": self._missing,
            "placed": self._known,
            "findings": [self._finding(place) for place in range(len(self._findings))],
            "agent": self._agent(),
            "usage": self._usage(),
            "changes": self._changed(),
            "program": _program(self._extra),
            "steps": [self._row(step) for step in self._steps],
        }

    def step(self, number: int, *, full: bool = False) -> dict[str, Any]:
        """Return a step with all that belongs to it; long texts are cut unless it is to be full.

        Raises:
            UsageError: If there is no such step.
        """
        if not 1 <= number <= len(self._steps):
            raise UsageError(f"there is no step {number}")
        step = self._steps[number - 1]
        found = [self._finding(place) for place in self._found.get(number, ())]
        events = self._feedback.get(number, ())
        edit = whole_edit(self._steps, number)
        return steps.details(step, events, edit, full=full) | {"findings": found}

    def change(self, number: int, *, full: bool = False) -> dict[str, Any]:
        """Return the diff of a changed file.

        Raises:
            UsageError: If there is no such file.
        """
        if self._changes is None or not 0 <= number < len(self._changes.files):
            raise UsageError(f"there is no changed file {number}")
        file = self._changes.files[number]
        found = lines.diff(file.before or "", file.after or "", file.path)
        return {"block": lines.block(found, full)}

    def search(self, words: str) -> list[int]:
        """Return the numbers of the steps that hold the words, whatever their case."""
        wanted = words.casefold()
        return [place + 1 for place, text in enumerate(self._texts) if wanted and wanted in text]

    def _row(self, step: Step) -> dict[str, Any]:
        row = steps.row(step)
        if step.step_id in self._feedback:
            row["b"] = len(self._feedback[step.step_id])
        if found := self._found.get(step.step_id):
            row["v"] = len(found)
        return row

    @cached_property
    def _texts(self) -> list[str]:
        return [
            steps.text_of(step, self._feedback.get(step.step_id, ()))[:_SEARCHED].casefold()
            for step in self._steps
        ]

    def _finding(self, number: int) -> dict[str, Any]:
        finding = self._findings[number]
        label = LABELS.get(finding.label)
        told = finding.model_dump(mode="json", exclude={"evidence"})
        return told | {"title": label.title if label else "", "steps": self._places[number]}

    def _agent(self) -> dict[str, Any]:
        agent = self._trajectory.agent if self._trajectory else None
        return {
            "name": agent.name if agent else "",
            "model": (agent.model_name or "") if agent else "",
            "instruction": next(
                (steps.whole(step.message) for step in self._steps if step.source == "user"), ""
            ),
        }

    def _usage(self) -> dict[str, Any]:
        if self._trajectory is None:
            return {}
        try:
            found = usage_of(self._trajectory)
        except (UsageError, OverflowError, ValueError):
            return {}
        return {
            "prompt_tokens": found.prompt_tokens,
            "completion_tokens": found.completion_tokens,
            "cost_usd": found.cost_usd,
            "seconds": found.seconds,
        }

    def _changed(self) -> dict[str, Any] | None:
        if self._changes is None:
            return None
        files = [_file(change) for change in self._changes.files]
        return {"files": files, "left_out": self._changes.left_out}


def _file(change: FileChange) -> dict[str, Any]:
    return {
        "path": change.path,
        "kind": change.kind,
        "counted": change.counted,
        "text": change.before is not None or change.after is not None,
        "mode": change.mode,
    }


def _changes(extra: dict[str, Any]) -> Changes | None:
    try:
        return Changes.model_validate(extra["changes"])
    except (KeyError, ValidationError):
        return None


def _program(extra: dict[str, Any]) -> dict[str, Any] | None:
    """Return how a program that acted in the box ended, and what it wrote."""
    told = extra.get("program")
    if not isinstance(told, dict):
        return None
    code, command, written = (told.get(name) for name in ("exit_code", "command", "output"))
    return {
        "command": str(command or ""),
        "exit": steps.number(code),
        "output": lines.block(lines.output(str(written or "")), full=True),
    }


def _places(
    findings: Iterable[Finding], trajectory: Trajectory | None, facts: TaskFacts | None
) -> list[list[int]]:
    """Return the steps that each finding rests on; 0 is what was handed in.

    Events are counted anew: without the task, as the trajectory alone tells them.
    """
    found = list(findings)
    if not found or trajectory is None:
        return [[] for _ in found]
    ids = [event.step_id or CHANGES for event in event_log(trajectory, facts)]
    return [_sorted(ids[seq] for seq in one.evidence if 0 <= seq < len(ids)) for one in found]


def _by_step(places: list[list[int]]) -> dict[int, list[int]]:
    """Return the numbers of the findings at each step."""
    found: dict[int, list[int]] = {}
    for number, steps_of in enumerate(places):
        for step in steps_of:
            found.setdefault(step, []).append(number)
    return found


def _sorted(places: Iterable[int]) -> list[int]:
    """Return places in order, each once, what was handed in last."""
    return sorted({*places}, key=lambda place: (place == CHANGES, place))


def _feedback(trajectory: Trajectory) -> dict[int, tuple[FeedbackEvent, ...]]:
    """Return the feedback events of each step; those of the end are at their turn."""
    found: dict[int, list[FeedbackEvent]] = {}
    for step in trajectory.steps:
        if events := _events((step.extra or {}).get("feedback")):
            found.setdefault(step.step_id, []).extend(events)
    if ended := _events((trajectory.extra or {}).get("feedback")):
        turns = {turn.number: step_id for step_id, turn in numbered_turns(trajectory)}
        for event in ended:
            place = turns.get(event.turn, len(trajectory.steps))
            found.setdefault(place, []).append(event)
    return {place: tuple(events) for place, events in found.items()}


def _events(told: object) -> list[FeedbackEvent]:
    events = []
    for one in told if isinstance(told, list) else ():
        try:
            events.append(FeedbackEvent.model_validate(one))
        except ValidationError:
            continue  # of another version, or anybody's
    return events

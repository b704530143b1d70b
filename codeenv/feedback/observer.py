"""The rules over an episode, turn by turn; a record is replayed through the same."""

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

from codeenv.feedback import rules_calls, rules_chain, rules_finish, rules_habits
from codeenv.feedback.models import FeedbackEvent
from codeenv.feedback.notes import LastRule, Note, Rule
from codeenv.feedback.options import Options, options_for
from codeenv.feedback.past import Past
from codeenv.feedback.testruns import TestRun
from codeenv.feedback.turns import Turn, numbered_turns
from codeenv.materialise.models import Task
from codeenv.trajectory import Trajectory

RULES: tuple[Rule, ...] = (
    rules_calls.unknown_tool,
    rules_calls.malformed_call,
    rules_chain.summary_refused,
    rules_calls.bad_args,
    rules_calls.edit_no_match,
    rules_calls.edit_not_unique,
    rules_calls.path_not_found,
    rules_calls.command_timeout,
    rules_calls.protected_path,
    rules_habits.redundant_read,
    rules_habits.repeated_failure,
    rules_finish.no_verify,
    rules_finish.verbose_final,
    rules_finish.todo_left,
)

LAST_RULES: tuple[LastRule, ...] = (rules_finish.premature_finish, rules_finish.overthinking_easy)


class Observer:
    """Looks at the turns of one episode, in order; deterministic, and reads no clock."""

    def __init__(self, options: Options | None = None) -> None:
        """Begin an episode."""
        self.options = options or Options()
        self._past = Past()
        self._counts: dict[int, int] = {}

    def observe(self, turn: Turn) -> tuple[FeedbackEvent, ...]:
        """Return the mistakes of a turn.

        A call that came after the end of an episode, or at which the sandbox failed, is none.
        """
        if turn.error == "episode_over":
            return ()
        notes = [note for rule in RULES if (note := rule(turn, self._past, self.options))]
        self._past.add(turn, self.options)
        return tuple(self._event(turn, note) for note in notes)

    def finish(self, *, resolved: bool) -> tuple[FeedbackEvent, ...]:
        """Return what only the end shows, at whatever turn it was."""
        found = (rule(self._past, self.options, resolved=resolved) for rule in LAST_RULES)
        return tuple(self._event(*one) for one in found if one)

    def cut(self) -> None:
        """Begin a new context: what was read before is not seen there.

        What holds of the files goes on: which were edited, and when tests ran last.
        """
        past = self._past
        tested = TestRun(past.tested.turn, failed=False) if past.tested else None
        self._past = dataclasses.replace(past, reads={}, failures={}, tested=tested)

    def fork(self) -> "Observer":
        """Return another observer that goes on from here."""
        other = Observer(self.options)
        other._past, other._counts = copy.deepcopy((self._past, self._counts))
        return other

    def _event(self, turn: Turn, note: Note) -> FeedbackEvent:
        number = self._counts[turn.number] = self._counts.get(turn.number, 0) + 1
        return note.event(turn.number, number)


def feedback_of(
    trajectory: Trajectory, task: Task | None = None, *, options: Options | None = None
) -> tuple[FeedbackEvent, ...]:
    """Return the mistakes in a recorded episode, in the order in which they became known.

    Args:
        trajectory: The record.
        task: What was attempted.  Without it nothing is known of protected paths and of the
            difficulty, and code is told by its name.
        options: All that rules need, instead of what record and task say.

    Raises:
        UsageError: If what is recorded of cut contexts cannot be read.
    """
    observer = Observer(options or _options(trajectory, task))
    found: list[FeedbackEvent] = []
    begins = [segment.steps[0].step_id for segment in trajectory.segments()[1:]]
    for step, turn in numbered_turns(trajectory):
        while begins and begins[0] <= step:
            observer.cut()
            del begins[0]
        found += observer.observe(turn)
    return (*found, *observer.finish(resolved=_resolved(trajectory.extra)))


def _options(trajectory: Trajectory, task: Task | None) -> Options:
    """Return the options for a record: with the tools that it names, if it does."""
    tools = trajectory.agent.tool_definitions
    named = bool(tools) and all(isinstance(t.get("function"), Mapping) for t in tools or ())
    told = tools if named else None
    if task is not None:
        return options_for(task, told)
    return Options() if told is None else Options(tools=told)


def _resolved(extra: Mapping[str, Any] | None) -> bool:
    outcome = (extra or {}).get("outcome")
    return isinstance(outcome, Mapping) and outcome.get("resolved") is True

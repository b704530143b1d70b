"""How agents work: what they call, what goes wrong, and whether they test before they hand in.

Mistakes are the feedback events that a record has; the rest is read off the calls.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from codeenv.errors import UsageError
from codeenv.export import Rollout
from codeenv.feedback import FeedbackEvent, Turn, turns_of
from codeenv.feedback.shell import runs_tests
from codeenv.feedback.testruns import read_run
from codeenv.tasks.reading import shorten
from codeenv.trajectory import Trajectory

INVALID = frozenset({"unknown_tool", "malformed_call", "bad_args"})
"""Kinds of mistakes by which a call is none."""
NO_CALL, UNKNOWN = "(no call)", "(unknown tool)"
"""What actions are counted under that named no tool, or one that there is not."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What an agent did in one episode.

    Attributes:
        actions: How many.
        calls: Tool -> how many actions called it.
        mistakes: Kind of event -> how many.
        invalid: Actions that were no valid call.
        edits: Edits that were carried out.
        failed_edits: Edits that were not.
        test_runs: Commands that ran tests, as far as their output says so.
        submitted: Whether the agent handed in.
        tested: Whether it ran tests before that.
        final_words: Of its last message, if it handed in.
    """

    actions: int
    calls: Mapping[str, int]
    mistakes: Mapping[str, int]
    invalid: int
    edits: int
    failed_edits: int
    test_runs: int
    submitted: bool
    tested: bool
    final_words: int | None


@dataclass(frozen=True, slots=True)
class BehaviourSummary:
    """What agents did in the valid rollouts of a run; shares are None where there is nothing.

    Attributes:
        rollouts: How many were valid.
        actions: In all of them.
        submitted: How many of them the agent handed in.
        calls: Tool -> actions that called it.
        mistakes_per_100: Kind of event -> how many for 100 actions; redundant reads, repeated
            failures, protected paths and accesses to artefacts among them.
        invalid_rate: Share of the actions that were no valid call.
        failed_edit_rate: Share of the edits that were not carried out.
        test_runs_per_edit: For each edit that was carried out.
        tested_rate: Share of those handed in before which tests were run.
        unverified_rate: Share of those handed in with edits that nothing had tried out.
        final_words: Median of those handed in.
    """

    rollouts: int
    actions: int
    submitted: int
    calls: dict[str, int]
    mistakes_per_100: dict[str, float]
    invalid_rate: float | None
    failed_edit_rate: float | None
    test_runs_per_edit: float | None
    tested_rate: float | None
    unverified_rate: float | None
    final_words: float | None


def recorded_events(trajectory: Trajectory) -> tuple[FeedbackEvent, ...]:
    """Return the feedback events that stand in a record.

    Raises:
        UsageError: If they cannot be read.
    """
    holders = [*(step.extra for step in trajectory.steps), trajectory.extra]
    written = [event for extra in holders for event in (extra or {}).get("feedback", ())]
    try:
        return tuple(map(FeedbackEvent.model_validate, written))
    except ValidationError as error:
        raise UsageError(
            f"{trajectory.trajectory_id}: cannot read its feedback: {shorten(error)}",
            hint="record the run again with this version of codeenv",
        ) from error


def behaviour_of(
    trajectory: Trajectory, events: Iterable[FeedbackEvent] | None = None
) -> Behaviour:
    """Return what an agent did in an episode.

    Args:
        trajectory: The record.
        events: Its mistakes; by default the recorded ones.  A record of another program has none:
            give those of ``codeenv.feedback.feedback_of``.

    Raises:
        UsageError: If the recorded mistakes cannot be read.
    """
    found = recorded_events(trajectory) if events is None else tuple(events)
    turns = list(turns_of(trajectory))
    edits = [turn.ok for turn in turns if turn.tool == "edit_file"]
    tested = [turn.number for turn in turns if _ran_tests(turn)]
    handed = next((turn for turn in turns if turn.tool == "submit" and turn.ok), None)
    return Behaviour(
        actions=len(turns),
        calls=_sorted(Counter(map(_called, turns))),
        mistakes=_sorted(Counter(str(event.kind) for event in found)),
        invalid=len({event.turn for event in found if event.kind in INVALID}),
        edits=sum(edits),
        failed_edits=len(edits) - sum(edits),
        test_runs=len(tested),
        submitted=handed is not None,
        tested=handed is not None and any(number < handed.number for number in tested),
        final_words=len(handed.value("message").split()) if handed else None,
    )


def summarise_behaviour(found: Iterable[Behaviour]) -> BehaviourSummary:
    """Return what was done in some episodes together.

    Args:
        found: Of valid rollouts.
    """
    every = list(found)
    handed = [one for one in every if one.submitted]
    actions = sum(one.actions for one in every)
    edits, failed = sum(one.edits for one in every), sum(one.failed_edits for one in every)
    mistakes = _together(one.mistakes for one in every)
    words = [one.final_words for one in handed if one.final_words is not None]
    return BehaviourSummary(
        rollouts=len(every),
        actions=actions,
        submitted=len(handed),
        calls=_together(one.calls for one in every),
        mistakes_per_100={kind: 100 * n / actions for kind, n in mistakes.items() if actions},
        invalid_rate=_share(sum(one.invalid for one in every), actions),
        failed_edit_rate=_share(failed, edits + failed),
        test_runs_per_edit=_share(sum(one.test_runs for one in every), edits),
        tested_rate=_share(sum(one.tested for one in handed), len(handed)),
        unverified_rate=_share(sum("no_verify" in one.mistakes for one in handed), len(handed)),
        final_words=statistics.median(words) if words else None,
    )


def behaviour_of_run(rollouts: Iterable[Rollout]) -> BehaviourSummary:
    """Return what was done in the valid rollouts of a run, e.g. of ``RunFolder(path).rollouts()``.

    Raises:
        UsageError: If recorded mistakes cannot be read.
    """
    return summarise_behaviour(
        behaviour_of(rollout.trajectory)
        for rollout in rollouts
        if rollout.reward_valid and rollout.trajectory is not None
    )


def _called(turn: Turn) -> str:
    if not turn.tool:
        return NO_CALL
    return UNKNOWN if turn.error == "unknown_tool" else turn.tool


def _ran_tests(turn: Turn) -> bool:
    """Return whether a command ran tests; one that was stopped while they ran did."""
    stopped = turn.error == "timeout"
    if turn.tool != "run_command" or not (turn.ok or stopped):
        return False
    if not runs_tests(turn.value("command")):
        return False
    return read_run(turn.number, turn.text, turn.exit_code, stopped=stopped) is not None


def _together(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return _sorted(total)


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in sorted(counts)}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None

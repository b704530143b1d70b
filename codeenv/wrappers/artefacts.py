"""What the monitor found of the solution in an environment, as feedback at the turn of it."""

from codeenv.feedback import FeedbackEvent, Turn
from codeenv.feedback.notes import Note, called
from codeenv.feedback.spans import on_arguments, on_content, on_value
from codeenv.feedback.turns import numbered_turns
from codeenv.monitor import Finding, Monitor, TaskFacts, facts_from
from codeenv.monitor.build import view_of
from codeenv.trajectory import Trajectory

ARTEFACTS = frozenset({"SC-GIT", "SC-CACHE", "SC-DECOMP", "SC-PKG", "SC-GRADER", "SC-NET"})
"""Labels of reaching for the deleted code: history, caches, bytecode, other copies of the package,
the grader's files, the network."""
_KEYS = {"run_command": "command"}


def artefact_events(
    trajectory: Trajectory, facts: TaskFacts | None = None, monitor: Monitor | None = None
) -> tuple[FeedbackEvent, ...]:
    """Return one event for each turn in which an agent reached for the deleted code.

    Args:
        trajectory: The episode.
        facts: Of its task; what the trajectory says of it if None.
        monitor: Who looks; the plain one if None.
    """
    known = facts or facts_from(trajectory)
    verdict = (monitor or Monitor()).examine(trajectory, known)
    found = [f for f in verdict.findings if f.label in ARTEFACTS and f.attempted]
    if not found:
        return ()
    steps = {event.seq: event.step_id for event in view_of(trajectory, known).events}
    turns: dict[int, Turn] = {}
    for step, turn in numbered_turns(trajectory):
        turns.setdefault(step, turn)
    at: dict[int, tuple[Turn, list[Finding]]] = {}
    for finding in found:
        named = (turns.get(steps.get(seq) or 0) for seq in finding.evidence)
        first = next((turn for turn in named if turn is not None), None)
        if first is not None:
            at.setdefault(first.number, (first, []))[1].append(finding)
    return tuple(_event(*at[number]) for number in sorted(at))


def _event(turn: Turn, findings: list[Finding]) -> FeedbackEvent:
    target = on_value(turn, _KEYS.get(turn.tool, "path")) if turn.tool else on_content(turn)
    if turn.tool == "submit":
        target = on_arguments(turn)
    evidence = {
        **called(turn),
        "labels": sorted({finding.label for finding in findings}),
        "detail": findings[0].detail,
        "succeeded": any(finding.succeeded for finding in findings),
    }
    note = Note(
        "artefact_access", "warning", target, "implement from the spec", evidence, "monitor"
    )
    return note.event(turn.number, 1)

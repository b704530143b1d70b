"""What a rule says of a turn, before it becomes an event with an id."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from codeenv.feedback.models import EventSource, FeedbackEvent, Kind, Severity, Target
from codeenv.feedback.options import Options
from codeenv.feedback.past import Past
from codeenv.feedback.turns import Turn
from codeenv.trajectory import plain

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Note:
    """One mistake of one turn; the fields are those of ``FeedbackEvent``."""

    kind: Kind
    severity: Severity
    target: Target
    hint: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    source: EventSource = "rule"

    def event(self, turn: int, number: int) -> FeedbackEvent:
        """Return the event of a turn, the ``number``-th of it."""
        return FeedbackEvent(
            id=event_id(turn, number, self.kind),
            kind=self.kind,
            severity=self.severity,
            turn=turn,
            target=self.target,
            evidence=dict(self.evidence),
            hint=self.hint,
            source=self.source,
        )


Rule = Callable[[Turn, Past, Options], Note | None]


class LastRule(Protocol):
    """A rule that only the end of an episode can tell, of whatever turn."""

    def __call__(
        self, past: Past, options: Options, /, *, resolved: bool
    ) -> tuple[Turn, Note] | None:
        """Return the turn and what was wrong with it, or None."""


def event_id(turn: int, number: int, kind: str) -> str:
    """Return the id of the ``number``-th event of a turn."""
    return f"{turn}.{number}.{kind}"


def called(turn: Turn) -> dict[str, Any]:
    """Return the call and its error as evidence, long texts cut."""
    args = {key: _short(value) for key, value in turn.arguments.items()}
    return {"tool": turn.tool, "args": args, "error": turn.error}


def _short(value: object) -> object:
    """Return a value as JSON can say it on a line; tools take scalars, so lists are for people."""
    known = plain(value)
    scalar = known is None or isinstance(known, bool | int | float)
    return known if scalar else str(known)[:_LONGEST]

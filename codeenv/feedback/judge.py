"""Somebody else's opinion: a callable that adds events on style and communication."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from pydantic import ValidationError

from codeenv.feedback.models import FeedbackEvent
from codeenv.feedback.notes import event_id
from codeenv.feedback.spans import target_text
from codeenv.feedback.turns import turns_of
from codeenv.trajectory import Message, Trajectory, messages_of

MOST = 100
"""Events of a judge that are looked at."""


@dataclass(frozen=True)
class JudgeCase:
    """What a judge gets to see.

    Attributes:
        trajectory: The episode.
        events: What rules (and the monitor, where it looked) say of it.
    """

    trajectory: Trajectory
    events: tuple[FeedbackEvent, ...]

    @property
    def messages(self) -> list[Message]:
        """The messages that an event's target counts in."""
        return messages_of(self.trajectory)


Judge = Callable[[JudgeCase], Sequence[FeedbackEvent]]


@dataclass(frozen=True)
class Opinion:
    """What a judge said; ``error`` is why not, or what of it could not be used."""

    events: tuple[FeedbackEvent, ...] = ()
    error: str = ""


def ask(judge: Judge, case: JudgeCase) -> Opinion:
    """Ask a judge; whatever it does is data.

    Its events get ids of their own and ``judge`` as their source; one that points at nothing the
    agent wrote is left out and told.
    """
    try:
        said = list(islice(judge(case), MOST))
    except Exception as error:  # noqa: BLE001 - somebody else's code, and told
        return Opinion(error=f"{type(error).__name__}: {error}"[:500])
    messages = case.messages
    turns = {turn.number: (turn.message, turn.call) for turn in turns_of(case.trajectory)}
    kept, wrong = list[FeedbackEvent](), list[str]()
    for number, one in enumerate(said):
        event = _event(one)
        place = (event.target.message, event.target.call) if event else None
        if event is None or turns.get(event.turn) != place or not _fits(event, messages):
            wrong.append(str(number))
        else:
            kept.append(event.model_copy(update={"source": "judge"}))
    problem = f"no events of this episode: number {', '.join(wrong)}" if wrong else ""
    return Opinion(renumbered(kept, case.events), problem)


def renumbered(
    events: Iterable[FeedbackEvent], before: Iterable[FeedbackEvent]
) -> tuple[FeedbackEvent, ...]:
    """Return events with ids that go on behind those of the same turns."""
    counts: dict[int, int] = {}
    for event in before:
        counts[event.turn] = counts.get(event.turn, 0) + 1
    found: list[FeedbackEvent] = []
    for event in events:
        number = counts[event.turn] = counts.get(event.turn, 0) + 1
        name = event_id(event.turn, number, event.kind)
        found.append(event.model_copy(update={"id": name}))
    return tuple(found)


def _event(value: object) -> FeedbackEvent | None:
    try:
        return FeedbackEvent.model_validate(value)
    except ValidationError:
        return None


def _fits(event: FeedbackEvent, messages: Sequence[Message]) -> bool:
    text = target_text(messages, event.target)
    return text is not None and event.target.chars[1] <= len(text)

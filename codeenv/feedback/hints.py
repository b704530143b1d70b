"""Hints put into a conversation, as messages: what a teacher sees and the agent did not."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeenv.errors import UsageError
from codeenv.feedback.models import FeedbackEvent, Placement
from codeenv.trajectory import Message, Step, Trajectory, messages_of


@dataclass(frozen=True)
class MessagePair:
    """A teacher pair before it is tokens.

    Attributes:
        student: What the agent saw before the target turn.
        teacher: The same, with the hint.
        target: The turn that both are asked to write.
        event_id: Of the event that the hint is from.
        placement: Where the hint is.
    """

    student: tuple[Message, ...]
    teacher: tuple[Message, ...]
    target: Message
    event_id: str
    placement: Placement


def message_pair(
    trajectory: Trajectory,
    event: FeedbackEvent,
    *,
    placement: Placement | None = None,
    hint_role: str = "user",
) -> MessagePair:
    """Return the messages before an event's target, without the hint and with it.

    Args:
        trajectory: Where the event happened.
        event: What the hint is from.
        placement: Where the hint goes; where the event says, if None.
        hint_role: Who says it, if it is a message of its own.

    Raises:
        UsageError: If the event's target is no turn of the agent, or nobody spoke before it.
    """
    messages = messages_of(trajectory)
    index = event.target.message
    step, start = step_of(trajectory, index)
    if step is None or step.source != "agent" or messages[index]["role"] != "assistant":
        raise UsageError(
            f"event {event.id} is about message {index}, which is none of the agent's",
            hint="give the trajectory that the event was made from",
        )
    before, chosen = messages[start:index], placement or event.placement
    hinted = _hinted(before, event, chosen, hint_role)
    return MessagePair(tuple(before), tuple(hinted), messages[index], event.id, chosen)


def step_of(trajectory: Trajectory, message: int) -> tuple[Step | None, int]:
    """Return the step that a message begins or answers, and where its context begins.

    A context that was cut goes on in another: what was said before is not seen there.
    """
    for segment in trajectory.segments():
        at = segment.first_message
        for step in segment.steps:
            results = step.observation.results if step.observation else ()
            at += 1 + (len(results) if step.source == "agent" else 0)
            if message < at:
                return step, segment.first_message
    return None, 0


def _hinted(
    before: Sequence[Message], event: FeedbackEvent, placement: Placement, role: str
) -> list[Message]:
    if placement == "before_target":
        return [*before, {"role": role, "content": event.hint}]
    last = max((i for i, m in enumerate(before) if m["role"] != "assistant"), default=None)
    if last is None:
        raise UsageError(
            f"event {event.id}: there is no message that its hint could be appended to",
            hint="placement='before_target'",
        )
    content = f"{before[last]['content']}\n\n{event.hint}".lstrip("\n")
    return [*before[:last], {**before[last], "content": content}, *before[last + 1 :]]

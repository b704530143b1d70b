"""One event for each message: a teacher's context takes one hint at a place."""

from collections.abc import Iterable, Sequence

from codeenv.feedback.models import FeedbackEvent, Severity, Target

_ORDER: tuple[Severity, ...] = ("info", "warning", "error")


def merge_events(events: Iterable[FeedbackEvent]) -> tuple[FeedbackEvent, ...]:
    """Return at most one event for each of the agent's messages, in their order.

    Of several, the most severe one (of equals, the first) lends kind, source and severity; hints
    are joined; the target covers all of theirs, and is the message as a whole where they are parts
    of different texts, as those of two calls are.  ``evidence["merged"]`` holds the ids.
    """
    messages: dict[int, list[FeedbackEvent]] = {}
    for event in events:
        messages.setdefault(event.target.message, []).append(event)
    return tuple(_merged(messages[index]) for index in sorted(messages))


def _merged(events: Sequence[FeedbackEvent]) -> FeedbackEvent:
    if len(events) == 1:
        return events[0]
    worst = max(events, key=lambda event: _ORDER.index(event.severity))
    ids = [name for event in events for name in event.evidence.get("merged", [event.id])]
    hints = dict.fromkeys(event.hint.strip() for event in events)
    last = any(event.placement == "append_last" for event in events)
    return worst.model_copy(
        update={
            "target": _covering([event.target for event in events], worst.target),
            "evidence": {**worst.evidence, "merged": ids},
            "hint": " ".join(_sentence(hint) for hint in hints),
            "placement": "append_last" if last else "before_target",
            "privileged": any(event.privileged for event in events),
        }
    )


def _covering(targets: Sequence[Target], worst: Target) -> Target:
    first = targets[0]
    if any((t.message, t.call, t.part) != (first.message, first.call, first.part) for t in targets):
        return Target(message=worst.message, call=worst.call)
    chars = (min(t.chars[0] for t in targets), max(t.chars[1] for t in targets))
    return first.model_copy(update={"chars": chars})


def _sentence(hint: str) -> str:
    return hint if hint.endswith((".", "!", "?", ":", ")")) else f"{hint}."

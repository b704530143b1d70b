"""One event for each message, which says all that the several ones said."""

from hypothesis import given
from hypothesis import strategies as st

from codeenv.feedback import FeedbackEvent, Target, feedback_of, merge_events
from tests.feedback.talks import talk

SPANS = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted).map(tuple)
EVENTS = st.lists(
    st.builds(
        lambda turn, part, chars, severity, hint, privileged: (
            turn, part, chars, severity, hint, privileged
        ),
        st.integers(1, 4),
        st.sampled_from(["tool_name", "arguments", "message"]),
        SPANS,
        st.sampled_from(["info", "warning", "error"]),
        st.sampled_from(["look", "read.", "stop!"]),
        st.booleans(),
    )
).map(
    lambda rows: [
        FeedbackEvent(
            id=f"{turn}.{number}.style", kind="style", severity=severity, turn=turn, hint=hint,
            privileged=privileged,
            target=Target(
                message=2 * turn - 1, part=part, chars=(0, 0) if part == "message" else chars
            ),
        )
        for number, (turn, part, chars, severity, hint, privileged) in enumerate(rows)
    ]
)  # fmt: skip


@given(EVENTS)
def test_there_is_one_event_for_each_message_in_order(events):
    messages = [event.target.message for event in merge_events(events)]

    assert messages == sorted({event.target.message for event in events})


@given(EVENTS)
def test_merging_twice_is_merging_once(events):
    assert merge_events(merge_events(events)) == merge_events(events)


@given(EVENTS)
def test_nothing_that_was_said_is_lost(events):
    merged = {event.turn: event for event in merge_events(events)}
    order = ["info", "warning", "error"]
    for event in events:
        one = merged[event.turn]
        assert event.hint in one.hint
        assert event.id in one.evidence.get("merged", [one.id])
        assert order.index(one.severity) >= order.index(event.severity)
        assert one.privileged or not event.privileged
        if one.target.part == event.target.part:
            assert one.target.chars[0] <= event.target.chars[0]
            assert event.target.chars[1] <= one.target.chars[1]
        else:
            assert (one.target.part, one.target.chars) == ("message", (0, 0))


def test_a_hint_that_two_events_have_is_said_once():
    first = FeedbackEvent(
        id="1.1.style", kind="style", severity="info", turn=1, hint="look", target=Target(message=1)
    )
    second = first.model_copy(update={"id": "1.2.style"})

    assert merge_events([first, second])[0].hint == "look."


def test_two_calls_of_a_message_have_one_event_on_the_message():
    played = talk(
        ("", [(name, {}, "error[unknown_tool]: there is no such tool") for name in ("a", "b")])
    )
    found = feedback_of(played)
    (merged,) = merge_events(found)

    assert [(event.turn, event.target.call) for event in found] == [(1, 0), (2, 1)]
    assert (merged.target.message, merged.target.part, merged.target.chars) == (
        1, "message", (0, 0),
    )  # fmt: skip
    assert merged.evidence["merged"] == [event.id for event in found]

"""A judge adds events; nothing it does ends an episode."""

import pytest

from codeenv.feedback import FeedbackEvent, JudgeCase, Target, ask, feedback_of
from codeenv.trajectory import AgentInfo, Recorder


def case():
    recorder = Recorder(AgentInfo(name="a", version="1"), "t")
    recorder.instruct("do")
    recorder.call("nope", {}, "error[unknown_tool]: no", {})
    recorder.call("submit", {"message": "ok"}, "Submitted.", {})
    trajectory = recorder.finished(None)
    return JudgeCase(trajectory, feedback_of(trajectory))


def style(turn, message, **target):
    return FeedbackEvent(
        id="mine", kind="style", severity="info", turn=turn, hint="be brief",
        target=Target(message=message, **target), source="rule",
    )  # fmt: skip


def test_a_judges_events_are_its_own():
    opinion = ask(lambda _: [style(1, 1), style(1, 1, part="tool_name", chars=(0, 4))], case())

    assert [event.id for event in opinion.events] == ["1.2.style", "1.3.style"]
    assert {event.source for event in opinion.events} == {"judge"}
    assert opinion.error == ""


def test_a_judge_sees_the_episode_and_what_rules_say():
    def judge(given):
        assert [event.kind for event in given.events] == ["unknown_tool"]
        assert given.messages[3]["tool_calls"][0]["function"]["name"] == "submit"
        return []

    assert ask(judge, case()) == ask(lambda _: (), case())


def test_plain_data_is_taken_as_events():
    assert len(ask(lambda _: [style(2, 3).model_dump()], case()).events) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        style(1, 3),
        style(2, 2),
        style(3, 5),
        style(2, 3, call=1),
        style(2, 3, part="arguments", chars=(0, 99)),
        {"hint": "no event"},
        "no event",
    ],
    ids=str,
)
def test_what_points_at_nothing_is_left_out_and_told(wrong):
    opinion = ask(lambda _: [style(2, 3), wrong], case())

    assert len(opinion.events) == 1
    assert opinion.error == "no events of this episode: number 1"


def test_a_judge_that_fails_is_told():
    def judge(_):
        raise ValueError("no answer")

    assert ask(judge, case()).error == "ValueError: no answer"
    assert ask(lambda _: None, case()).error.startswith("TypeError")

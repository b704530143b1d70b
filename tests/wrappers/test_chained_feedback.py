"""Feedback over contexts that are cut: live and recorded it is the same, and pairs fit it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.env.fake import FakeRuntime, fake_task
from codeenv.errors import UsageError
from codeenv.feedback import (
    FeedbackEvent,
    Target,
    build_teacher_pair,
    feedback_of,
    message_pair,
    turns_of,
)
from codeenv.sandbox.base import ExecResult
from codeenv.trajectory import messages_of
from codeenv.wrappers import Feedback, LengthPenalty, SelfSummarize
from tests.feedback.talks import check
from tests.feedback.templates import CHATML, tokenizer_with
from tests.wrappers.conftest import BAD, LOOK, SOLVE, SUBMIT, fake_env, played

LOST = {"tool": "read_file", "arguments": {"path": "none.py"}}
TESTS = {"tool": "run_command", "arguments": {"command": "pytest -q"}}
HISTORY = {"tool": "run_command", "arguments": {"command": "git show HEAD~1:calc.py"}}
THOUGHT = {**LOOK, "reasoning": "hm " * 8_000}
TODO = "Done so far: nothing.\n- [ ] run the tests"
ASKED = "Write the summary that was asked for, as plain text."
RED = b"FAILED test_calc.py::test_add - assert\n=== 1 failed, 1 passed in 0.12s ===\n"
ACTIONS = st.lists(
    st.sampled_from(
        [LOOK, LOOK, THOUGHT, BAD, LOST, SOLVE, TESTS, HISTORY, SUBMIT, json.dumps(LOOK), "prose",
         {"summary": "s"}, TODO, "", None, 42, "\ud800", {"summary": TODO, "reasoning": "mm"}]
    ),
    max_size=25,
)  # fmt: skip


def runner(_box, command, _stdin):
    failed = "pytest" in str(command)
    return ExecResult(1, RED) if failed else ExecResult(0, b"ok\n")


def full(action):
    """Return an action that fills the context of ``cut``."""
    return {**action, "note": "FULL"}


def cut(*actions):
    """Play: each ``full`` action is followed by a request for a summary."""
    env = SelfSummarize(
        fake_env(FakeRuntime(runner), max_steps=12), 1, count=lambda text: 2 * ("FULL" in text)
    )
    return played(Feedback(env), actions)


def chained(trigger=50, most=8, steps=12, **options):
    env = SelfSummarize(fake_env(FakeRuntime(runner), max_steps=steps), trigger, max_segments=most)
    return Feedback(env, **options)


def told(steps):
    """Return the events of ``info["feedback"]``, in order."""
    return [event for step in steps for event in step[4]["feedback"]]


def kinds(steps):
    return [(event["turn"], event["kind"]) for event in told(steps)]


def written(trajectory):
    """Return the events that a trajectory holds, in order."""
    holders = [*(step.extra for step in trajectory.steps), trajectory.extra]
    return [event for extra in holders for event in (extra or {}).get("feedback", ())]


@settings(max_examples=150, deadline=None)
@given(ACTIONS, st.integers(1, 150), st.integers(1, 4))
def test_events_are_the_same_live_in_the_record_and_from_a_replay(actions, trigger, most):
    env = chained(trigger, most, monitor=False)
    steps = played(env, actions)
    trajectory = env.env.trajectory()

    replayed = [e.model_dump(mode="json") for e in feedback_of(trajectory, fake_task())]
    assert told(steps) == written(trajectory) == replayed
    assert [turn.number for turn in turns_of(trajectory)] == [*range(1, len(steps) + 1)]


@settings(max_examples=60, deadline=None)
@given(ACTIONS, st.integers(1, 150))
def test_every_event_makes_a_pair_of_its_own_contexts_messages(actions, trigger):
    tokenizer = tokenizer_with(CHATML)
    env = chained(trigger)
    steps = played(env, actions)
    trajectory = env.env.trajectory()
    contexts = [messages_of(segment) for segment in trajectory.segments()]

    for event in map(FeedbackEvent.model_validate, told(steps)):
        pair = message_pair(trajectory, event)
        whole = [*pair.student, pair.target]
        assert [whole] == [c[: len(whole)] for c in contexts if c[: len(whole)] == whole]
        check(build_teacher_pair(trajectory, event, tokenizer))


def test_a_mistake_behind_a_cut_is_told_at_its_turn_and_its_message():
    env = chained()
    steps = played(env, [LOOK, "saw add", BAD])
    (event,) = map(FeedbackEvent.model_validate, told(steps))
    pair = message_pair(env.env.trajectory(), event)

    assert (event.turn, event.kind) == (3, "unknown_tool")
    assert pair.target["tool_calls"][0]["function"]["name"] == "open_file"
    assert [m["content"].splitlines()[-1] for m in pair.student] == ["saw add"]


def test_what_was_read_or_failed_before_a_cut_is_not_spoken_of_behind_it():
    assert kinds(cut(LOOK, full(LOOK), "saw it", LOOK)) == [(2, "redundant_read")]
    assert kinds(cut(LOST, full(LOST), "lost", LOST)) == [
        (1, "path_not_found"),
        (2, "path_not_found"),
        (2, "repeated_failure"),
        (4, "path_not_found"),
    ]


def test_behind_a_cut_repetitions_are_told_again():
    steps = cut(full(LOOK), "saw it", LOOK, LOOK)

    assert kinds(steps) == [(4, "redundant_read")]
    assert "at turn 3" in told(steps)[0]["hint"]


def test_a_test_run_before_a_cut_counts_and_what_it_said_is_forgotten():
    wrong = {**SOLVE, "arguments": {**SOLVE["arguments"], "new_str": "return 0"}}

    assert kinds(cut(wrong, TESTS, SUBMIT)) == [(3, "premature_finish")]
    assert kinds(cut(wrong, full(TESTS), "tested", SUBMIT)) == []
    assert kinds(cut(TESTS, full(wrong), "did it", SUBMIT)) == [(4, "no_verify")]


def left(*actions):
    """Return the open items that events tell of."""
    found = [e for e in told(cut(*actions)) if e["kind"] == "todo_left"]
    return [event["evidence"]["items"] for event in found]


def test_a_list_in_a_file_stays_open_behind_a_cut():
    lists = {"path": "PLAN.md", "old_str": "", "new_str": "- [ ] in a file\n"}
    plan = {"tool": "edit_file", "arguments": lists}

    assert left(full(plan), "nothing left", SUBMIT) == [["in a file"]]


@pytest.mark.parametrize("action", [SOLVE, json.dumps(SOLVE), BAD, "", None])
def test_who_calls_a_tool_where_a_summary_is_due_is_told_what_was_wanted(action):
    env = chained()
    steps = played(env, [LOOK, action])
    (event,) = map(FeedbackEvent.model_validate, told(steps))
    pair = message_pair(env.env.trajectory(), event)

    assert (event.turn, event.kind, event.hint) == (2, "malformed_call", ASKED)
    assert (event.target.part, event.source) == ("message", "tool_error")
    assert pair.student[-1]["content"].startswith("The context is nearly full")
    assert steps[-1][4]["tool"]["error"] == "summary_due"
    assert steps[-1][4]["summarize"]
    if action in (SOLVE, json.dumps(SOLVE)):
        assert json.loads(pair.target["content"]) == SOLVE


def test_reads_that_went_well_are_no_failures_in_a_record():
    env = chained(10**6)
    played(env, [LOOK, SOLVE, LOOK, TESTS])
    trajectory = env.env.trajectory()

    assert [s.extra["tool"]["exit_code"] for s in trajectory.steps[1:]] == [None, None, None, 1]
    assert feedback_of(trajectory) == ()


def test_a_record_that_says_minus_one_had_no_exit_code():
    env = chained(10**6)
    played(env, [LOOK, LOOK])
    trajectory = env.env.trajectory()
    tool = {"name": "read_file", "ok": True, "error": "", "exit_code": -1}
    steps = [s.model_copy(update={"extra": {"tool": tool}}) for s in trajectory.steps[1:]]
    old = trajectory.model_copy(update={"steps": (trajectory.steps[0], *steps)})

    assert [event.kind for event in feedback_of(old)] == ["redundant_read"]
    assert [turn.exit_code for turn in turns_of(old)] == [None, None]


def test_the_last_mistake_is_told_where_the_last_context_is_full():
    steps = played(chained(50, most=1), [LOOK, LOOK])
    assert kinds(steps) == []

    steps = played(chained(1, most=1), [BAD])
    assert steps[-1][4]["reason"] == "context_exceeded"
    assert kinds(steps) == [(1, "unknown_tool")]


def test_monitor_and_judge_see_all_contexts():
    seen = []

    def judge(case):
        seen.append(case.messages)
        (summary,) = [turn for turn in turns_of(case.trajectory) if turn.content == "saw it"]
        return [
            FeedbackEvent(
                id="", kind="style", severity="info", turn=summary.number, hint="Name the files.",
                target=Target(message=summary.message),
            )
        ]  # fmt: skip

    env = chained(judge=judge)
    steps = played(env, [LOOK, "saw it", HISTORY, SUBMIT])
    trajectory = env.env.trajectory()

    assert kinds(steps) == [(3, "artefact_access"), (2, "style")]
    assert "judge_error" not in steps[-1][4]
    assert seen == [messages_of(trajectory)]
    late, style = map(FeedbackEvent.model_validate, told(steps))
    assert (
        message_pair(trajectory, late).target["tool_calls"][0]["function"]["arguments"]
        == (HISTORY["arguments"])
    )
    assert message_pair(trajectory, style).target["content"] == "saw it"


def test_feedback_and_rewards_go_around_summaries_in_any_order():
    with pytest.raises(UsageError, match="environment first") as raised:
        SelfSummarize(Feedback(fake_env()), 50)
    assert "Feedback" in raised.value.hint

    inner = SelfSummarize(fake_env(), 50)
    one, other = LengthPenalty(Feedback(inner)), Feedback(LengthPenalty(inner))
    actions = [LOOK, "saw it", BAD]
    assert kinds(played(one, actions)) == kinds(played(other, actions)) == [(3, "unknown_tool")]


def test_reasoning_of_a_running_episode_counts_as_it_does_in_its_record():
    env = chained(10**6)
    steps = played(env, [THOUGHT, {**SOLVE, "reasoning": "hm " * 8_000}, TESTS, SUBMIT])

    assert kinds(steps)[-1] == (2, "overthinking_easy")
    assert feedback_of(env.env.trajectory(), fake_task())[-1].turn == 2

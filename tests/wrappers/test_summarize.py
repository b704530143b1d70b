from itertools import pairwise

import pytest
from gymnasium.error import ResetNeeded
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.env.repo import TEXT_LENGTH
from codeenv.errors import UsageError
from codeenv.export import samples_of, turn_records
from codeenv.monitor import Monitor
from codeenv.trajectory import StepMetrics, messages_of, sealed, shared_advantages
from codeenv.wrappers import LengthPenalty, SelfSummarize
from codeenv.wrappers.summaries import summary_of
from codeenv.wrappers.summarize import PROMPT
from tests.wrappers.conftest import BAD, LOOK, SOLVE, SUBMIT, fake_env, played

ACTIONS = st.lists(
    st.sampled_from([LOOK, LOOK, BAD, SOLVE, SUBMIT, "prose", {"summary": "s"}]), max_size=25
)


def test_a_full_context_is_followed_by_a_request_for_a_summary():
    env = SelfSummarize(fake_env(), 50)
    (observation, reward, terminated, truncated, info), *_ = played(env, [LOOK])

    assert observation["text"].startswith("     1\tdef add")
    assert observation["text"].endswith(f"\n\n{PROMPT}")
    assert (observation["tool"], observation["is_error"]) == ("", 0)
    assert (reward, terminated, truncated, info["summarize"]) == (0.0, False, False, True)
    assert [m["role"] for m in info["context"]] == ["user", "assistant", "tool", "user"]
    assert info["context"][-1]["content"] == PROMPT


@pytest.mark.parametrize("action", ["saw add", {"summary": "saw add"}, '{"summary": "saw add"}'])
def test_a_summary_begins_a_new_context_with_the_instruction_and_itself(action):
    env = SelfSummarize(fake_env(), 50)
    _, (observation, *_, info) = played(env, [LOOK, action])

    assert observation["text"] == (
        "Bring `calc.add` back.\n\n\nYour summary of the work so far (number 1):\n\nsaw add"
    )
    assert info["context"] == [{"role": "user", "content": observation["text"]}]
    assert observation["step"] == 1
    assert info["segment"]["segment_id"] == 1
    assert info["segment"]["tokens_before"] > 50 > info["segment"]["tokens_after"]
    assert info["summarize"] is False


def test_work_goes_on_after_a_summary():
    env = SelfSummarize(fake_env(), 50)
    steps = played(env, [LOOK, "saw it", SOLVE, "did it", SUBMIT])

    assert (steps[-1][1], steps[-1][2]) == (1.0, True)
    assert steps[-1][4]["segment"]["segment_id"] == 2


def test_a_call_instead_of_a_summary_is_refused_and_costs_a_step():
    env = SelfSummarize(fake_env(max_steps=3), 50)
    steps = played(env, [LOOK, SOLVE, SOLVE, SUBMIT])

    assert [o["is_error"] for o, *_ in steps] == [0, 1, 1]
    assert [o["steps_left"] for o, *_ in steps] == [2, 1, 0]
    assert "summary is asked for" in steps[1][0]["text"]
    assert steps[1][4]["summarize"]
    assert (steps[-1][1], steps[-1][3], steps[-1][4]["reason"]) == (0.0, True, "max_steps")


@pytest.mark.parametrize("most", [1, 2])
def test_the_end_of_an_episode_is_not_followed_by_a_request(most):
    (observation, _, terminated, _, info), *_ = played(
        SelfSummarize(fake_env(), 1, max_segments=most), [SUBMIT]
    )

    assert (observation["text"], terminated) == ("Submitted.", True)
    assert (info["reason"], info["summarize"]) == ("submitted", False)


def test_a_summary_of_an_episode_that_is_over_is_not_taken():
    env = SelfSummarize(fake_env(max_steps=2), 50)
    *_, (*_, info) = played(env, [LOOK, SOLVE])
    assert (info["reason"], info["summarize"]) == ("max_steps", False)
    with pytest.raises(ResetNeeded):
        env.step("too late")

    played(env, [LOOK])
    env.close()
    with pytest.raises(ResetNeeded):
        env.step("too late")


def test_who_fills_the_last_context_is_cut_off_and_graded_all_the_same():
    env = SelfSummarize(fake_env(), 50, max_segments=2)
    *_, (_, reward, terminated, truncated, info) = played(env, [LOOK, "saw it", SOLVE, LOOK])

    assert (reward, terminated, truncated) == (1.0, False, True)
    assert (info["reason"], info["resolved"], info["reward_valid"]) == (
        "context_exceeded",
        True,
        True,
    )
    assert info["tool"]["name"] in ("edit_file", "read_file")


@settings(max_examples=60, deadline=None)
@given(ACTIONS, st.integers(1, 120), st.integers(1, 4))
def test_the_messages_of_the_segments_are_those_of_the_rollout(actions, trigger, most):
    env = SelfSummarize(fake_env(max_steps=8), trigger, max_segments=most)
    steps = played(env, actions)
    trajectory = env.trajectory()
    segments = trajectory.segments()

    sent = len(steps)
    sampled = [
        m
        for segment in segments
        for m, bit in zip(messages_of(segment), segment.mask, strict=True)
        if bit
    ]
    assert len(sampled) == sent
    assert sampled == [m for m in messages_of(trajectory) if m["role"] == "assistant"]
    assert len(segments) <= most
    assert [s.parent_segment for s in segments] == list(range(-1, len(segments) - 1))
    assert [s.n_copied for s in segments] == [0] + [1] * (len(segments) - 1)
    (advantages,) = shared_advantages([segments], [1.0], ["t"])
    assert len(advantages) == len(segments)
    assert sealed(trajectory.steps, trajectory.extra) == "intact"


@settings(max_examples=60, deadline=None)
@given(ACTIONS, st.integers(1, 120))
def test_what_a_model_was_shown_is_never_rewritten(actions, trigger):
    env = SelfSummarize(fake_env(max_steps=8), trigger)
    _, info = env.reset(seed=1)
    shown = [(0, info["context"])]
    for action in actions:
        *_, terminated, truncated, info = env.step(action)
        shown.append((info["segment"]["segment_id"], info["context"]))
        if terminated or truncated:
            break

    for (before, one), (after, other) in pairwise(shown):
        assert after in (before, before + 1)
        if after == before:
            assert other[: len(one)] == one
        else:
            assert len(other) == 1
    last = [m for s in env.trajectory().segments()[-1:] for m in messages_of(s)]
    assert last == shown[-1][1]


def test_a_caller_that_changes_its_context_changes_nobody_elses():
    env = SelfSummarize(fake_env(), 1000)
    _, info = env.reset(seed=1)
    info["context"][0]["content"] = "forged"
    *_, info = env.step(LOOK)

    assert info["context"][0]["content"] == "Bring `calc.add` back.\n"


def test_the_trajectory_tells_outcome_and_rewards():
    env = SelfSummarize(fake_env(), 50, agent="me")
    played(env, [SOLVE, "did it", SUBMIT])
    trajectory = env.trajectory({"rollout": 3})

    assert trajectory.agent.name == "me"
    assert (trajectory.extra["outcome"]["reward"], trajectory.extra["rollout"]) == (1.0, 3)
    assert trajectory.steps[-1].extra["reward"] == 1.0
    assert [s.extra["summary"] for s in trajectory.steps if "summary" in (s.extra or {})] == [True]


def test_what_is_a_summary_and_what_is_not():
    assert summary_of("text") == "text"
    assert summary_of("\ud800") == "?"
    assert summary_of('{"odd": 1}') == '{"odd": 1}'
    for wrong in ("", "  ", {"summary": 3}, None, b"x", LOOK, {**LOOK, "summary": "x"}):
        assert summary_of(wrong) is None


def test_a_summary_beyond_what_an_observation_holds_is_refused():
    env = SelfSummarize(fake_env(), 50)
    _, (observation, *_, info) = played(env, [LOOK, "x" * TEXT_LENGTH])

    assert (observation["is_error"], info["summarize"]) == (1, True)
    assert observation in env.observation_space


def test_the_action_space_holds_calls_and_summaries():
    space = SelfSummarize(fake_env(), 50).action_space
    space.seed(3)
    drawn = [space.sample() for _ in range(200)]
    space.seed(3)

    assert drawn == [space.sample() for _ in range(200)]
    assert all(action in space for action in drawn)
    assert 0 < sum("summary" in action for action in drawn) < 100
    assert "a summary" in space
    assert {"summary": ""} not in space
    assert b"" not in space


def test_penalties_go_around_it_so_that_they_see_summaries():
    with pytest.raises(UsageError, match="environment first"):
        SelfSummarize(LengthPenalty(fake_env()), 50)

    env = LengthPenalty(SelfSummarize(fake_env(), 50), count=len)
    *_, last = played(env, [SOLVE, "did it", SUBMIT])
    assert last[4]["effort"]["turns"] == 3
    assert last[4]["effort"]["calls"] == 2


@pytest.mark.parametrize("wrong", [{"trigger_tokens": 0}, {"trigger_tokens": 9, "max_segments": 0}])
def test_limits_that_leave_no_room_are_refused(wrong):
    with pytest.raises(UsageError, match="at least 1"):
        SelfSummarize(fake_env(), **wrong)


def test_a_monitor_reads_a_chained_trajectory():
    env = SelfSummarize(fake_env(), 50)
    played(env, [LOOK, "saw it", SOLVE, "did it", SUBMIT])

    assert Monitor().examine(env.trajectory()).findings == ()


def test_every_segment_has_the_samples_of_its_turns_its_summary_among_them():
    env = SelfSummarize(fake_env(), 50)
    env.reset(seed=1)
    prompts = [[1, 2], [1, 2, 10, 20, 3], [7], [7, 12, 22, 8]]
    for number, action in enumerate([LOOK, "saw it", SOLVE, "did it"]):
        ids = [10 + number, 20 + number]
        made = {"prompt_token_ids": prompts[number], "completion_token_ids": ids}
        env.sampled(StepMetrics(**made, logprobs=[-0.5, -1.0]))
        env.step(action)
    env.step(SUBMIT)  # nobody said how it was sampled

    first, second, third = env.trajectory().segments()
    (sample,) = samples_of(turn_records(first.steps))
    assert (sample.ids, sample.mask) == ([1, 2, 10, 20, 3, 11, 21], [0, 0, 1, 1, 0, 1, 1])
    (sample,) = samples_of(turn_records(second.steps))
    assert (sample.ids, sample.logprobs) == ([7, 12, 22, 8, 13, 23], [0, -0.5, -1, 0, -0.5, -1])
    assert samples_of(turn_records(third.steps)) == []


@pytest.mark.parametrize("before", [[], [LOOK], [LOOK, "saw it"], [LOOK, "saw it", BAD]])
def test_a_fork_goes_on_in_the_same_context(before):
    env = SelfSummarize(fake_env(), 50)
    env.reset(seed=1)
    for action in before:
        env.step(action)
    other = env.fork()
    rest = ["seen", SOLVE, "did it", SUBMIT]

    assert [*_until_over(other, rest)] == [*_until_over(env, rest)]
    assert _said(other) == _said(env)
    assert other.reset(seed=2) == env.reset(seed=2)


def test_what_one_branch_does_the_other_does_not_see():
    env = SelfSummarize(fake_env(), 10**6)
    env.reset(seed=1)
    other = env.fork()
    other.step(BAD)

    assert len(other.trajectory().steps) == len(env.trajectory().steps) + 1


def _until_over(env, actions):
    for action in actions:
        yield (step := env.step(action))
        if step[2]:
            break


def _said(env):
    return [(step.source, step.message, step.extra) for step in env.trajectory().steps]

import math

import gymnasium
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.env.fake import FakeRuntime
from codeenv.errors import UsageError
from codeenv.wrappers import (
    BehaviourReward,
    Component,
    LengthCost,
    LengthPenalty,
    TurnPenalty,
    format_component,
    length_component,
)
from tests.wrappers.conftest import BAD, LOOK, SOLVE, SUBMIT, fake_env, played, stacked

ACTIONS = st.lists(
    st.sampled_from([LOOK, BAD, SOLVE, SUBMIT, "prose", {"summary": "so far"}]), max_size=12
)


def polite(view):
    """A style that likes short actions and looks at how it ended."""
    return 1.0 / len(view.actions) if view.outcome["resolved"] else 0.0


def test_every_component_is_told_raw_and_weighted_beside_the_tests():
    env = BehaviourReward(
        fake_env(), {"format": format_component(0.1), "style": Component(0.2, polite)}
    )
    *_, (_, reward, _, _, info) = played(env, [BAD, LOOK, SOLVE, SUBMIT])

    assert info["reward_components"] == {"format": 0.75, "style": 0.25}
    assert info["reward_parts"] == {"tests": 1.0, "format": 0.1 * 0.75, "style": 0.2 * 0.25}
    assert info["tests_reward"] == 1.0
    assert reward == sum(info["reward_parts"].values())


def test_who_does_not_solve_the_task_is_not_paid_for_good_form():
    env = BehaviourReward(fake_env(), {"format": format_component(0.1)})
    quit_at_once, tried = played(env, [SUBMIT])[-1], played(env, [BAD, LOOK, SUBMIT])[-1]

    assert quit_at_once[1] == tried[1] == 0.0
    assert tried[4]["reward_components"] == {"format": pytest.approx(2 / 3)}


def test_length_as_a_component_is_the_length_penalty():
    one = BehaviourReward(fake_env(), {"length": length_component(LengthCost(max_steps=6))})
    other = LengthPenalty(fake_env())
    for actions in ([LOOK, SOLVE, SUBMIT], [LOOK, SUBMIT]):
        assert played(one, actions)[-1][1] == played(other, actions)[-1][1]


@given(ACTIONS)
def test_the_parts_of_a_reward_are_the_reward(actions):
    env = stacked(fake_env(), trigger=30, segments=3)

    for _, reward, terminated, truncated, info in played(env, actions):
        assert sum(info["reward_parts"].values()) == reward
        assert set(info["reward_parts"]) == {"tests", "turn", "format", "length"}
        if not (terminated or truncated):
            assert info["tests_reward"] == info["reward_parts"]["format"] == 0.0
        else:
            assert info["tests_reward"] == float(info["resolved"])


def test_a_view_shows_the_whole_episode():
    seen = []

    def watch(view):
        seen.append(view)
        return 0.0

    played(BehaviourReward(fake_env(), {"watch": Component(0.1, watch)}), [LOOK, SUBMIT])
    (view,) = seen

    assert view.instruction == "Bring `calc.add` back.\n"
    assert view.actions == (LOOK, SUBMIT)
    assert [o["tool"] for o in view.observations] == ["read_file", "submit"]
    assert (view.outcome["reason"], view.reward) == ("submitted", 0.0)
    assert view.effort().turns == 2


def test_a_component_that_fails_or_leaves_its_range_is_an_error():
    def broken(view):
        raise KeyError("oops")

    wrong = (
        (broken, "'style' failed: KeyError"),
        (lambda view: math.nan, "gave nan"),
        (lambda view: 1.5, r"gave 1.5, which is not in \[0.0, 1.0\]"),
    )
    for score, told in wrong:
        with pytest.raises(UsageError, match=told):
            played(BehaviourReward(fake_env(), {"style": Component(0.5, score)}), [SUBMIT])


def test_a_name_stands_for_one_part_only():
    with pytest.raises(UsageError, match="'tests'"):
        BehaviourReward(fake_env(), {"tests": format_component(0.1)})
    with pytest.raises(UsageError, match="'length'"):
        BehaviourReward(LengthPenalty(fake_env()), {"length": length_component()})
    with pytest.raises(UsageError, match="'turn'"):
        TurnPenalty(LengthPenalty(TurnPenalty(fake_env(), 0.1)), 0.1)
    with pytest.raises(UsageError, match="weight of 'a'"):
        BehaviourReward(fake_env(), {"a": Component(math.inf, polite)})


def test_a_reward_that_something_in_between_changed_is_an_error():
    for inner in (LengthPenalty(fake_env()), fake_env()):
        changed = gymnasium.wrappers.TransformReward(inner, lambda reward: reward + 1)
        with pytest.raises(UsageError, match="in between"):
            played(TurnPenalty(changed, 0.1), [LOOK])


def test_nothing_is_scored_where_the_reward_is_not_valid():
    def never(view):
        raise AssertionError("scored")

    runtime = FakeRuntime()
    style = {"style": Component(0.1, never)}
    env = TurnPenalty(BehaviourReward(fake_env(runtime), style), 0.5)
    runtime.grader_failures = 1
    *_, (_, reward, _, _, info) = played(env, [SOLVE, SUBMIT])

    assert (reward, info["reward_valid"]) == (0.0, False)
    assert info["reward_parts"] == {"tests": 0.0, "style": 0.0, "turn": 0.0}
    assert "reward_components" not in info


def test_a_flagged_turn_pays_at_once_and_the_end_lists_all_turns():
    steps = played(TurnPenalty(fake_env(), 0.25), [LOOK, BAD, "prose", SOLVE, SUBMIT])

    assert [reward for _, reward, *_ in steps] == [0.0, -0.25, -0.25, 0.0, 1.0]
    assert steps[-1][4]["turn_rewards"] == [0.0, -0.25, -0.25, 0.0, 0.0]
    assert "turn_rewards" not in steps[1][4]


def test_mistakes_of_an_episode_cost_no_more_than_the_cap_and_are_all_listed():
    env = TurnPenalty(fake_env(max_steps=30), 0.2, cap=0.5)
    for _ in range(2):  # the cap is of each episode
        steps = played(env, [BAD] * 12 + [SOLVE, SUBMIT])

        paid = [step[1] for step in steps]
        assert paid[:4] == [-0.2, -0.2, pytest.approx(-0.1), 0.0]
        assert sum(paid) == pytest.approx(0.5)
        assert steps[-1][4]["turn_rewards"] == [-0.2] * 12 + [0.0, 0.0]


def test_turn_rewards_are_zeros_where_nothing_is_flagged():
    env = TurnPenalty(fake_env(), 1.0, flagged=lambda info: False)

    assert played(env, [BAD, SUBMIT])[-1][4]["turn_rewards"] == [0.0, 0.0]


def test_a_turn_without_a_valid_reward_costs_nothing():
    runtime = FakeRuntime()
    runtime.grader_failures = 1
    env = TurnPenalty(fake_env(runtime), 0.1, flagged=lambda info: True)

    assert [step[1] for step in played(env, [LOOK, SUBMIT])] == [-0.1, 0.0]


@pytest.mark.parametrize("penalty", [-0.1, math.nan])
def test_a_penalty_that_would_pay_is_refused(penalty):
    with pytest.raises(UsageError, match="at least 0"):
        TurnPenalty(fake_env(), penalty)
    with pytest.raises(UsageError, match="at least 0"):
        TurnPenalty(fake_env(), 0.1, cap=penalty)

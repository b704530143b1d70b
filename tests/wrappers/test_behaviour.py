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

    played(BehaviourReward(fake_env(), {"watch": Component(1.0, watch)}), [LOOK, SUBMIT])
    (view,) = seen

    assert view.instruction == "Bring `calc.add` back.\n"
    assert view.actions == (LOOK, SUBMIT)
    assert [o["tool"] for o in view.observations] == ["read_file", "submit"]
    assert (view.outcome["reason"], view.reward) == ("submitted", 0.0)
    assert view.effort().turns == 2


def test_a_component_that_fails_or_gives_no_number_is_an_error():
    def broken(view):
        raise KeyError("oops")

    for score, told in ((broken, "'style' failed: KeyError"), (lambda view: math.nan, "gave nan")):
        with pytest.raises(UsageError, match=told):
            played(BehaviourReward(fake_env(), {"style": Component(1.0, score)}), [SUBMIT])


def test_a_name_stands_for_one_part_only():
    with pytest.raises(UsageError, match="'tests'"):
        BehaviourReward(fake_env(), {"tests": format_component(1.0)})
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
    env = TurnPenalty(BehaviourReward(fake_env(runtime), {"style": Component(1.0, never)}), 0.5)
    runtime.grader_failures = 1
    *_, (_, reward, _, _, info) = played(env, [SOLVE, SUBMIT])

    assert (reward, info["reward_valid"]) == (0.0, False)
    assert info["reward_parts"] == {"tests": 0.0, "style": 0.0, "turn": 0.0}
    assert "reward_components" not in info


def test_a_flagged_turn_pays_at_once_and_the_end_lists_all_turns():
    steps = played(TurnPenalty(fake_env(), 0.5), [LOOK, BAD, "prose", SOLVE, SUBMIT])

    assert [reward for _, reward, *_ in steps] == [0.0, -0.5, -0.5, 0.0, 1.0]
    assert steps[-1][4]["turn_rewards"] == [0.0, -0.5, -0.5, 0.0, 0.0]
    assert "turn_rewards" not in steps[1][4]


def test_turn_rewards_are_zeros_where_nothing_is_flagged():
    env = TurnPenalty(fake_env(), 1.0, flagged=lambda info: False)

    assert played(env, [BAD, SUBMIT])[-1][4]["turn_rewards"] == [0.0, 0.0]


def test_a_turn_without_a_valid_reward_costs_nothing():
    runtime = FakeRuntime()
    runtime.grader_failures = 1
    env = TurnPenalty(fake_env(runtime), 1.0, flagged=lambda info: True)

    assert [step[1] for step in played(env, [LOOK, SUBMIT])] == [-1.0, 0.0]


@pytest.mark.parametrize("penalty", [-0.1, math.nan])
def test_a_penalty_that_would_pay_is_refused(penalty):
    with pytest.raises(UsageError, match="at least 0"):
        TurnPenalty(fake_env(), penalty)

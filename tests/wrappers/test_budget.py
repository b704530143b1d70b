"""No stack of wrappers makes a solution worth less than anything else."""

import gymnasium
import pytest
from gymnasium.wrappers import TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.env.fake import FakeRuntime
from codeenv.errors import UsageError
from codeenv.wrappers import (
    BehaviourReward,
    Component,
    EffortWeights,
    Feedback,
    LengthCost,
    LengthPenalty,
    SelfSummarize,
    TurnPenalty,
    format_component,
    length_component,
)
from tests.wrappers.conftest import BAD, LOOK, SOLVE, SUBMIT, fake_env, played, stacked

HUGE = {"tool": "run_command", "arguments": {"command": "x" * 9_000}}
ACTIONS = st.lists(st.sampled_from([LOOK, BAD, BAD, SOLVE, HUGE, "prose"]), max_size=14)
SHARE = st.sampled_from([0.0, 0.1, 0.3, 0.45, 0.7, 0.9])
SIGNED = st.one_of(SHARE, SHARE.map(lambda x: -x))
WEIGHTS = st.builds(EffortWeights, call=st.floats(0, 1e6), per_turn=st.floats(0, 1e6))


def first_action(view):
    """A style that only looks at how the episode began, and punishes what looks at files."""
    return {"read_file": -1.0, "submit": 1.0}.get(view.observations[0]["tool"], 0.0)


@st.composite
def components(draw):
    """Components of every kind, their names apart."""
    only = draw(st.booleans())
    cost = LengthCost(w=draw(st.floats(0, 0.15)))
    found = {
        "format": format_component(draw(SIGNED)),
        "long": length_component(cost, only_if_solved=only),
        "style": Component(draw(SIGNED), first_action, low=-1.0, only_if_solved=only),
    }
    return {name: found[name] for name in draw(st.sets(st.sampled_from(sorted(found))))}


def lengths(env, draw):
    return LengthPenalty(
        env, draw(st.floats(0, 0.3)), weights=draw(WEIGHTS), only_if_solved=draw(st.booleans())
    )


def turns(env, draw):
    return TurnPenalty(env, draw(st.sampled_from([0.0, 0.05, 0.5, 2.0])), cap=draw(SHARE))


def behaviours(env, draw):
    return BehaviourReward(env, draw(components()))


@st.composite
def stacks(draw):
    """An environment in some of the wrappers, in any order; None where the stack is refused."""
    env = fake_env(max_steps=16)
    if draw(st.booleans()):
        env = SelfSummarize(env, 60, max_segments=99)
    kinds = draw(st.lists(st.sampled_from([lengths, turns, behaviours]), unique=True))
    try:
        for wrap in kinds:
            env = wrap(env, draw)
    except UsageError:
        return None
    return env


@settings(deadline=None, max_examples=100)
@given(stacks(), st.lists(ACTIONS, max_size=2))
def test_every_solved_episode_is_paid_more_than_any_other(env, episodes):
    if env is None:
        return
    paid = {True: [], False: []}
    for actions in [[], [BAD] * 14, [SOLVE], [LOOK, SOLVE, HUGE, *[BAD] * 11], *episodes]:
        steps = played(env, [*actions, SUBMIT])
        for _ in range(20):  # a summary may have been asked for instead
            if steps[-1][2] or steps[-1][3]:
                break
            steps.append(env.step(SUBMIT if not steps[-1][4].get("summarize") else "so far"))
        paid[steps[-1][4]["resolved"]].append(sum(step[1] for step in steps))

    assert paid[True]
    assert paid[False]
    assert min(paid[True]) > max(paid[False])


def test_the_usual_settings_leave_room_for_each_other():
    cost = {"length of all": length_component()}
    env = TurnPenalty(BehaviourReward(LengthPenalty(fake_env()), cost), 0.1)

    assert 0.9 < env.stake < 1


def test_a_stack_that_takes_all_a_solution_is_worth_is_refused_though_each_part_takes_less():
    half = TurnPenalty(fake_env(), 0.1, cap=0.6)
    with pytest.raises(UsageError, match=r"0\.5 of BehaviourReward and 0\.6 of what"):
        BehaviourReward(half, {"style": Component(0.5, first_action)})
    with pytest.raises(UsageError, match="all that a solved task is worth"):
        BehaviourReward(fake_env(), {"style": Component(0.6, first_action, low=-1.0)})
    with pytest.raises(UsageError, match="LengthPenalty"):
        LengthPenalty(TurnPenalty(fake_env(), 0.1, cap=0.8))


def play(env, actions):
    return [step[1:] for step in map(env.step, actions)]


@pytest.mark.parametrize("first", [[], [BAD, LOOK]])
def test_a_fork_keeps_the_wrappers_and_what_they_know(first):
    env = gymnasium.make("CodeRepo-v0", runtime=FakeRuntime(), max_steps=9)
    env = BehaviourReward(TurnPenalty(env, 0.3), {"format": format_component(0.1)})
    env = LengthPenalty(env)
    env.reset(seed=1)
    play(env, first)
    fork = env.get_wrapper_attr("fork")()
    rest = [BAD, SOLVE, SUBMIT]

    assert str(fork) == "<LengthPenalty<BehaviourReward<TurnPenalty<CodeRepoEnv instance>>>>"
    assert play(fork, rest) == play(env, rest)
    assert fork.stake == env.stake
    assert fork.reset(seed=1) == env.reset(seed=1)


def test_feedback_and_rewards_fork_around_each_other():
    for env in (Feedback(TurnPenalty(fake_env(), 0.1)), TurnPenalty(Feedback(fake_env()), 0.1)):
        env.reset(seed=1)
        play(env, [BAD])
        fork = env.fork()
        assert str(fork) == str(env)
        assert play(fork, [SUBMIT])[0][3]["turn_rewards"] == [-0.1, 0.0]


def test_what_cannot_fork_says_so():
    env = TurnPenalty(TimeLimit(fake_env(), 5), 0.1)
    env.reset(seed=1)
    with pytest.raises(UsageError, match="TimeLimit cannot fork"):
        env.fork()


def test_the_whole_stack_forks():
    env = Feedback(stacked(fake_env()))
    env.reset(seed=1)
    env.step(BAD)
    fork = env.get_wrapper_attr("fork")()

    assert str(fork) == str(env)
    assert play(fork, [SOLVE, SUBMIT]) == play(env, [SOLVE, SUBMIT])

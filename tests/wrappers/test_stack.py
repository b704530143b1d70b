"""What Gymnasium asks of a wrapped environment, in memory and in real boxes."""

import pickle
import subprocess
import sys

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from codeenv import wrappers
from codeenv.env.fake import FakeRuntime
from codeenv.wrappers import (
    BehaviourReward,
    LengthPenalty,
    SelfSummarize,
    TurnPenalty,
    format_component,
    length_component,
)
from codeenv_harness.agents.oracle import solution_calls
from tests.wrappers.conftest import BAD, LOOK, SOLVE, SUBMIT, fake_env, played, stacked


def summarising(env):
    """A context that is full after each action."""
    return SelfSummarize(env, 1, max_segments=5)


def behaving(env):
    return BehaviourReward(env, {"format": format_component(0.1), "length": length_component()})


def penalising(env):
    return TurnPenalty(env, 0.5)


WRAPPERS = [LengthPenalty, behaving, penalising, summarising, stacked]
REAL = ["local", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)]
as_wrapped = pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
"""The checker notes that it was given a wrapped environment, which is what is checked here."""


@as_wrapped
@pytest.mark.parametrize("wrap", WRAPPERS)
def test_the_checker_has_nothing_to_say(wrap):
    env = wrap(gymnasium.make("CodeRepo-v0", runtime=FakeRuntime(), render_mode="ansi"))

    check_env(env)

    env.close()


@as_wrapped
@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("backend", REAL)
def test_the_checker_has_nothing_to_say_in_real_boxes(wrap, backend):
    env = wrap(gymnasium.make("CodeRepo-v0", backend=backend))

    check_env(env)

    env.close()


@pytest.mark.bubblewrap
def test_an_oracle_that_sums_up_is_paid_for_the_tests_and_told_of_the_rest():
    with stacked(gymnasium.make("CodeRepo-v0", backend="bubblewrap"), 300) as env:
        env.reset(seed=1)
        calls = iter(list(solution_calls(env.unwrapped.episode.task)))
        info, ended = {"summarize": False}, False
        while not ended:
            action = "it is read" if info["summarize"] else next(calls)
            _, reward, ended, _, info = env.step(action)

    assert info["tests_reward"] == info["reward_parts"]["tests"] == 1.0
    assert -0.5 < info["reward_parts"]["length"] < 0.0
    assert (info["reward_parts"]["turn"], info["reward_parts"]["format"]) == (0.0, 0.1)
    assert reward == sum(info["reward_parts"].values())
    assert info["segment"]["segment_id"] >= 1


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_copy_by_pickle_plays_as_its_origin_does(wrap):
    env = wrap(gymnasium.make("CodeRepo-v0", runtime=FakeRuntime(), max_steps=6))
    actions = [LOOK, "so far", BAD, "so far", SOLVE, "so far", SUBMIT]
    env.reset(seed=1)
    env.step(LOOK)  # what is under way does not travel
    copy = pickle.loads(pickle.dumps(env))

    with pytest.raises(gymnasium.error.ResetNeeded):
        copy.step("so far")
    assert played(copy, actions) == played(env, actions)
    assert copy.action_space == env.action_space


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_the_spec_makes_the_wrappers_again(wrap):
    env = wrap(gymnasium.make("CodeRepo-v0", runtime=FakeRuntime(), max_steps=6))
    again = env.spec.make()

    assert str(again) == str(env)
    assert played(again, [LOOK, "so far", SUBMIT]) == played(env, [LOOK, "so far", SUBMIT])


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_closing_twice_is_closing_once(wrap):
    env = wrap(fake_env())
    played(env, [LOOK, "so far", SUBMIT])
    env.close()
    env.close()


def test_the_stock_batch_takes_wrappers():
    envs = gymnasium.make_vec(
        "CodeRepo-v0",
        2,
        vectorization_mode="sync",
        wrappers=[lambda env: stacked(env, 50)],
        runtime=FakeRuntime(),
    )
    assert isinstance(envs, SyncVectorEnv)
    envs.reset(seed=0)
    envs.step((LOOK, BAD))
    observations, *_, infos = envs.step(("so far", SUBMIT))

    assert observations["text"][0].endswith("so far")
    assert infos["segment"]["segment_id"].tolist() == [1, 0]
    assert infos["reward_parts"]["turn"].tolist() == [0.0, 0.0]
    envs.close()


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_the_stock_batch_of_processes_takes_wrappers(context):
    envs = gymnasium.make_vec(
        "codeenv:CodeRepo-v0",
        2,
        vectorization_mode="async",
        vector_kwargs={"shared_memory": False, "context": context},
        wrappers=[stacked],
        backend="local",
    )
    try:
        envs.reset(seed=0)
        _, rewards, terminated, _, infos = envs.step((BAD, SUBMIT))
    finally:
        envs.close()

    assert rewards.tolist() == [-0.25, 0.0]
    assert terminated.tolist() == [False, True]
    assert infos["reward_parts"]["turn"].tolist() == [-0.25, 0.0]


def test_importing_codeenv_loads_no_wrapper():
    program = "import sys, codeenv; sys.exit('codeenv.wrappers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)

    assert done.returncode == 0


def test_every_wrapper_can_be_had_by_its_name():
    for name in dir(wrappers):
        assert getattr(wrappers, name) is not None
    with pytest.raises(AttributeError, match="no_such"):
        _ = wrappers.no_such

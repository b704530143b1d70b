"""What Gymnasium asks of an environment, on tasks in memory."""

import copy

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

import codeenv
from codeenv.env.fake import FakeRuntime
from codeenv.env.vector import CodeRepoVectorEnv
from tests.env.actions import LOOK, SOLVE

SUBMIT = {"tool": "submit", "arguments": {}}


def test_the_checker_has_nothing_to_say(folder):
    env = gymnasium.make("CodeRepo-v0", tasks=folder, runtime=FakeRuntime(), render_mode="ansi")

    check_env(env.unwrapped)

    env.close()


def test_make_adds_no_step_limit_of_its_own(folder):
    env = gymnasium.make("codeenv:CodeRepo-v0", tasks=folder, runtime=FakeRuntime(), max_steps=2)
    env.reset(seed=0)
    env.step("gibberish")
    *_, terminated, truncated, info = env.step("gibberish")

    assert env.spec.max_episode_steps is None
    assert (terminated, truncated, info["reason"]) == (False, True, "max_steps")


def test_what_a_limit_of_gymnasiums_own_cut_off_can_be_graded(folder):
    env = gymnasium.make(
        "CodeRepo-v0", tasks=folder, runtime=FakeRuntime(), max_steps=9, max_episode_steps=2
    )
    env.reset(seed=0)
    env.step(SOLVE)
    *_, terminated, truncated, info = env.step(LOOK)

    assert (terminated, truncated, info.get("reason")) == (False, True, None)
    _, reward, _, truncated, info = env.unwrapped.finish("max_steps")
    assert (reward, truncated, info["reason"], info["resolved"]) == (1.0, True, "max_steps", True)


def test_the_spec_survives_json_and_copies():
    spec = gymnasium.spec("CodeRepo-v0")

    again = EnvSpec.from_json(spec.to_json())

    assert again.entry_point == spec.entry_point == "codeenv.env.repo:CodeRepoEnv"
    assert again.vector_entry_point == "codeenv.env.vector:CodeRepoVectorEnv"
    assert copy.deepcopy(spec).id == "CodeRepo-v0"


def test_stepping_before_a_reset_needs_one(folder):
    env = gymnasium.make("CodeRepo-v0", tasks=folder, runtime=FakeRuntime())
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(LOOK)


def test_make_vec_takes_our_own_batch(folder):
    envs = gymnasium.make_vec("CodeRepo-v0", num_envs=2, tasks=folder, runtime=FakeRuntime())

    assert isinstance(envs, CodeRepoVectorEnv)
    assert envs.spec.id == "CodeRepo-v0"
    envs.reset(seed=0)
    *_, terminated, _, _ = envs.step((SUBMIT, LOOK))
    assert terminated.tolist() == [True, False]
    envs.close()


def test_our_own_batch_gives_what_the_stock_one_gives(folder):
    own = gymnasium.make_vec("CodeRepo-v0", num_envs=3, tasks=folder, runtime=FakeRuntime())
    stock = gymnasium.make_vec(
        "CodeRepo-v0", num_envs=3, vectorization_mode="sync", tasks=folder, runtime=FakeRuntime()
    )
    assert isinstance(stock, SyncVectorEnv)
    actions = [(LOOK, SUBMIT, "gibberish"), (LOOK, LOOK, LOOK), (SUBMIT, LOOK, SUBMIT)]

    same(own.reset(seed=7), stock.reset(seed=7))
    for action in actions:
        same(own.step(action), stock.step(action))
    own.close()
    stock.close()


def test_public_names_load_when_they_are_used():
    assert codeenv.CodeRepoEnv.__name__ == "CodeRepoEnv"
    assert set(codeenv.__all__) <= {*dir(codeenv), *codeenv._LAZY}


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, tuple | list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            same(left, right)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    else:
        assert one == other

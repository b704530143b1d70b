"""The bundled toy suite in real boxes, by Gymnasium's own ways."""

import threading

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import codeenv
from codeenv.env.vector import CodeRepoVectorEnv
from codeenv_harness.agents.oracle import solution_calls

SUBMIT = {"tool": "submit", "arguments": {}}
LOOK = {"tool": "read_file", "arguments": {"path": "."}}
BACKENDS = ["local", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)]


@pytest.fixture(params=BACKENDS)
def backend(request):
    return request.param


def test_the_checker_has_nothing_to_say(backend):
    env = gymnasium.make("CodeRepo-v0", backend=backend)

    check_env(env.unwrapped)

    env.close()


def test_the_oracle_is_paid_and_nothing_is_not(backend):
    with gymnasium.make("codeenv:CodeRepo-v0", backend=backend) as env:
        _, info = env.reset(seed=1)
        task_id = info["task_id"]
        *_, terminated, _, info = env.step(SUBMIT)
        assert (terminated, info["resolved"], info["reward_valid"]) == (True, False, True)

        env.reset(options={"task_id": task_id})
        rewards = [env.step(call)[1] for call in solution_calls(env.unwrapped.episode.task)]
        assert rewards[-1] == 1.0
        assert not any(rewards[:-1])


def test_a_branch_may_solve_what_its_origin_does_not(backend):
    with gymnasium.make("CodeRepo-v0", backend=backend) as env:
        env.reset(seed=1)
        first, *rest = solution_calls(env.unwrapped.episode.task)
        env.step(first)
        branch = env.unwrapped.fork()
        try:
            assert [branch.step(call)[1] for call in rest][-1] == 1.0
        finally:
            branch.close()
        assert env.step(SUBMIT)[1] == (1.0 if len(rest) == 1 else 0.0)


def test_the_same_actions_give_the_same_observations(backend):
    def played():
        with gymnasium.make("CodeRepo-v0", backend=backend) as env:
            env.action_space.seed(5)
            seen = [env.reset(seed=5)]
            while not (len(seen) > 1 and (seen[-1][2] or seen[-1][3])) and len(seen) < 15:
                seen.append(env.step(env.action_space.sample()))
            return seen

    assert played() == played()


def test_our_own_batch_plays(backend):
    envs = gymnasium.make_vec("CodeRepo-v0", num_envs=2, backend=backend)
    assert isinstance(envs, CodeRepoVectorEnv)

    play(envs)


def test_the_stock_batch_plays():
    play(gymnasium.make_vec("CodeRepo-v0", 2, vectorization_mode="sync", backend="local"))


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_the_stock_batch_of_processes_plays(context):
    play(
        gymnasium.make_vec(
            "codeenv:CodeRepo-v0",
            2,
            vectorization_mode="async",
            vector_kwargs={"shared_memory": False, "context": context},
            backend="local",
        )
    )


def play(envs):
    try:
        observations, infos = envs.reset(seed=0)
        assert all(observations["text"])
        assert set(infos["task_id"]) <= set(codeenv.Taskset.load("toy").ids)
        _, rewards, terminated, truncated, infos = envs.step((LOOK, SUBMIT))
        assert (rewards.tolist(), truncated.tolist()) == ([0.0, 0.0], [False, False])
        assert terminated.tolist() == [False, True]
        assert infos["reward_valid"].tolist() == [True, True]
        assert envs.step((LOOK, LOOK))[0]["step"].tolist() == [2, 0]
    finally:
        envs.close()


def test_closing_under_a_running_step_does_not_wait_for_it(backend):
    envs = gymnasium.make_vec("CodeRepo-v0", num_envs=2, backend=backend)
    envs.reset(seed=0)
    sleep = {"tool": "run_command", "arguments": {"command": "sleep 300", "timeout": 300}}
    seen = []
    stepping = threading.Thread(target=lambda: seen.append(envs.step((sleep, sleep))))
    stepping.start()
    while not all(env.episode.steps for env in envs.envs):
        stepping.join(0.01)

    envs.close()
    stepping.join(30)

    assert not stepping.is_alive()
    assert seen[0][4]["reason"].tolist() == ["infra_error"] * 2
    assert seen[0][4]["reward_valid"].tolist() == [False, False]

"""The environment for asyncio."""

import asyncio
import threading

import pytest

from codeenv.env.aio import AsyncCodeRepoEnv
from codeenv.env.fake import FakeRuntime
from codeenv.sandbox.base import ExecResult

SUBMIT = {"tool": "submit"}
HANG = {"tool": "run_command", "arguments": {"command": "sleep 600", "timeout": 600}}
BACKENDS = ["local", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)]


def test_an_episode_is_played_with_await():
    async def played():
        async with AsyncCodeRepoEnv(runtime=FakeRuntime()) as env:
            observation, info = await env.reset(seed=1)
            assert observation["step"] == 0
            *_, terminated, _, info = await env.step(SUBMIT)
            return terminated, info["reason"], env.outcome.reward

    assert asyncio.run(played()) == (True, "submitted", 0.0)


def test_one_environment_serves_several_loops_one_after_the_other():
    env = AsyncCodeRepoEnv(runtime=FakeRuntime())

    for _ in range(3):
        assert asyncio.run(env.reset(seed=1))[0]["step"] == 0
    asyncio.run(env.close())


def test_many_environments_run_at_once_on_one_loop():
    together = threading.Barrier(24, timeout=30)

    def runner(box, command, stdin):
        together.wait()
        return ExecResult(0, b"met")

    async def one(runtime):
        async with AsyncCodeRepoEnv(runtime=runtime) as env:
            await env.reset(seed=1)
            return (await env.step(HANG))[0]["text"]

    async def all_of(runtime):
        return await asyncio.gather(*(one(runtime) for _ in range(24)))

    assert asyncio.run(all_of(FakeRuntime(runner))) == ["met"] * 24


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_call_that_is_cancelled_ends_its_command_and_reset_begins_anew(backend):
    async def played():
        async with AsyncCodeRepoEnv(backend=backend) as env:
            await env.reset(seed=1)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(env.step(HANG), 0.5)
            observation, _ = await env.reset(seed=1)
            return observation["step"], (await env.step(SUBMIT))[2]

    assert asyncio.run(played()) == (0, True)


def test_a_branch_is_awaited_and_goes_its_own_way():
    async def played():
        async with AsyncCodeRepoEnv(runtime=FakeRuntime()) as env:
            await env.reset(seed=1)
            async with await env.fork() as branch:
                await branch.step(SUBMIT)
                return branch.outcome is not None, env.outcome

    assert asyncio.run(played()) == (True, None)

import pickle

import pytest
from gymnasium.error import ResetNeeded

from codeenv.env.fake import FakeRuntime
from codeenv.env.repo import CodeRepoEnv
from codeenv.errors import SandboxError, TaskError, UsageError

LOOK = {"tool": "read_file", "arguments": {"path": "calc.py"}}
SUBMIT = {"tool": "submit"}


def test_reset_gives_the_instruction(env):
    observation, info = env.reset(seed=1)

    assert observation == {
        "text": "Bring `calc.add` back.\n",
        "tool": "",
        "exit_code": -1,
        "is_error": 0,
        "step": 0,
        "steps_left": 5,
    }
    assert observation in env.observation_space
    assert info == {"task_id": info["task_id"], "reward_valid": True, "feedback": []}


def test_a_step_gives_the_tools_text(env):
    env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(LOOK)

    assert observation["text"].startswith("     1\tdef add(a, b):")
    assert (observation["tool"], observation["step"], observation["steps_left"]) == (
        "read_file",
        1,
        4,
    )
    assert observation in env.observation_space
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["tool"]["ok"]
    assert info["reward_valid"]


def test_the_end_tells_reason_and_components(env):
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(SUBMIT)

    assert (reward, terminated, truncated) == (0.0, True, False)
    assert (info["reason"], info["resolved"]) == ("submitted", False)
    assert info["components"] == {"fail_to_pass": 0.0, "pass_to_pass": 1.0}
    assert env.outcome.grade is not None


def test_a_limit_from_outside_truncates_and_the_work_is_graded(env):
    with pytest.raises(ResetNeeded):
        env.finish("context_exceeded")
    env.reset(seed=1)
    env.step(LOOK)
    observation, reward, terminated, truncated, info = env.finish("context_exceeded")

    assert observation in env.observation_space
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["reason"], info["resolved"]) == ("context_exceeded", False)
    assert info["components"]["pass_to_pass"] == 1.0
    with pytest.raises(ResetNeeded):
        env.finish("context_exceeded")


def test_the_step_limit_truncates(env):
    env.reset(seed=1)
    ends = [env.step("gibberish")[2:4] for _ in range(5)]

    assert ends == [(False, False)] * 4 + [(False, True)]


def test_an_error_is_an_observation(env):
    env.reset(seed=1)
    observation, *_, info = env.step("ls -la")

    assert observation["is_error"] == 1
    assert observation["text"].startswith("error[invalid_action]")
    assert info["tool"]["error"] == "invalid_action"


def test_an_infrastructure_failure_truncates_with_an_invalid_reward(env):
    env.reset(seed=1)
    env.episode.sandbox.broken = True
    _, reward, terminated, truncated, info = env.step(LOOK)

    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["reason"], info["reward_valid"], info["resolved"]) == ("infra_error", False, False)


def test_stepping_without_an_episode_needs_a_reset(env):
    with pytest.raises(ResetNeeded):
        env.step(LOOK)
    env.reset(seed=1)
    env.step(SUBMIT)
    with pytest.raises(ResetNeeded):
        env.step(LOOK)


def test_the_task_is_drawn_from_the_seed(env):
    def drawn(seed):
        return [env.reset(seed=seed)[1]["task_id"], *(env.reset()[1]["task_id"] for _ in range(9))]

    assert drawn(5) == drawn(5)
    assert set(drawn(5)) == {"fake-a", "fake-b", "fake-c"}


def test_a_task_may_be_chosen(env):
    assert env.reset(options={"task_id": "fake-b"})[1]["task_id"] == "fake-b"
    assert env.reset(options={"task_index": 2})[1]["task_id"] == "fake-c"
    assert env.reset(options={"task_id": None})[1]["task_id"].startswith("fake-")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"task_id": "nope"}, TaskError),
        ({"task_index": 3}, UsageError),
        ({"task_index": -1}, UsageError),
        ({"taskid": "fake-a"}, UsageError),
    ],
)
def test_wrong_options_are_refused(env, options, error):
    with pytest.raises(error):
        env.reset(options=options)


def test_a_new_episode_closes_the_box_of_the_last(env, runtime):
    env.reset(seed=1)
    env.reset()

    assert [box.closed for box in runtime.fake.boxes] == [True, False]
    env.close()
    env.close()
    assert all(box.closed for box in runtime.fake.boxes)


def test_a_box_that_does_not_come_up_is_tried_again(folder):
    with CodeRepoEnv(folder, runtime=FakeRuntime(failures=2)) as env:
        assert env.reset(seed=1)[1]["reward_valid"]
    with CodeRepoEnv(folder, runtime=FakeRuntime(failures=3)) as env, pytest.raises(SandboxError):
        env.reset(seed=1)


def test_ansi_renders_what_the_agent_saw_last(folder, runtime):
    with CodeRepoEnv(folder, runtime=runtime, render_mode="ansi") as env:
        env.reset(seed=1)
        assert env.render() == "Bring `calc.add` back.\n"
        env.step(SUBMIT)
        assert env.render() == "Submitted."


@pytest.mark.parametrize("options", [{"max_steps": 0}, {"render_mode": "human"}])
def test_wrong_settings_are_refused(folder, options):
    with pytest.raises(UsageError):
        CodeRepoEnv(folder, **options)


def test_a_taskset_that_is_not_there_is_an_error():
    with pytest.raises(TaskError):
        CodeRepoEnv("no-such-suite")


def test_an_environment_pickles_as_its_options(folder):
    env = CodeRepoEnv(folder, backend="local", max_steps=7)
    again = pickle.loads(pickle.dumps(env))

    assert again.limits.max_steps == 7
    assert again.observation_space == env.observation_space
    assert again.taskset == env.taskset


def test_a_fork_goes_on_alone_from_where_its_origin_is(env):
    env.reset(seed=1)
    env.step(LOOK)
    other = env.fork()
    try:
        observation, *_ = other.step(LOOK)
        assert (observation["step"], observation["steps_left"]) == (2, 3)
        assert other.step(SUBMIT)[2]
        assert env.outcome is None
    finally:
        other.close()
    assert env.step(LOOK)[0]["step"] == 2


def test_a_fork_of_nothing_is_refused(env):
    with pytest.raises(ResetNeeded):
        env.fork()
    env.reset(seed=1)
    env.step(SUBMIT)
    with pytest.raises(ResetNeeded):
        env.fork()

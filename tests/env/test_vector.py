import threading

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from codeenv.env.fake import FakeRuntime
from codeenv.env.vector import CodeRepoVectorEnv
from codeenv.errors import UsageError
from codeenv.sandbox.base import ExecResult

LOOK = {"tool": "read_file", "arguments": {"path": "calc.py"}}
SUBMIT = {"tool": "submit"}


@pytest.fixture
def make(folder, runtime):
    made = []

    def build(mode="NextStep", **options):
        env = CodeRepoVectorEnv(
            2, tasks=folder, runtime=options.pop("runtime", runtime), autoreset_mode=mode, **options
        )
        made.append(env)
        return env

    yield build
    for env in made:
        env.close()


def test_texts_are_tuples_and_numbers_are_arrays(make):
    env = make()
    observations, infos = env.reset(seed=0)

    assert observations in env.observation_space
    assert observations["text"] == ("Bring `calc.add` back.\n",) * 2
    assert infos["task_id"].shape == (2,)

    observations, rewards, terminated, truncated, infos = env.step([LOOK, "gibberish"])

    assert observations["is_error"].tolist() == [0, 1]
    assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
    assert infos["tool"]["name"].tolist() == ["read_file", ""]


def test_the_seed_counts_on(make):
    env, other = make(), make()
    first = env.reset(seed=3)[1]["task_id"].tolist()

    assert other.reset(seed=[3, 4])[1]["task_id"].tolist() == first


def test_next_step_ignores_the_action_after_an_end_and_resets(make):
    env = make("NextStep")
    env.reset(seed=0)
    _, _, terminated, _, infos = env.step([SUBMIT, LOOK])
    assert terminated.tolist() == [True, False]
    assert infos["reason"].tolist() == ["submitted", None]

    observations, rewards, terminated, _, _ = env.step(["ignored", LOOK])

    assert observations["step"].tolist() == [0, 2]
    assert observations["is_error"].tolist() == [0, 0]
    assert (rewards.tolist(), terminated.tolist()) == ([0.0, 0.0], [False, False])


def test_same_step_resets_at_once_and_keeps_the_last_observation(make):
    env = make("SameStep")
    env.reset(seed=0)
    observations, _, terminated, _, infos = env.step([SUBMIT, LOOK])

    assert terminated.tolist() == [True, False]
    assert observations["step"].tolist() == [0, 1]
    assert infos["final_obs"][0]["text"] == "Submitted."
    assert infos["final_obs"][1] is None
    assert infos["final_info"]["reason"].tolist() == ["submitted", None]
    assert infos["_final_info"].tolist() == [True, False]


def test_disabled_waits_for_a_masked_reset(make):
    env = make("Disabled")
    env.reset(seed=0)
    env.step([LOOK, SUBMIT])
    with pytest.raises(UsageError, match=r"\[1\] have ended"):
        env.step([LOOK, LOOK])

    observations, infos = env.reset(options={"reset_mask": np.array([False, True])})

    assert observations["step"].tolist() == [1, 0]
    assert infos["_task_id"].tolist() == [False, True]
    assert env.step([LOOK, LOOK])[0]["step"].tolist() == [2, 1]


@pytest.mark.parametrize(
    "mask", [[True, True], np.array([1, 0]), np.array([True]), np.array([False, False])]
)
def test_a_wrong_mask_is_refused(make, mask):
    env = make("Disabled")
    env.reset(seed=0)
    with pytest.raises(UsageError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})


def test_the_first_reset_is_of_all(make):
    with pytest.raises(UsageError, match="first reset"):
        make().reset(options={"reset_mask": np.array([True, False])})


def test_a_group_starts_identical_and_tasks_may_differ(make):
    env = make()
    _, infos = env.reset(options={"task_id": "fake-b"})
    assert infos["task_id"].tolist() == ["fake-b", "fake-b"]
    _, infos = env.reset(options={"task_id": ["fake-c", "fake-a"]})
    assert infos["task_id"].tolist() == ["fake-c", "fake-a"]


def test_environments_step_at_the_same_time(make):
    meeting = threading.Barrier(2, timeout=20)

    def meet(_box, command, _stdin):
        if command != "meet":
            return None
        meeting.wait()
        return ExecResult(0, b"met")

    env = make(runtime=FakeRuntime(meet))
    env.reset(seed=0)
    command = {"tool": "run_command", "arguments": {"command": "meet"}}

    assert env.step([command, command])[0]["text"] == ("met", "met")


def test_close_closes_every_box_and_thread(make, runtime):
    env = make()
    env.reset(seed=0)
    env.close()
    env.close()

    assert all(box.closed for box in runtime.fake.boxes)
    assert not [t for t in threading.enumerate() if t.name.startswith("codeenv-env")]


def test_attributes_and_methods_of_all_can_be_had(make):
    env = make(render_mode="ansi")
    env.reset(seed=0)

    assert env.get_attr("profile") == ("core4", "core4")
    assert env.call("render") == env.render() == ("Bring `calc.add` back.\n",) * 2
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


@pytest.mark.parametrize("actions", [[LOOK], [LOOK] * 3])
def test_every_environment_needs_its_action(make, actions):
    env = make()
    env.reset(seed=0)
    with pytest.raises(UsageError, match="2 actions"):
        env.step(actions)

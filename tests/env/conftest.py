import pytest

from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.env.repo import CodeRepoEnv
from codeenv.tasks.taskset import Taskset


@pytest.fixture
def runtime():
    return FakeRuntime()


@pytest.fixture
def folder(tmp_path):
    taskset = fake_taskset("fake-a", "fake-b", "fake-c")
    Taskset.write(
        tmp_path / "T", taskset.recipes, taskset.baselines.values(), taskset.environments.values()
    )
    return tmp_path / "T"


@pytest.fixture
def env(folder, runtime):
    with CodeRepoEnv(folder, runtime=runtime, max_steps=5) as made:
        yield made

"""Records of made-up rollouts, and a recorded run of the bundled toy's smallest tasks."""

import pytest

from codeenv.env.runtime import Runtime
from codeenv.tasks.taskset import Taskset
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, run


@pytest.fixture(scope="session")
def toy_tasks():
    """Three shipped tasks, one of them of another difficulty."""
    recipes = sorted(Taskset.load("toy").recipes, key=lambda r: (r.difficulty.prior, r.id))
    return Taskset.load("toy").select([recipes[0].id, recipes[1].id, recipes[-1].id])


@pytest.fixture(scope="session")
def toy_runs(toy_tasks, tmp_path_factory):
    """The same tasks played by the known-good solution, by nobody, and at random."""
    folders = {}
    with Runtime("local") as runtime:
        for agent in ("oracle", "nop", "random"):
            out = tmp_path_factory.mktemp(agent)
            run(toy_tasks, RunOptions(agent, rollouts=2, concurrency=2, out=out), runtime)
            folders[agent] = RunFolder(out)
    return folders

"""Tasks and a runtime in memory, for tests of agents, trainers and wrappers: nothing is run.

A submission is resolved if the exported workspace has the oracle's files.
"""

from collections.abc import Sequence

from codeenv.env.episode import Episode, EpisodeLimits
from codeenv.env.runtime import Runtime
from codeenv.errors import SandboxError
from codeenv.grading import Grade
from codeenv.grading.models import TestStatus
from codeenv.languages.base import Layout
from codeenv.materialise.models import Task
from codeenv.sandbox.fake import FakeBackend, Runner
from codeenv.sandbox.image import Image, Mount
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import (
    Baseline,
    Difficulty,
    EnvironmentLock,
    Operation,
    Provenance,
    Recipe,
    SourcePin,
)
from codeenv.tasks.taskset import Taskset
from codeenv.tools import Profile
from codeenv.tree import Delta, Entry, Tree

_NONE = "0" * 64
_WHOLE = b"def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return add(a, a)\n"
_DAMAGED = _WHOLE.replace(b"return a + b", b"raise NotImplementedError")
_IMAGE = Image("fake", "fake", None, ())


def fake_taskset(*ids: str) -> Taskset:
    """Return a taskset of tasks in memory, all alike but for their ids."""
    lock = EnvironmentLock(base="fake", python="3.13.0", platform="any", packages=())
    pin = SourcePin(kind="bundled", location="fake", sha256=_NONE, tree=_NONE)
    baseline = Baseline(
        source=pin,
        environment=digest_of(lock),
        runs=1,
        stable=("test_calc.py::test_add", "test_calc.py::test_none"),
        quarantined={},
        timeout=1.0,
    )
    recipes = [_recipe(task_id, pin, lock, baseline) for task_id in sorted(ids or ("fake-add",))]
    return Taskset(tuple(recipes), {digest_of(baseline): baseline}, {digest_of(lock): lock})


def fake_task(task_id: str = "fake-add") -> Task:
    """Return a task in memory."""
    taskset = fake_taskset(task_id)
    recipe = taskset.recipes[0]
    damaged = {"calc.py": Entry(_DAMAGED), "README.md": Entry(b"# calc\n")}
    return Task(
        recipe=recipe,
        baseline=taskset.baseline(recipe.baseline),
        lock=taskset.environment(recipe.environment),
        layout=Layout((".",), ("calc",), ("calc.py",), ("test_calc.py",)),
        instruction="Bring `calc.add` back.\n",
        workspace=Tree({**damaged, ".git/HEAD": Entry(b"ref: refs/heads/main\n")}),
        grading_tree=Tree({**damaged, "test_calc.py": Entry(b"")}),
        oracle=Delta({"calc.py": Entry(_WHOLE)}),
    )


class FakeRuntime(Runtime):
    """A runtime on a fake backend.

    Attributes:
        fake: The backend, with all boxes that were opened.
        grader_failures: How many of the next gradings fail.
    """

    def __init__(self, runner: Runner | None = None, *, failures: int = 0) -> None:
        """Give every box the runner; let the first ``failures`` opens fail."""
        self.fake = FakeBackend(runner, failures=failures)
        self.grader_failures = 0
        self._runner = runner
        super().__init__(self.fake)

    def __reduce__(self) -> tuple[object, ...]:
        return (FakeRuntime, (self._runner,))

    def task(self, recipe: Recipe, taskset: Taskset) -> Task:
        """Return the task in memory with the recipe's id."""
        return fake_task(recipe.id)

    def open(
        self,
        task: Task,
        *,
        limits: EpisodeLimits | None = None,
        profile: Profile = "core4",
        mounts: Sequence[Mount] = (),
    ) -> Episode:
        """Open a box in memory."""
        box = self.backend.open(_IMAGE, task.workspace)
        return Episode(task, box, self.grade, limits or EpisodeLimits(), profile)

    def grade(self, task: Task, exported: Tree) -> Grade:
        """Compare with the oracle."""
        if self.grader_failures > 0:
            self.grader_failures -= 1
            raise SandboxError("the grader's box did not come up")
        solved = all(exported.get(path) == entry for path, entry in task.oracle.write.items())
        status: TestStatus = "passed" if solved else "failed"
        statuses = dict.fromkeys(task.fail_to_pass, status)
        return Grade(solved, statuses, dict.fromkeys(task.pass_to_pass, "passed"))


def _recipe(task_id: str, pin: SourcePin, lock: EnvironmentLock, baseline: Baseline) -> Recipe:
    return Recipe(
        id=task_id,
        title="Bring add back",
        source=pin,
        language="python",
        environment=digest_of(lock),
        baseline=digest_of(baseline),
        deletions=(
            Operation(
                path="calc.py", start=0, end=1, sha256=_NONE[:16], kind="function", mode="stub"
            ),
        ),
        fail_to_pass=("test_calc.py::test_add",),
        difficulty=Difficulty(lines=1, symbols=1, files=1, tests=1, prior=0.1),
        damaged_tree=_NONE,
        provenance=Provenance(generator="fake", seed=0, seed_symbol="calc.add"),
    )

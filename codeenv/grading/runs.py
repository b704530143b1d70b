"""Runs of tests in fresh boxes: in one process with what they test, or split from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from codeenv.errors import SandboxError
from codeenv.languages import get_language
from codeenv.languages.base import Language, SplitRun, TestRequest, TestRun
from codeenv.materialise.models import Task
from codeenv.sandbox.base import Backend, Sandbox
from codeenv.sandbox.image import Image
from codeenv.tasks.models import EnvironmentLock
from codeenv.tree import Delta, Tree

R = TypeVar("R")
NOTHING = TestRun((), {}, complete=True, exit_code=0)
"""What comes of no tests."""


@dataclass(frozen=True)
class Runs:
    """Runs tests of tasks; a failed sandbox is tried once more on another host.

    Attributes:
        backend: Where.
        environments: Returns the image of an environment.
        languages: Returns the language of a name.
    """

    backend: Backend
    environments: Callable[[EnvironmentLock], Image]
    languages: Callable[[str], Language] = get_language

    def language(self, task: Task) -> Language:
        """Return the language of a task."""
        return self.languages(task.recipe.language)

    def run(self, task: Task, delta: Delta, ids: Sequence[str]) -> TestRun:
        """Run some tests of a task with a submission, in one process."""
        return self.request(task, delta, _graded(task, ids)) if ids else NOTHING

    def request(self, task: Task, delta: Delta, request: TestRequest) -> TestRun:
        """Run tests in a fresh box that holds the task's grading tree with a submission."""
        return _twice(lambda: self._once(task, delta, request))

    def split(
        self, task: Task, delta: Delta, ids: Sequence[str], licences: Sequence[str] | None
    ) -> SplitRun:
        """Run some tests in a box that holds nothing of the submission, which is in another one.

        Args:
            task: The task.
            delta: What counts of a submission.
            ids: The tests.
            licences: What objects of the submission may be asked; None to learn it.
        """
        if not ids:
            return SplitRun(NOTHING)
        return self.split_request(task, delta, _graded(task, ids), licences)

    def split_request(
        self, task: Task, delta: Delta, request: TestRequest, licences: Sequence[str] | None
    ) -> SplitRun:
        """Run tests split from the submission; changes of test files only go to their box."""
        return _twice(lambda: self._split_once(task, delta, request, licences))

    def record(
        self, task: Task, delta: Delta, ids: Sequence[str], hash_seed: int
    ) -> tuple[str, ...]:
        """Return scripts of what tests call of a submission that is trusted."""
        request = replace(_graded(task, ids), hash_seed=hash_seed)
        language, image = self.language(task), self.environments(task.lock)

        def record(box: Sandbox) -> tuple[str, ...]:
            box.apply(delta)
            return language.record_calls(box, image, request, task.layout)

        return _twice(lambda: self._with(task, task.grading_tree, record))

    def call_again(
        self,
        task: Task,
        delta: Delta,
        scripts: Sequence[str],
        order: Sequence[int],
        *,
        hash_seed: int = 0,
        strange: bool = False,
        limit: float = 0.0,
    ) -> Mapping[int, str]:
        """Return what scripts answer beside a submission, by number; no test is in the box.

        Args:
            task: The task.
            delta: What counts of a submission.
            scripts: What to call.
            order: Their numbers, in the order of the calls.
            hash_seed: Of the process.
            strange: Whether on another day, with nothing left to chance.
            limit: Seconds for one; 0 for as many as a test has.
        """
        single = task.baseline.test_timeout or task.baseline.timeout
        request = TestRequest((), task.baseline.timeout, limit or single, hash_seed=hash_seed)
        language, image = self.language(task), self.environments(task.lock)
        tree = language.split(task.grading_tree.apply(delta), task.layout)[1]
        fields = not any(edit.kind in ("class", "module") for edit in task.recipe.deletions)

        def call(box: Sandbox) -> Mapping[int, str]:
            return language.call_again(
                *(box, image, scripts, order), request=request, strange=strange, fields=fields
            )

        return _twice(lambda: self._with(task, tree, call))

    def prefetch(self, task: Task) -> None:
        """Start in the background what the first run of a task would have to wait for."""
        image = self.environments(task.lock)
        server = self.language(task).fork_server(image)
        self.backend.prefetch(image, role="grader", fork_server=server)

    def _once(self, task: Task, delta: Delta, request: TestRequest) -> TestRun:
        language, image = self.language(task), self.environments(task.lock)

        def test(box: Sandbox) -> TestRun:
            box.apply(delta)
            return language.run_tests(box, image, request)

        return self._with(task, task.grading_tree, test)

    def _with(self, task: Task, tree: Tree, use: Callable[[Sandbox], R]) -> R:
        """Use a fresh box that holds a tree."""
        image = self.environments(task.lock)
        server = self.language(task).fork_server(image)
        with self.backend.open(image, tree, role="grader", fork_server=server) as box:
            return use(box)

    def _split_once(
        self, task: Task, delta: Delta, request: TestRequest, licences: Sequence[str] | None
    ) -> SplitRun:
        language, image = self.language(task), self.environments(task.lock)
        trees = language.split(task.grading_tree.apply(delta), task.layout)
        server = language.fork_server(image)
        pair = self.backend.open_pair(image, trees, role="grader", fork_server=server)
        with pair[0]:
            return language.run_split(pair, image, request, task.layout, licences)


def _graded(task: Task, ids: Sequence[str]) -> TestRequest:
    asked = TestRequest.graded(task.baseline, ids)
    return replace(asked, options=task.lock.test_options)


def _twice(run: Callable[[], R]) -> R:
    try:
        return run()
    except SandboxError:
        return run()

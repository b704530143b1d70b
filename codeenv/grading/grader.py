"""Runs the tests that decide, each set in a fresh box that never saw the agent."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from codeenv.errors import PathError, SandboxError
from codeenv.grading.collect import Submission
from codeenv.grading.models import Grade
from codeenv.grading.verdict import make_grade, nothing_ran, statuses
from codeenv.languages import get_language
from codeenv.languages.base import Language, TestRequest, TestRun
from codeenv.materialise.models import Task
from codeenv.sandbox.base import Backend
from codeenv.sandbox.image import Image
from codeenv.tasks.models import EnvironmentLock
from codeenv.tree import Delta

_NOTHING = TestRun((), {}, complete=True, exit_code=0)


class Grader:
    """Grades submissions.  Thread-safe."""

    def __init__(
        self,
        backend: Backend,
        *,
        environments: Callable[[EnvironmentLock], Image],
        languages: Callable[[str], Language] = get_language,
    ) -> None:
        """Grade in boxes of ``backend``, in the images that ``environments`` returns."""
        self._backend = backend
        self._environments = environments
        self._languages = languages
        self._lock = threading.Lock()
        self._healthy: set[str] = set()

    def grade(
        self, task: Task, submission: Submission | Delta, *, pass_to_pass: bool = True
    ) -> Grade:
        """Return the verdict on changes to the agent's tree.

        The feature's tests (fail-to-pass and weak ones) and pass-to-pass tests run in processes and
        boxes of their own, with the pristine tests and their configuration.  A failure of the
        sandbox, or a run in which nothing ran at all while the known-good solution does no better,
        gives a grade that is not valid.

        Args:
            task: The task.
            submission: What ``collect_submission`` returned, or changes that are trusted.
            pass_to_pass: Whether these tests run, too; without them the grade speaks of the
                feature alone.

        Raises:
            MachineError: If the environment cannot be restored here.
        """
        given = Submission(submission) if isinstance(submission, Delta) else submission
        image = self._environments(task.lock)
        try:
            grade = self._grade(task, image, given.delta, pass_to_pass)
        except (SandboxError, PathError) as error:
            grade = Grade(resolved=False, fail_to_pass={}, pass_to_pass={}, valid=False)
            grade = replace(grade, error=f"{type(error).__name__}: {error}")
        return replace(
            grade,
            accepted_paths=given.delta.paths,
            ignored_paths=given.ignored,
            held_out=task.recipe.held_out,
        )

    def prefetch(self, task: Task) -> None:
        """Start in the background what the first grade of a task would have to wait for."""
        image = self._environments(task.lock)
        server = self._languages(task.recipe.language).fork_server(image)
        self._backend.prefetch(image, role="grader", fork_server=server)

    def _grade(self, task: Task, image: Image, delta: Delta, pass_to_pass: bool) -> Grade:
        failing, passing = task.fail_to_pass, task.pass_to_pass if pass_to_pass else ()
        weak = self._weak(task)
        runs = [self._run(task, image, delta, ids) for ids in ((*failing, *weak), passing)]
        grade = make_grade(
            statuses(failing, runs[0]), statuses(passing, runs[1]), statuses(weak, runs[0])
        )
        if grade.not_passed and grade.not_passed.keys() <= grade.weak.keys():
            # They may rely on what other tests leave behind: the whole suite tells.
            suite = {*failing, *weak, *task.pass_to_pass}
            run = self._run(task, image, delta, [t for t in task.baseline.stable if t in suite])
            grade = make_grade(grade.fail_to_pass, grade.pass_to_pass, statuses(weak, run))
        if any(nothing_ran(run) for run in runs) and not self._canary_sings(task, image):
            log = next(run.log for run in runs if nothing_ran(run))
            error = f"no test ran, nor with the known-good solution: {log[-300:].strip()}"
            return replace(grade, resolved=False, valid=False, error=error)
        return grade

    def _weak(self, task: Task) -> tuple[str, ...]:
        """Return the feature's other tests: all that a submission cannot change itself."""
        language = self._languages(task.recipe.language)
        files = {test: test.partition("::")[0] for test in task.recipe.excluded}
        return tuple(t for t, path in files.items() if not language.admissible(task.layout, path))

    def _canary_sings(self, task: Task, image: Image) -> bool:
        """Return whether the known-good solution passes here; a yes is remembered per task."""
        key = f"{task.id} {task.recipe.damaged_tree}"
        with self._lock:
            if key in self._healthy:
                return True
        run = self._run(task, image, task.oracle, task.fail_to_pass)
        good = all(s == "passed" for s in statuses(task.fail_to_pass, run).values())
        if good:
            with self._lock:
                self._healthy.add(key)
        return good

    def _run(self, task: Task, image: Image, delta: Delta, ids: Sequence[str]) -> TestRun:
        """Run some tests in a fresh box; a failed sandbox is tried once more on another host."""
        if not ids:
            return _NOTHING
        try:
            return self._run_once(task, image, delta, ids)
        except SandboxError:
            return self._run_once(task, image, delta, ids)

    def _run_once(self, task: Task, image: Image, delta: Delta, ids: Sequence[str]) -> TestRun:
        language = self._languages(task.recipe.language)
        asked = TestRequest.graded(task.baseline, ids)
        request = replace(asked, options=task.lock.test_options)
        server = language.fork_server(image)
        opened = self._backend.open(image, task.grading_tree, role="grader", fork_server=server)
        with opened as box:
            box.apply(delta)
            return language.run_tests(box, image, request)

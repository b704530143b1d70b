"""Runs the tests that decide, each set in a fresh box that never saw the agent."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from codeenv.errors import NoPairs, PathError, SandboxError
from codeenv.grading.collect import Submission
from codeenv.grading.guard_models import Guard
from codeenv.grading.guarded import Run, grade_guarded
from codeenv.grading.models import DEFAULT_GRADING, Grade, GradingOptions, TestStatus
from codeenv.grading.replay import replay
from codeenv.grading.runs import Runs
from codeenv.grading.tiers import Plan, guard_all
from codeenv.grading.verdict import make_grade, nothing_ran, statuses
from codeenv.languages import get_language
from codeenv.languages.base import Language, TestRequest, TestRun
from codeenv.materialise.models import Task
from codeenv.sandbox.base import Backend
from codeenv.sandbox.image import Image
from codeenv.tasks.models import EnvironmentLock, Tier
from codeenv.tree import Delta


class Grader:
    """Grades submissions.  Thread-safe."""

    def __init__(
        self,
        backend: Backend,
        *,
        environments: Callable[[EnvironmentLock], Image],
        languages: Callable[[str], Language] = get_language,
        options: GradingOptions = DEFAULT_GRADING,
    ) -> None:
        """Grade in boxes of ``backend``, in the images that ``environments`` returns.

        Args:
            backend: Where tests run.
            environments: Returns the image of an environment.
            languages: Returns the language of a name.
            options: How to grade.
        """
        self._options = options
        self._tier: Tier = options.tier or ("open" if backend.name == "local" else "sealed")
        self._runs = Runs(backend, environments, languages)
        self._lock = threading.Lock()
        self._healthy: set[str] = set()
        self._guards: dict[str, Guard] = {}

    @property
    def runs(self) -> Runs:
        """What runs the tests."""
        return self._runs

    def grade(
        self,
        task: Task,
        submission: Submission | Delta,
        *,
        pass_to_pass: bool = True,
        seed: int = 0,
    ) -> Grade:
        """Return the verdict on changes to the agent's tree.

        The feature's tests (fail-to-pass and weak ones) and pass-to-pass tests run in processes and
        boxes of their own, with the pristine tests and their configuration; sealed tests in a box
        without the submission, guarded ones several times.  A failure of the sandbox, or a run in
        which nothing ran at all while the known-good solution does no better, gives a grade that is
        not valid.

        Args:
            task: The task.
            submission: What ``collect_submission`` returned, or changes that are trusted.
            pass_to_pass: Whether these tests run, too; without them the grade speaks of the
                feature alone.
            seed: Chooses orders and controls of guarded tests, with the task and the submission.

        Raises:
            MachineError: If the environment cannot be restored here, or the backend cannot grade
                in the tier that the task has.
        """
        given = Submission(submission) if isinstance(submission, Delta) else submission
        self._runs.environments(task.lock)
        try:
            grade = self._grade(task, given.delta, pass_to_pass, seed)
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
        """Start in the background what the first grade of a task would have to wait for.

        Raises:
            NoPairs: If the task's tests are sealed, and the backend cannot split them.
        """
        sealed = self._tier == "sealed" and task.recipe.licences is not None
        if sealed and not self._runs.backend.pairs:
            raise NoPairs(
                f"{task.id} has sealed tests, and the {self._runs.backend.name} backend has no "
                "walls between tests and the code they test",
                hint="use docker or bubblewrap, or grade weaker: --tier guarded, or --tier open",
            )
        self._runs.prefetch(task)

    def _grade(self, task: Task, delta: Delta, pass_to_pass: bool, seed: int) -> Grade:
        plan = self._plan(task)
        passing = task.pass_to_pass if pass_to_pass else ()
        feature = self._feature(task, plan, delta, seed)
        others = self._runs.run(task, delta, passing)
        said = feature.statuses
        weak = {test: said[test] for test in plan.weak}
        failing = {test: said[test] for test in task.fail_to_pass}
        grade = make_grade(failing, statuses(passing, others), weak)
        if grade.not_passed and grade.not_passed.keys() <= set(plan.weak) & set(plan.plain):
            # They may rely on what other tests leave behind: the whole suite tells.
            suite = {*task.fail_to_pass, *plan.weak, *task.pass_to_pass}
            run = self._runs.run(task, delta, [t for t in task.baseline.stable if t in suite])
            told = {**weak, **statuses([t for t in plan.weak if t in plan.plain], run)}
            grade = make_grade(grade.fail_to_pass, grade.pass_to_pass, told)
        grade = replace(
            grade,
            tiers=plan.tiers,
            caught=feature.caught,
            controls=plan.share(self._options.controls),
        )
        if grade.resolved and self._tier != "open" and task.recipe.replays:
            grade = replace(grade, replayed=replay(task, delta, self._runs, seed))
            grade = replace(grade, resolved=not grade.not_passed)
        silent = [*feature.silent, *([others.log] if nothing_ran(others) else [])]
        if silent and not self._canary_sings(task, plan):
            error = f"no test ran, nor with the known-good solution: {silent[0][-300:].strip()}"
            return replace(grade, resolved=False, valid=False, error=error)
        return grade

    def _plan(self, task: Task) -> Plan:
        """Return how the task's tests are graded here, in no stronger tier than was asked for."""
        language = self._runs.language(task)
        if self._tier == "sealed":
            return Plan.of(task, language)
        if self._tier == "open":
            return Plan.unsealed(task, language, Guard({}, frozenset(), 0))
        key = f"{task.id} {task.recipe.damaged_tree}"
        if key not in self._guards:
            self._guards[key] = guard_all(task, self._runs)
        return Plan.unsealed(task, language, self._guards[key])

    def _feature(self, task: Task, plan: Plan, delta: Delta, seed: int) -> "_Said":
        """Run the feature's tests, each in the way the plan has for it."""
        split = self._runs.split(task, delta, plan.sealed, plan.licences).run
        plain = self._runs.run(task, delta, plan.plain)
        said = _Said({**statuses(plan.sealed, split), **statuses(plan.plain, plain)})
        said.silent += [run.log for run in (split, plain) if nothing_ran(run)]
        if plan.asking.tests:
            split_run = partial(self._split_run, task, plan)
            self._guarded(task, plan.asking, delta, split_run, (seed, said))
        if plan.guard.tests:
            self._guarded(task, plan.guard, delta, partial(self._runs.request, task), (seed, said))
        return said

    def _split_run(self, task: Task, plan: Plan, delta: Delta, request: TestRequest) -> TestRun:
        return self._runs.split_request(task, delta, request, plan.licences).run

    def _guarded(
        self, task: Task, guard: Guard, delta: Delta, run: Run, into: tuple[int, "_Said"]
    ) -> None:
        seed, said = into
        found = grade_guarded(
            task,
            delta,
            guard,
            run,
            language=self._runs.language(task),
            seed=seed,
            share=self._options.controls,
        )
        said.statuses.update(found.statuses)
        said.caught = {**said.caught, **found.caught}
        said.silent += [found.silent] if found.silent else []

    def _canary_sings(self, task: Task, plan: Plan) -> bool:
        """Return whether the known-good solution passes here; a yes is remembered per task."""
        key = f"{task.id} {task.recipe.damaged_tree}"
        with self._lock:
            if key in self._healthy:
                return True
        said = self._feature(task, plan, task.oracle, 0).statuses
        good = all(said[test] == "passed" for test in task.fail_to_pass)
        if good:
            with self._lock:
                self._healthy.add(key)
        return good


@dataclass
class _Said:
    """What the runs of a feature's tests said."""

    statuses: dict[str, TestStatus]
    caught: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    silent: list[str] = field(default_factory=list)

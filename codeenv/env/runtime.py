"""What episodes share: one backend, restored environments, materialised tasks, one grader."""

import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from codeenv.env.episode import Episode, EpisodeLimits
from codeenv.env.memo import Memo
from codeenv.env.verdicts import Verdicts
from codeenv.errors import UsageError
from codeenv.grading import Grade, Grader, GradingOptions, collect_submission
from codeenv.grading.models import DEFAULT_GRADING
from codeenv.images import Environment, restore_environment
from codeenv.materialise import materialise
from codeenv.materialise.models import Task
from codeenv.sandbox.base import Backend, Limits
from codeenv.sandbox.capacity import DEFAULT_CAPACITY, Capacity
from codeenv.sandbox.image import Image, Mount
from codeenv.sandbox.select import open_backend
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import EnvironmentLock, Recipe
from codeenv.tasks.taskset import Taskset
from codeenv.tools import Profile
from codeenv.tree import Tree

_TASKS_KEPT = 32
_ENVIRONMENTS_KEPT = 64


class Runtime:
    """Opens episodes.  Thread-safe; nothing is started before it is needed; pickles as its options.

    A backend opened by name belongs to the runtime and is closed with it; one that was handed in
    belongs to whoever opened it.
    """

    def __init__(
        self,
        backend: str | Backend = "auto",
        *,
        limits: Limits | None = None,
        capacity: Capacity = DEFAULT_CAPACITY,
        options: Mapping[str, str] | None = None,
        grading: GradingOptions = DEFAULT_GRADING,
        grades_kept: int = 0,
    ) -> None:
        """Remember the options.

        Args:
            backend: ``auto``, ``docker``, ``bubblewrap``, ``local``, or an open backend.
            limits: What an agent's box may use.
            capacity: How many boxes a backend opened by name may have, and how many on a host.
            options: Of a backend opened by name; see ``open_backend``.
            grading: How submissions are graded.
            grades_kept: How many verdicts to keep, for training: the same files handed in for the
                same task then have the same verdict without another run.
        """
        self._options = (backend, limits, capacity, dict(options or {}), grading, grades_kept)
        self._limits = limits or Limits()
        self._lock = threading.Lock()
        self._backend: Backend | None = None if isinstance(backend, str) else backend
        self._grader: Grader | None = None
        self._closed = False
        self._tasks: Memo[str, Task] = Memo(_TASKS_KEPT)
        self._environments: Memo[str, Environment] = Memo(_ENVIRONMENTS_KEPT)
        self._verdicts = Verdicts(lambda task, given: self.grader.grade(task, given), grades_kept)

    @property
    def backend(self) -> Backend:
        """The backend, opened at first use.

        Raises:
            BackendUnavailable: If there is none here.
            UsageError: If the runtime is closed.
        """
        with self._lock:
            if self._closed:
                raise UsageError("the runtime is closed", hint="make another one")
            if self._backend is None:
                name, _, capacity, options, *_ = self._options
                self._backend = open_backend(str(name), capacity=capacity, **options)
            return self._backend

    @property
    def grading(self) -> GradingOptions:
        """How submissions are graded."""
        return self._options[4]

    def task(self, recipe: Recipe, taskset: Taskset) -> Task:
        """Return a recipe of a taskset as a task, from the cache where it is there.

        Raises:
            SourceError: If its source cannot be had.
            TaskError: If source and recipe do not match.
        """
        return self._tasks.get(digest_of(recipe), lambda: self._materialise(recipe, taskset))

    def environment(self, lock: EnvironmentLock, recipe: Recipe | None = None) -> Environment:
        """Return the environment of a lock, rebuilt if it is not in the cache.

        Raises:
            BuildError: If it cannot be rebuilt.
        """
        pin = recipe.source if recipe else None
        return self._environments.get(
            digest_of(lock), lambda: restore_environment(lock, self.backend, pin=pin)
        )

    def open(
        self,
        task: Task,
        *,
        limits: EpisodeLimits | None = None,
        profile: Profile = "core4",
        mounts: Sequence[Mount] = (),
    ) -> Episode:
        """Open a fresh box with the task's workspace; a grader is made ready beside it.

        Args:
            task: The task.
            limits: When the episode ends by itself.
            profile: Which tools there are.
            mounts: Read-only trees in the box beside the workspace, e.g. a program that acts there.

        Raises:
            SandboxError: If the box did not come up; trying again may help.
        """
        image = self.environment(task.lock, task.recipe).image
        sandbox = self.backend.open(
            image, task.workspace, role="agent", limits=self._limits, mounts=mounts
        )
        self.grader.prefetch(task)
        return Episode(task, sandbox, self.grade, limits or EpisodeLimits(), profile)

    def grade(self, task: Task, exported: Tree) -> Grade:
        """Grade an exported workspace in a fresh box on another host.

        Raises:
            SandboxError: If the grader's sandbox failed.
        """
        submission = collect_submission(task, exported)
        if self._options[5]:
            return self._verdicts.of(task, submission)
        return self.grader.grade(task, submission)

    @property
    def grader(self) -> Grader:
        """The grader, on this runtime's backend and environments."""
        backend = self.backend
        with self._lock:
            if self._grader is None:
                self._grader = Grader(backend, environments=self._image, options=self.grading)
            return self._grader

    def close(self) -> None:
        """Stop what the runtime started.  Idempotent."""
        with self._lock:
            owned = isinstance(self._options[0], str)
            backend, self._backend, self._closed = self._backend, None, True
        if backend is not None and owned:
            backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"options": self._options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        backend, limits, capacity, options, grading, kept = state["options"]
        room = {"limits": limits, "capacity": capacity, "grades_kept": kept}
        Runtime.__init__(self, backend, **room, options=options, grading=grading)

    def _image(self, lock: EnvironmentLock) -> Image:
        return self.environment(lock).image

    def _materialise(self, recipe: Recipe, taskset: Taskset) -> Task:
        lock = taskset.environment(recipe.environment)
        return materialise(recipe, taskset.baseline(recipe.baseline), lock)

"""What commands share that read a finished run and write lines."""

import argparse
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from codeenv.cli.terminal import plain
from codeenv.env.runtime import Runtime
from codeenv.errors import CodeEnvError, UsageError
from codeenv.export import Rollout
from codeenv.materialise.models import Task
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import Recipe
from codeenv.tasks.taskset import Taskset, atomic_draft, shipped_suites
from codeenv_harness.records import RunFolder
from codeenv_harness.suites import benchmark_file, read_benchmark


def rollouts_of(folder: Path) -> Sequence[Rollout]:
    """Return the rollouts of a run.

    Raises:
        UsageError: If there are none.
    """
    found = [*RunFolder(folder).rollouts()]
    if not found:
        raise no_rollouts(folder)
    return found


def no_rollouts(folder: Path) -> UsageError:
    """Return the error of a folder that is no run, or an empty one."""
    return UsageError(
        f"there are no finished rollouts in {folder}",
        hint="give the folder that codeenv run --out wrote",
    )


def write_lines(path: Path, rows: Iterable[object]) -> int:
    """Write JSON lines, all or none, one after the other, and return how many there are.

    Raises:
        UsageError: If the path is a folder, or in that of a run.
    """
    check_target(path)
    count = 0
    with (
        atomic_draft(path) as draft,
        draft.open("w", encoding="utf-8", errors="replace") as file,
    ):
        for row in rows:
            file.write(json.dumps(plain(row), ensure_ascii=False) + "\n")
            count += 1
    return count


def check_target(path: Path) -> None:
    """Check that a file may be written there.

    Raises:
        UsageError: If the path is a folder, or in that of a run.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file")
    if run := next((f for f in path.resolve().parents if RunFolder(f).exists()), None):
        raise UsageError(f"{path} is in the folder of the run {run}", hint="name another place")


def add_tasks(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what was played."""
    parser.add_argument(
        "--tasks",
        metavar="TASKS",
        help="what was played, or its benchmark; found by itself if the tasks are shipped ones",
    )


class PlayedTasks:
    """The tasks of a run, made when they are asked for; none where they cannot be had."""

    def __init__(self, tasks: str | None, folder: Path) -> None:
        """Take what was played, or None for shipped tasks, and the run's folder.

        Raises:
            TaskError: If there is no such taskset.
            UsageError: If a benchmark's file is none.
        """
        self._digests = RunFolder(folder).recipes()
        self._given = _loaded(tasks) if tasks else None
        self._runtime = Runtime("local")  # makes tasks, opens nothing

    def task(self, task_id: str) -> Task | None:
        """Return a task, if it is known and was played as it is.

        Raises:
            UsageError: If the tasks that were named have another recipe for it.
        """
        taskset, recipe = self._found(task_id)
        if taskset is None or recipe is None:
            return None
        try:
            return self._runtime.task(recipe, taskset)
        except CodeEnvError:  # a shipped task's source may be out of reach
            if self._given:
                raise
            return None

    def recipe(self, task_id: str) -> Recipe | None:
        """Return a task's recipe, if it is known and was played as it is.

        Raises:
            UsageError: If the tasks that were named have another recipe for it.
        """
        return self._found(task_id)[1]

    def _found(self, task_id: str) -> tuple[Taskset | None, Recipe | None]:
        taskset = self._given or _shipped(task_id)
        recipe = _named(taskset, task_id)
        if recipe is None or self._digests.get(task_id, digest_of(recipe)) == digest_of(recipe):
            return taskset, recipe
        if self._given:
            raise UsageError(
                f"{task_id} was played from another recipe than the one in --tasks",
                hint="give the tasks that the run was made with",
            )
        return None, None


def _loaded(tasks: str) -> Taskset:
    file = benchmark_file(tasks)
    return read_benchmark(file).taskset(file.parent) if file else Taskset.load(tasks)


def _shipped(task_id: str) -> Taskset | None:
    return Taskset.load(task_id) if task_id in _shipped_ids() else None


@cache
def _shipped_ids() -> frozenset[str]:
    return frozenset(one for suite in shipped_suites() for one in Taskset.load(suite).ids)


def _named(taskset: Taskset | None, task_id: str) -> Recipe | None:
    recipes = taskset.recipes if taskset else ()
    return next((recipe for recipe in recipes if recipe.id == task_id), None)

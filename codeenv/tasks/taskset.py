"""Tasksets on disk: recipes with the baselines and environments they refer to.

A folder holds ``<task-id>.json``, ``environments/<digest>.json`` and ``baselines/<digest>.json``;
``funnel.json`` and other files beside them are not recipes.
"""

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from codeenv._paths import data_folder
from codeenv.errors import TaskError
from codeenv.tasks.digest import canonical, digest_of
from codeenv.tasks.models import Baseline, EnvironmentLock, Model, Recipe
from codeenv.tasks.reading import read_model

_NOT_RECIPES = frozenset({"funnel.json", "repository.json"})
M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Taskset:
    """Recipes sorted by id, and by digest what they refer to."""

    recipes: tuple[Recipe, ...]
    baselines: Mapping[str, Baseline]
    environments: Mapping[str, EnvironmentLock]

    @classmethod
    def load(cls, where: str | Path) -> Self:
        """Read a folder, a recipe file, a shipped suite by name, or one shipped task by id.

        Raises:
            TaskError: If there is no such taskset, it is empty, or a file in it is malformed; the
                message names the file and what is wrong.
        """
        files = _recipe_files(where)
        recipes = _unique([(path, read_model(path, Recipe)) for path in files])
        folder = files[0].parent
        baselines = {r.baseline: r for r in recipes}
        environments = {r.environment: r for r in recipes}
        return cls(
            recipes,
            {d: _referred(folder, "baselines", d, Baseline, r.id) for d, r in baselines.items()},
            {
                d: _referred(folder, "environments", d, EnvironmentLock, r.id)
                for d, r in environments.items()
            },
        )

    @staticmethod
    def write(
        folder: Path,
        recipes: Iterable[Recipe],
        baselines: Iterable[Baseline],
        environments: Iterable[EnvironmentLock],
    ) -> None:
        """Write a taskset folder; each file appears whole or not at all, recipes last."""
        for name, models in (("environments", environments), ("baselines", baselines)):
            for model in models:
                write_atomic(folder / name / f"{digest_of(model)}.json", canonical(model))
        for recipe in recipes:
            write_atomic(folder / f"{recipe.id}.json", canonical(recipe))

    @property
    def ids(self) -> tuple[str, ...]:
        """All task ids, sorted."""
        return tuple(recipe.id for recipe in self.recipes)

    def baseline(self, digest: str) -> Baseline:
        """Return the baseline with this digest (``recipe.baseline``)."""
        return _get(self.baselines, digest, "baseline")

    def environment(self, digest: str) -> EnvironmentLock:
        """Return the environment lock with this digest (``recipe.environment``)."""
        return _get(self.environments, digest, "environment")

    def recipe(self, task_id: str) -> Recipe:
        """Return the recipe with this id."""
        for recipe in self.recipes:
            if recipe.id == task_id:
                return recipe
        raise TaskError(f"no task {task_id!r} in this taskset", hint=_near(task_id, self.ids))

    def select(self, ids: Iterable[str]) -> "Taskset":
        """Return the taskset with only these ids.

        Raises:
            TaskError: If an id is not in the taskset.
        """
        wanted = {task_id: self.recipe(task_id) for task_id in ids}
        kept = tuple(wanted[task_id] for task_id in sorted(wanted))
        return Taskset(
            kept,
            {r.baseline: self.baselines[r.baseline] for r in kept},
            {r.environment: self.environments[r.environment] for r in kept},
        )


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file beside its place and move it there, so that no reader sees half of it."""
    with atomic_draft(path) as draft:
        draft.write_bytes(data)


@contextmanager
def atomic_draft(path: Path) -> Iterator[Path]:
    """Yield a path beside ``path`` to write to; it is moved there unless the block raises."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def shipped_suites() -> tuple[str, ...]:
    """Return the names of the suites that come with codeenv."""
    root = data_folder("tasks")
    folders = root.iterdir() if root.is_dir() else ()
    return tuple(sorted(p.name for p in folders if p.is_dir() and _recipes_in(p)))


def _recipe_files(where: str | Path) -> tuple[Path, ...]:
    path = Path(where).expanduser()
    if path.is_file():
        return (path,)
    if not path.is_dir():
        path = _shipped(str(where))
        if path.is_file():
            return (path,)
    files = _recipes_in(path)
    if not files:
        hint = "a taskset folder holds one <task-id>.json per task; make one: codeenv generate"
        raise TaskError(f"no recipes in {path}", hint=hint)
    return files


def _recipes_in(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(p for p in folder.glob("[!.]*.json") if p.name not in _NOT_RECIPES))


def _shipped(name: str) -> Path:
    root = data_folder("tasks")
    suites = shipped_suites()
    tasks = {path.stem: path for suite in suites for path in _recipes_in(root / suite)}
    if name in suites:
        return root / name
    if name in tasks:
        return tasks[name]
    raise TaskError(
        f"no taskset {name!r}: neither a folder, a recipe file, a shipped suite nor a shipped task",
        hint=_near(name, (*suites, *tasks)),
    )


def _unique(read: Iterable[tuple[Path, Recipe]]) -> tuple[Recipe, ...]:
    seen: dict[str, tuple[Path, Recipe]] = {}
    for path, recipe in read:
        if recipe.id in seen:
            names = f"{seen[recipe.id][0].name} and {path.name}"
            raise TaskError(f"two recipes have the id {recipe.id!r}: {names}", hint="remove one")
        seen[recipe.id] = (path, recipe)
    return tuple(seen[task_id][1] for task_id in sorted(seen))


def _referred(folder: Path, name: str, digest: str, kind: type[M], task_id: str) -> M:
    path = folder / name / f"{digest}.json"
    if not path.is_file():
        raise TaskError(
            f"task {task_id} refers to {name}/{digest}.json, which is not in {folder}",
            hint="copy the whole taskset folder, not only the recipe",
        )
    model = read_model(path, kind)
    if (found := digest_of(model)) != digest:
        raise TaskError(
            f"{path} was changed: its digest is {found[:12]}…, not the one it is named by",
            hint="restore the file, or generate the taskset again",
        )
    return model


def _get(models: Mapping[str, M], digest: str, what: str) -> M:
    if digest not in models:
        raise TaskError(f"no {what} {digest[:12]}… in this taskset", hint="is the folder whole?")
    return models[digest]


def _near(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=3, cutoff=0.4)
    return f"did you mean {', '.join(near)}?" if near else "see: codeenv tasks list <folder>"

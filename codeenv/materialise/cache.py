"""Keeps assembled tasks on disk: one tar of files, one JSON that seals it."""

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from codeenv._paths import cache_folder
from codeenv.languages.base import Layout
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task
from codeenv.materialise.task import with_git
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import Baseline, EnvironmentLock, Recipe
from codeenv.tasks.taskset import write_atomic
from codeenv.tree import Delta, Entry, Tree

_PACKAGE = Path(__file__).resolve().parents[1]
_MAKERS = ("materialise", "languages")
"""The packages whose code decides what a recipe gives: a task made by other code is not found."""


def load_task(recipe: Recipe, baseline: Baseline, lock: EnvironmentLock) -> Task | None:
    """Return the kept task of a recipe, or None if there is none or it is damaged."""
    place = _place(recipe)
    try:
        seal = json.loads(place.with_suffix(".json").read_bytes())
        data = place.with_suffix(".tar").read_bytes()
    except (OSError, ValueError):
        return None
    if not isinstance(seal, dict) or seal.get("sha256") != hashlib.sha256(data).hexdigest():
        return None
    stored = Tree.from_tar(data)
    files = stored.under("workspace")
    if files.digest != recipe.damaged_tree:
        return None
    return Task(
        recipe=recipe,
        baseline=baseline,
        lock=lock,
        layout=_layout(seal["layout"]),
        instruction=seal["instruction"],
        workspace=with_git(files),
        grading_tree=files.apply(Delta(stored.under("grading"), frozenset(seal["grading"]))),
        oracle=Delta(stored.under("oracle").entries, frozenset(seal["oracle"])),
    )


def store_task(task: Task) -> None:
    """Keep a task; the seal is written last, so that a half-written one is never found."""
    files = without_git(task.workspace)
    grading = files.diff(task.grading_tree)
    parts = {"workspace": files, "grading": grading.write, "oracle": task.oracle.write}
    entries: dict[str, Entry] = {
        f"{name}/{path}": entry for name, part in parts.items() for path, entry in part.items()
    }
    data = Tree(entries).to_tar()
    seal = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "instruction": task.instruction,
        "layout": asdict(task.layout),
        "grading": sorted(grading.delete),
        "oracle": sorted(task.oracle.delete),
    }
    place = _place(task.recipe)
    write_atomic(place.with_suffix(".tar"), data)
    write_atomic(place.with_suffix(".json"), json.dumps(seal, sort_keys=True).encode())


def _place(recipe: Recipe) -> Path:
    key = hashlib.sha256(f"{_makers_digest()} {digest_of(recipe)}".encode()).hexdigest()
    return cache_folder("tasks") / key


@cache
def _makers_digest() -> str:
    total = hashlib.sha256()
    for package in _MAKERS:
        for file in sorted((_PACKAGE / package).rglob("*.py")):
            total.update(file.read_bytes())
    return total.hexdigest()


def _layout(values: dict[str, Any]) -> Layout:
    return Layout(**{name: tuple(value) for name, value in values.items()})

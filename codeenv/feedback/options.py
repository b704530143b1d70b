"""What rules need to know of an episode beside its turns."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from codeenv.grading.collect import counted_places
from codeenv.languages.python.layout import SUPPORT_FILES, is_test_name, is_test_place
from codeenv.materialise.models import Task
from codeenv.sandbox.variables import WORKSPACE
from codeenv.tools import schemas

Protected = Callable[[str], bool]
"""Whether a path, relative to the workspace, is a test or its configuration."""
Counts = Callable[[str], bool]
"""Whether a change of a path, relative to the workspace, can count."""


def looks_like_code(path: str) -> bool:
    """Return whether a path is code and no test by its name, for want of a task."""
    name = posixpath.basename(path)
    aside = path.startswith(("/", "../")) or name in SUPPORT_FILES
    return name.endswith(".py") and not aside and not is_test_name(name) and not is_test_place(path)


@dataclass(frozen=True)
class Options:
    """Facts and limits; the defaults are those of every episode.

    Attributes:
        tools: Function schemas of the tools there are, in order.
        protected: Which paths are tests or their configuration.
        counts: Where changes can count; anywhere in code where no task is known.
        longest_final: Characters of the message of ``submit`` that are no waste.
        difficulty: Of the task, in [0, 1], where the caller knows it.
        easy: Difficulty up to which much effort is a mistake.
        effort_limit: What is much, in thousand tokens or their equivalent.
    """

    tools: Sequence[Mapping[str, Any]] = field(default_factory=schemas)
    protected: Protected = lambda _path: False
    counts: Counts = looks_like_code
    longest_final: int = 500
    difficulty: float | None = None
    easy: float = 0.2
    effort_limit: float = 8.0

    @cached_property
    def functions(self) -> dict[str, Mapping[str, Any]]:
        """The tools' functions by name."""
        return {str(tool["function"]["name"]): tool["function"] for tool in self.tools}

    @property
    def is_easy(self) -> bool:
        """Whether the task is known to be easy."""
        return self.difficulty is not None and self.difficulty <= self.easy

    def may_count(self, path: str) -> bool:
        """Return whether a change of a path can count and needs a run of the tests."""
        return self.counts(path) and not self.protected(path)

    def schema_line(self, tool: str) -> str:
        """Return a tool's parameters on one line, e.g. ``read_file(path: string, …)``."""
        parameters = self.functions[tool].get("parameters", {})
        required = parameters.get("required", ())
        items = parameters.get("properties", {}).items()
        told = (f"{n}{'' if n in required else '?'}: {_type(info)}" for n, info in items)
        return f"{tool}({', '.join(told)})"


def _type(info: Mapping[str, Any]) -> str:
    return "|".join(map(str, info["enum"])) if "enum" in info else str(info.get("type", "any"))


def options_for(task: Task, tools: Sequence[Mapping[str, Any]] | None = None) -> Options:
    """Return the options for episodes of a task; ``tools`` are those of ``core4`` by default."""
    return Options(
        tools=schemas() if tools is None else tools,
        protected=protected_in(task),
        counts=counts_in(task),
        difficulty=task.recipe.difficulty.prior,
    )


def protected_in(task: Task) -> Protected:
    """Return which paths of a task are its tests or their configuration, as the agent knows them.

    A test that is not in the workspace is a path like any other: nothing tells that it is there.
    """
    hidden = (*task.layout.test_files, *task.layout.support_files)
    known = frozenset(path for path in hidden if path in task.workspace)
    return lambda path: path in known or posixpath.basename(path) in SUPPORT_FILES


def counts_in(task: Task) -> Counts:
    """Return where changes can count in a task."""
    places = frozenset(counted_places(task))
    below = tuple(f"{place}/" for place in sorted(places))
    return lambda path: path in places or path.startswith(below)


def inside(path: str) -> str:
    """Return a path as the tools take it: relative where it lies in the workspace."""
    normal = posixpath.normpath(path) if path else ""
    if normal == WORKSPACE or normal.startswith(f"{WORKSPACE}/"):
        return normal[len(WORKSPACE) + 1 :] or "."
    return normal

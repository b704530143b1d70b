"""What rules need to know of an episode beside its turns."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from codeenv.languages.python.layout import SUPPORT_FILES
from codeenv.materialise.models import Task
from codeenv.sandbox.variables import WORKSPACE
from codeenv.tools import schemas

Protected = Callable[[str], bool]
"""Whether a path, relative to the workspace, is a test or its configuration."""


@dataclass(frozen=True)
class Options:
    """Facts and limits; the defaults are those of every episode.

    Attributes:
        tools: Function schemas of the tools there are, in order.
        protected: Which paths never count.
        longest_final: Characters of the message of ``submit`` that are no waste.
        difficulty: Of the task, in [0, 1], where the caller knows it.
        easy: Difficulty up to which much effort is a mistake.
        effort_limit: What is much, in thousand tokens or their equivalent.
    """

    tools: Sequence[Mapping[str, Any]] = field(default_factory=schemas)
    protected: Protected = lambda _path: False
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
        difficulty=task.recipe.difficulty.prior,
    )


def protected_in(task: Task) -> Protected:
    """Return which paths of a task are its tests or their configuration."""
    known = frozenset((*task.layout.test_files, *task.layout.support_files))
    return lambda path: path in known or posixpath.basename(path) in SUPPORT_FILES


def inside(path: str) -> str:
    """Return a path as the tools take it: relative where it lies in the workspace."""
    normal = posixpath.normpath(path) if path else ""
    if normal == WORKSPACE or normal.startswith(f"{WORKSPACE}/"):
        return normal[len(WORKSPACE) + 1 :] or "."
    return normal

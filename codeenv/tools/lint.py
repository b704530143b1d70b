"""``lint``: what is wrong with changed files that was not wrong when the episode began."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from codeenv.errors import PathError
from codeenv.sandbox.base import Sandbox
from codeenv.tools.base import Arguments, Tool, ToolContext, ToolResult
from codeenv.tools.syntax import syntax_problem
from codeenv.tools.text import clean_path, readable
from codeenv.tree import Entry, Tree

_MAX_FILES = 50
_MAX_ROWS = 100
_ROW = re.compile(r"^[^:\n]*:(\d+):\d+: (.*)$")
_LINTERS: Mapping[str, tuple[str, ...]] = {
    "ruff": ("ruff", "check", "--no-cache", "--output-format", "concise", "--stdin-filename"),
    "flake8": ("flake8", "--stdin-display-name"),
}


class Lint(Arguments):
    """Which part to look at."""

    path: Annotated[
        str, Field(description="File or directory. Default: files changed in this episode.")
    ] = ""


def perform(arguments: Lint, context: ToolContext) -> ToolResult:
    """Report new problems of the changed Python files below the path."""
    path = clean_path(arguments.path or ".", context.sandbox.workspace)
    if path != "." and not context.sandbox.list_files(path, depth=1):
        raise PathError(f"{path} does not exist")
    changed = _changed(path, context)
    linter = _linter(context.start)
    rows = [
        row
        for name, entry in list(changed.items())[:_MAX_FILES]
        for row in _new_problems(context, name, entry.data, linter)
    ]
    shown = rows[:_MAX_ROWS]
    if len(rows) > len(shown):
        shown.append(f"[{len(rows) - len(shown)} more problems]")
    if len(changed) > _MAX_FILES:
        shown.append(f"[only {_MAX_FILES} of {len(changed)} changed files were checked]")
    text = "\n".join(shown) or "No new problems."
    truncated = len(rows) > _MAX_ROWS or len(changed) > _MAX_FILES
    return ToolResult("lint", text, truncated=truncated, output_bytes=len(text.encode()))


def _changed(path: str, context: ToolContext) -> dict[str, Entry]:
    written = context.start.diff(context.sandbox.export()).write
    return {
        name: entry
        for name, entry in written.items()
        if name.endswith((".py", ".pyi"))
        and entry.mode != "link"
        and (path == "." or name == path or name.startswith(path + "/"))
    }


def _new_problems(context: ToolContext, path: str, data: bytes, linter: str) -> list[str]:
    before = context.start[path].data if path in context.start else None
    old = (
        Counter[str]()
        if before is None
        else Counter(message for _, message in _problems(context.sandbox, path, before, linter))
    )
    rows = []
    for line, message in _problems(context.sandbox, path, data, linter):
        if old[message]:
            old[message] -= 1
        else:
            rows.append(f"{path}:{line}: {message}")
    return rows


def _problems(sandbox: Sandbox, path: str, data: bytes, linter: str) -> list[tuple[str, str]]:
    """Return line and message of each problem of a file's content."""
    problem = syntax_problem(sandbox, data)
    if problem:
        line, _, message = problem.removeprefix("line ").partition(": ")
        return [(line, f"syntax error: {message}")]
    if not linter:
        return []
    result = sandbox.exec(
        (*_LINTERS[linter], path, "-"), timeout=30.0, stdin=data, env={"NO_COLOR": "1"}
    )
    found = (_ROW.match(row) for row in readable(result.text).splitlines())
    return [(row[1], row[2]) for row in found if row]


def _linter(start: Tree) -> str:
    """Return the linter the project configures, or ""; one that is not installed finds nothing."""
    if "ruff.toml" in start or ".ruff.toml" in start or "ruff" in _tools(start):
        return "ruff"
    sections = (start[name].data for name in ("setup.cfg", "tox.ini") if name in start)
    if ".flake8" in start or any(b"[flake8]" in data for data in sections):
        return "flake8"
    return ""


def _tools(start: Tree) -> Mapping[str, Any]:
    if "pyproject.toml" not in start:
        return {}
    try:
        read = tomllib.loads(start["pyproject.toml"].data.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return {}
    tools = read.get("tool", {})
    return tools if isinstance(tools, dict) else {}


TOOL = Tool(
    "lint",
    "Check Python syntax and the project's linter on one path; reports only problems that were not "
    "there at the start of the episode.",
    Lint,
    perform,
)

"""An agent that plays the deleted code back, call by call: what it scores, a task can give."""

import base64
import shlex
from collections.abc import Iterator

from codeenv.materialise.models import Task
from codeenv.tools import ToolCall, ToolResult
from codeenv.tools.edit_file import overwritten
from codeenv.tree import Entry, Tree
from codeenv_harness.agents.base import Briefing

_CHUNK = 60_000
"""Characters of base64 per command: less than what one argument may have."""


class OracleAgent:
    """Reads and overwrites every file the deletion touched, then submits."""

    name = "oracle"

    def __init__(self, task: Task) -> None:
        """Take the task with its solution."""
        self._task = task
        self._calls: Iterator[ToolCall] = iter(())

    def reset(self, briefing: Briefing) -> None:
        """Begin at the first file."""
        self._calls = iter(solution_calls(self._task))

    def act(self, observation: ToolResult | None) -> ToolCall | None:
        """Return the next call."""
        return next(self._calls, None)


def solution_calls(task: Task) -> Iterator[ToolCall]:
    """Yield the calls that bring a task's code back, ``submit`` last."""
    for path, entry in sorted(task.oracle.write.items()):
        if path in task.workspace:
            yield ToolCall(tool="read_file", arguments={"path": path})
        yield from _write(task.workspace, path, entry)
    for path in sorted(task.oracle.delete):
        yield _run(f"rm -f -- {shlex.quote(path)}")
    yield ToolCall(tool="submit", arguments={"message": "the deleted code is back"})


def _write(workspace: Tree, path: str, entry: Entry) -> Iterator[ToolCall]:
    before = workspace.get(path)
    name = shlex.quote(path)
    if entry.mode == "link":
        target = shlex.quote(entry.data.decode("utf-8", "surrogateescape"))
        yield _run(f"ln -sfn -- {target} {name}")
        return
    text = _text(None if before is None else before.data, entry.data)
    if text is None:
        yield from _write_bytes(name, entry.data)
    else:
        arguments = {"path": path, "old_str": "", "new_str": text, "overwrite": True}
        yield ToolCall(tool="edit_file", arguments=arguments)
    if (before.mode if before else "file") != entry.mode:
        yield _run(f"chmod {'+x' if entry.mode == 'exec' else '-x'} -- {name}")


def _text(before: bytes | None, wanted: bytes) -> str | None:
    """Return the text that ``edit_file`` turns into exactly these bytes, if there is one."""
    try:
        text = wanted.decode()
    except UnicodeDecodeError:
        return None
    binary = b"\0" in wanted or b"\0" in (before or b"")
    return None if binary or overwritten(before, text) != wanted else text


def _write_bytes(name: str, data: bytes) -> Iterator[ToolCall]:
    code = base64.b64encode(data).decode()
    yield _run(f'mkdir -p -- "$(dirname -- {name})" && : > {name}')
    for start in range(0, len(code), _CHUNK):
        yield _run(f"printf %s {code[start : start + _CHUNK]} | base64 -d >> {name}")


def _run(command: str) -> ToolCall:
    return ToolCall(tool="run_command", arguments={"command": command})

"""``run_command``: one command line in a fresh shell of the box."""

from typing import Annotated

from pydantic import Field

from codeenv.sandbox.base import ExecResult
from codeenv.tools.base import Arguments, Tool, ToolContext, ToolError, ToolResult
from codeenv.tools.text import clean_path, readable, unicode_only

OUTPUT_LIMIT = 12_000
"""Bytes of output shown: head and tail in equal parts."""
QUIET = {
    "LANG": "C.UTF-8",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "PIP_PROGRESS_BAR": "off",
    "TERM": "dumb",
    "PYTHONDONTWRITEBYTECODE": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""Variables that keep programs from waiting for a person, or paging.

None that changes what is written beyond that: an agent runs tests that look at it.
"""


_EXHAUSTED = {
    "memory": "out of memory: a process was killed",
    "disk": "the disk is full",
    "files": "the disk holds no more files",
}


class RunCommand(Arguments):
    """What to run, where, for how long."""

    command: Annotated[str, Field(description="Bash command line or script.")]
    timeout: Annotated[
        int,
        Field(
            description="Seconds before the whole process tree is killed. Default 60, max 600.",
            ge=1,
            le=600,
        ),
    ] = 60
    workdir: Annotated[str, Field(description="Directory to run in. Default: repository root.")] = (
        ""
    )


def perform(arguments: RunCommand, context: ToolContext) -> ToolResult:
    """Run the command; a failing command is a result, not an error."""
    command = arguments.command
    unicode_only("command", command)
    if not command.strip() or "\0" in command:
        raise ToolError("bad_arguments", "command is empty or has a NUL character")
    result = context.sandbox.exec(
        command,
        timeout=float(arguments.timeout),
        cwd=_folder(arguments.workdir, context),
        env=QUIET,
        output_limit=OUTPUT_LIMIT,
    )
    rows = [_shown(result)]
    if result.timed_out:
        why = f"still running after {arguments.timeout} s"
        why = "nothing was written for too long" if result.idle else why
        rows.append(f"error[timeout]: {why}; the process tree was killed")
    elif result.exit_code:
        rows.append(f"[exit code {result.exit_code}]")
    rows += [f"[{_EXHAUSTED[what]}]" for what in result.exhausted]
    return ToolResult(
        "run_command",
        "\n".join(rows),
        ok=not result.timed_out,
        error="timeout" if result.timed_out else "",
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        truncated=result.truncated,
        output_bytes=result.output_bytes,
        exhausted=result.exhausted,
    )


def _folder(workdir: str, context: ToolContext) -> str:
    if not workdir:
        return ""
    path = clean_path(workdir, context.sandbox.workspace)
    found = context.sandbox.list_files(path, depth=1)
    if len(found) == 1 and found[0].path == path and found[0].kind != "directory":
        raise ToolError("bad_arguments", f"workdir {path} is not a directory")
    return path


def _shown(result: ExecResult) -> str:
    if not result.truncated:
        return readable(result.text).rstrip("\n") or "(no output)"
    middle = len(result.output) // 2
    head = readable(result.output[:middle].decode("utf-8", "replace")).rstrip("\ufffd")
    tail = readable(result.output[middle:].decode("utf-8", "replace")).lstrip("\ufffd")
    left_out = result.output_bytes - len(result.output)
    log = f"; full output: {result.log_path}" if result.log_path else ""
    return f"{head}\n[… {left_out} bytes elided{log} …]\n{tail}".rstrip("\n")


TOOL = Tool(
    "run_command",
    "Run a bash command in a fresh non-interactive shell (stdin is empty; no TTY; no pager). The "
    "working directory is the repository root unless workdir is given; environment changes do not "
    "persist. Output is stdout and stderr interleaved, truncated in the middle.",
    RunCommand,
    perform,
)

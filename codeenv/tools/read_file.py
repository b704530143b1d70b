"""``read_file``: numbered lines of a file, or two levels of a folder."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from codeenv.errors import PathError
from codeenv.sandbox.base import PathInfo
from codeenv.tools.base import Arguments, Tool, ToolContext, ToolError, ToolResult
from codeenv.tools.text import (
    FileText,
    clean_path,
    is_binary,
    numbered,
    printable,
    shorten,
    split_lines,
)

_DEFAULT_LINES = 250
_MAX_LINES = 1000
_MAX_CHARS = 20_000
_WHOLE_FILE = 10 * 1024**2
_RANGED_FILE = 64 * 1024**2
_MAX_ENTRIES = 500


class ReadFile(Arguments):
    """Which file or folder, and which lines of it."""

    path: Annotated[
        str,
        Field(
            description="File or directory, relative to the repository root "
            "(or absolute inside it)."
        ),
    ]
    start_line: Annotated[
        int, Field(description="First line to show, 1-based. Default 1.", ge=1)
    ] = 1
    end_line: Annotated[
        int,
        Field(
            description="Last line to show, inclusive. Default start_line+249; "
            "-1 means end of file."
        ),
    ] = 0


def perform(arguments: ReadFile, context: ToolContext) -> ToolResult:
    """Show a file's lines or a folder's entries."""
    path = clean_path(arguments.path, context.sandbox.workspace)
    ranged = arguments.start_line > 1 or arguments.end_line != 0
    try:
        data = context.sandbox.read_file(path, limit=_RANGED_FILE if ranged else _WHOLE_FILE)
    except PathError as error:
        if error.code == "is_directory":
            return _folder(path, context)
        if error.code == "too_large" and not ranged:
            raise ToolError(
                "too_large", f"{error.message}; give start_line and end_line to read a part"
            ) from error
        raise
    if is_binary(data):
        raise ToolError("binary", f"{path} is a binary file of {len(data)} bytes")
    return _lines(path, FileText.of(data), arguments)


def _lines(path: str, file: FileText, arguments: ReadFile) -> ToolResult:
    lines = split_lines(printable(file.text))
    if not lines:
        return ToolResult("read_file", "(empty file)", output_bytes=0)
    first, last = _range(path, len(lines), arguments)
    shown, cut = _fit(lines[first - 1 : last], first)
    last = first + shown.count("\n")
    notes = _notes(file, first, last, len(lines))
    text = "\n".join([shown, *notes])
    truncated = cut or (first, last) != (1, len(lines))
    return ToolResult("read_file", text, truncated=truncated, output_bytes=len(text.encode()))


def _range(path: str, total: int, arguments: ReadFile) -> tuple[int, int]:
    """Return the first and last line to show."""
    first, last = arguments.start_line, arguments.end_line
    if first > total:
        raise ToolError(
            "bad_arguments", f"start_line {first} is past the end: {path} has {total} lines"
        )
    if last == 0:
        return first, min(total, first + _DEFAULT_LINES - 1)
    if last == -1:
        last = total
    if last < first:
        raise ToolError("bad_arguments", f"end_line {last} is before start_line {first}")
    return first, min(total, last, first + _MAX_LINES - 1)


def _fit(lines: list[str], first: int) -> tuple[str, bool]:
    """Return numbered lines up to the character limit, and whether any line was shortened."""
    shown: list[str] = []
    used = 0
    for offset, line in enumerate(lines):
        row = numbered([line], first + offset)
        used += len(row) + 1
        if shown and used > _MAX_CHARS:
            break
        shown.append(row)
    return "\n".join(shown), any(shorten(line) != line for line in lines[: len(shown)])


def _notes(file: FileText, first: int, last: int, total: int) -> list[str]:
    notes = []
    if last < total:
        notes.append(f"lines {first}-{last} of {total}; continue with start_line={last + 1}")
    elif first > 1:
        notes.append(f"lines {first}-{last} of {total}")
    notes += ["CRLF line endings, kept by edit_file"] if file.newline == "\r\n" else []
    notes += ["byte order mark, kept by edit_file"] if file.bom else []
    notes += ["no newline at end of file"] if last == total and not file.raw.endswith("\n") else []
    return [f"[{note}]" for note in notes]


def _folder(path: str, context: ToolContext) -> ToolResult:
    base = "" if path == "." else path.rstrip("/") + "/"
    found = [
        replace(info, path=info.path.removeprefix(base))
        for info in context.sandbox.list_files(path, depth=2)
    ]
    visible = [i for i in found if not any(p.startswith(".") for p in i.path.split("/"))]
    hidden = [i for i in found if _is_hidden_root(i.path)]
    rows = [f"{path.rstrip('/')}/", *map(_row, visible[:_MAX_ENTRIES])]
    if len(visible) > _MAX_ENTRIES:
        rows.append(f"[{len(visible) - _MAX_ENTRIES} more entries; read a sub-directory]")
    if hidden:
        rows.append(f"[{len(hidden)} hidden entries omitted]")
    text = "\n".join(rows)
    truncated = len(visible) > _MAX_ENTRIES
    return ToolResult("read_file", text, truncated=truncated, output_bytes=len(text.encode()))


def _is_hidden_root(path: str) -> bool:
    """Return whether a path is hidden itself, not by a hidden folder above it."""
    *parents, name = path.split("/")
    return name.startswith(".") and not any(parent.startswith(".") for parent in parents)


def _row(info: PathInfo) -> str:
    mark = {"directory": "/", "link": "@"}.get(info.kind, "")
    return f"  {info.path}{mark}"


TOOL = Tool(
    "read_file",
    "Read a text file with 1-based line numbers, or list a directory (2 levels). Shows at most 250 "
    "lines per call unless end_line is given (max 1000 lines, 20000 characters).",
    ReadFile,
    perform,
)

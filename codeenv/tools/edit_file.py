"""``edit_file``: replace one exact piece of a file, or write a whole one."""

from typing import Annotated

from pydantic import Field

from codeenv.errors import PathError
from codeenv.tools.base import Arguments, Tool, ToolContext, ToolError, ToolResult
from codeenv.tools.near import near_miss
from codeenv.tools.syntax import new_syntax_problem
from codeenv.tools.text import (
    FileText,
    clean_path,
    find_all,
    is_binary,
    line_changes,
    numbered,
    printable,
    split_lines,
    unicode_only,
)

_AROUND = 4
_SNIPPET = 40


class EditFile(Arguments):
    """What to replace by what, where."""

    path: Annotated[str, Field(description="File to edit or create.")]
    old_str: Annotated[
        str, Field(description="Exact text to replace. Empty string to create a file.")
    ]
    new_str: Annotated[str, Field(description="Replacement text (may be empty to delete).")]
    replace_all: Annotated[bool, Field(description="Replace every occurrence. Default false.")] = (
        False
    )
    overwrite: Annotated[
        bool,
        Field(
            description="With empty old_str: replace the whole content of an existing file. "
            "Default false."
        ),
    ] = False


def perform(arguments: EditFile, context: ToolContext) -> ToolResult:
    """Change the file and show the changed place."""
    path = clean_path(arguments.path, context.sandbox.workspace)
    unicode_only("old_str", arguments.old_str)
    unicode_only("new_str", arguments.new_str)
    if not context.writable(path):
        raise ToolError("protected_path", f"{path} must not be changed in this task")
    old = arguments.old_str.replace("\r\n", "\n")
    new = arguments.new_str.replace("\r\n", "\n")
    before = _existing(path, context)
    after, sites = _edited(path, before, old, new, arguments)
    problem = new_syntax_problem(context.sandbox, path, before, after)
    if problem and context.edit_guard == "reject":
        raise ToolError("bad_arguments", f"not written: {path} would not parse ({problem})")
    context.sandbox.write_file(path, after)
    return _report(path, before, after, sites, problem)


def overwritten(before: bytes | None, text: str) -> bytes:
    """Return the bytes a whole-file edit leaves: a file keeps its line ending and its mark."""
    if not before:
        return text.encode()
    file = FileText.of(before)
    text = text.replace("\r\n", "\n").removeprefix("\ufeff" if file.bom else "")
    return file.encode(file.own(text))


def _existing(path: str, context: ToolContext) -> bytes | None:
    try:
        data = context.sandbox.read_file(path)
    except PathError as error:
        if error.code == "not_found":
            return None
        if error.code == "is_directory":
            raise ToolError("bad_arguments", f"{path} is a directory") from error
        raise
    if is_binary(data):
        raise ToolError("binary", f"{path} is a binary file of {len(data)} bytes")
    return data


def _edited(
    path: str, before: bytes | None, old: str, new: str, arguments: EditFile
) -> tuple[bytes, int]:
    """Return the new bytes and the number of replaced places (0: the whole file)."""
    if not old:
        if before and not arguments.overwrite:
            raise ToolError(
                "bad_arguments",
                f"{path} exists: give old_str, or set overwrite=true to replace all of it",
            )
        return overwritten(before, arguments.new_str), 0
    if before is None:
        raise ToolError("not_found", f"{path} does not exist; an empty old_str creates a file")
    if old == new:
        raise ToolError("bad_arguments", "old_str and new_str are the same: nothing to change")
    file = FileText.of(before)
    sites = find_all(file.text, old)
    _check_sites(path, file.text, old, sites, arguments.replace_all)
    return file.replace(old, new, count=len(sites)), len(sites)


def _check_sites(path: str, text: str, old: str, sites: list[int], replace_all: bool) -> None:
    if not sites:
        near = near_miss(text, old)
        raise ToolError("no_match", f"old_str is not in {path}" + (f"; {near}" if near else ""))
    if len(sites) > 1 and not replace_all:
        numbers = ", ".join(str(text.count("\n", 0, at) + 1) for at in sites[:10])
        more = " …" if len(sites) > 10 else ""
        raise ToolError(
            "not_unique",
            f"old_str occurs {len(sites)} times in {path} (lines {numbers}{more}); "
            "add context or set replace_all",
        )


def _report(path: str, before: bytes | None, after: bytes, sites: int, problem: str) -> ToolResult:
    old = printable(FileText.of(before or b"").text)
    new = printable(FileText.of(after).text)
    added, removed = line_changes(old, new)
    verb = "created" if before is None else "edited"
    rows = [f"{verb} {path}: +{added} -{removed}"]
    if sites > 1:
        rows[0] += f" ({sites} places; the first is shown)"
    rows += [_snippet(old, new, added)]
    if problem:
        rows.append(f"warning: the file no longer parses: {problem}")
    text = "\n".join(row for row in rows if row)
    return ToolResult("edit_file", text, output_bytes=len(text.encode()))


def _snippet(old: str, new: str, added: int) -> str:
    """Return the first changed place with some lines around it."""
    before, after = split_lines(old), split_lines(new)
    pairs = zip(before, after, strict=False)
    same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    first = max(0, same - _AROUND)
    last = min(len(after), same + max(added, 1) + _AROUND)
    shown = after[first : min(last, first + _SNIPPET)]
    more = f"\n[{last - first - len(shown)} more lines]" if last - first > len(shown) else ""
    return numbered(shown, first + 1) + more


TOOL = Tool(
    "edit_file",
    "Replace an exact, unique string in a file, or create a file. old_str must match the file "
    "exactly (including whitespace) and occur once unless replace_all is true. An empty old_str "
    "creates a new file with new_str (fails if the file exists, unless overwrite is true).",
    EditFile,
    perform,
)

"""``search``: a regular expression over the repository's text files."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from codeenv.sandbox.base import Match, SearchQuery, SearchResult
from codeenv.tools.base import Arguments, Tool, ToolContext, ToolError, ToolResult
from codeenv.tools.text import clean_path, readable, shorten, unicode_only

_LINE = 300


class Search(Arguments):
    """What to look for, where, and how to show it."""

    pattern: Annotated[
        str,
        Field(description="Regular expression, or literal text when fixed_strings is true."),
    ]
    path: Annotated[
        str, Field(description="File or directory to search. Default: repository root.")
    ] = "."
    glob: Annotated[
        str, Field(description="Only files whose path matches this glob, e.g. **/*.py.")
    ] = ""
    ignore_case: Annotated[bool, Field(description="Case-insensitive. Default false.")] = False
    fixed_strings: Annotated[
        bool, Field(description="Treat pattern as literal text. Default false.")
    ] = False
    output: Annotated[
        Literal["content", "files", "count"],
        Field(description="content: matching lines; files: paths only; count: matches per file."),
    ] = "content"
    context_lines: Annotated[
        int,
        Field(description="Lines of context around each match (0-10). Default 0.", ge=0, le=10),
    ] = 0
    max_results: Annotated[
        int,
        Field(
            description="Maximum matches (or files) returned. Default 50, max 200.", ge=1, le=200
        ),
    ] = 50


def perform(arguments: Search, context: ToolContext) -> ToolResult:
    """Search and show; finding nothing is not an error."""
    unicode_only("pattern", arguments.pattern)
    unicode_only("glob", arguments.glob)
    if not arguments.pattern:
        raise ToolError("bad_arguments", "pattern is empty")
    query = SearchQuery(
        pattern=arguments.pattern,
        path=clean_path(arguments.path, context.sandbox.workspace),
        glob=arguments.glob,
        ignore_case=arguments.ignore_case,
        fixed_strings=arguments.fixed_strings,
        context_lines=arguments.context_lines,
        max_results=arguments.max_results,
    )
    found = context.sandbox.search(query)
    rows, footer = _rows(found, arguments)
    text = readable("\n".join([*rows, footer] if footer else rows)) or "(no matches)"
    return ToolResult("search", text, truncated=bool(footer), output_bytes=len(text.encode()))


def _rows(found: SearchResult, arguments: Search) -> tuple[list[str], str]:
    """Return the rows to show, and a line with the totals if something was left out."""
    files = f"{len(found.counts)} file{'s' if len(found.counts) != 1 else ''}"
    if arguments.output == "content":
        rows = list(_content(found.matches))
        if len(found.matches) < found.total:
            return rows, (
                f"[{len(found.matches)} of {found.total} matches in {files}; "
                "narrow the pattern or raise max_results]"
            )
        return rows, ""
    shown = list(found.counts.items())[: arguments.max_results]
    counted = arguments.output == "count"
    rows = [f"{path}:{count}" if counted else path for path, count in shown]
    return rows, f"[{len(shown)} of {files}]" if len(shown) < len(found.counts) else ""


def _content(matches: tuple[Match, ...]) -> Iterator[str]:
    """Yield matches with their context; a line is shown once, a gap as ``--``."""
    context = any(match.before or match.after for match in matches)
    last: tuple[str, int] = ("", 0)
    ahead = {(match.path, match.line) for match in matches}
    for match in matches:
        rows = [
            *((match.line - len(match.before) + i, t) for i, t in enumerate(match.before)),
            (match.line, match.text),
            *((match.line + 1 + i, t) for i, t in enumerate(match.after)),
        ]
        if context and last[1] and (last[0] != match.path or rows[0][0] > last[1] + 1):
            yield "--"
        for number, text in rows:
            fresh = last[0] != match.path or number > last[1]
            if not fresh or (number != match.line and (match.path, number) in ahead):
                continue
            mark = ":" if number == match.line else "-"
            yield f"{match.path}{mark}{number}{mark}{shorten(text, _LINE)}"
            last = (match.path, number)


TOOL = Tool(
    "search",
    "Search file contents (Python re syntax) in tracked and untracked, non-ignored text files. "
    "Results are sorted by path.",
    Search,
    perform,
)

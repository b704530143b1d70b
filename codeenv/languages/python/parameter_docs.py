"""What a docstring says of one parameter: its fields, or its entry in a list of arguments."""

import ast
import re
from collections.abc import Iterator
from textwrap import dedent

from codeenv.languages.python.definitions import docstring_node
from codeenv.languages.python.edits import Edit, Label
from codeenv.languages.python.syntax import Function, Source

_FIELD = r"[:@](?:param|parameter|arg|argument|type|key|keyword|kwarg|kwparam)\s+(?:[^:]*\s)?"
_BULLET = r"(?:[-*+]\s+)?"
_HEADING = re.compile(r"\s*(?:(?:Keyword|Other)\s+)?(?:Args|Arguments|Parameters|Params)\s*:?\s*$")
_RULE = re.compile(r"\s*-{3,}\s*$")


def drop_entries(source: Source, node: Function, name: str, label: Label) -> Iterator[Edit]:
    """Yield the edits that take a parameter's entries out of the docstring, in whole lines.

    Raises:
        ValueError: If an entry shares its last line with the end of the docstring.
    """
    docstring = docstring_node(node)
    for first, last in _entries(source, node, name):
        if docstring and last == docstring.end_lineno:
            raise ValueError(f"its documentation shares a line with the docstring's end: {name}")
        start, end = _with_heading(source, first, last)
        span = source.line_start(start), source.line_start(end + 1)
        yield Edit(*span, "", label.symbol, label.kind, label.mode)


def entry_text(source: Source, node: Function, name: str) -> str:
    """Return what the docstring says of a parameter, or ""."""
    found = [
        dedent("\n".join(source.line(line) for line in range(first, last + 1)))
        for first, last in _entries(source, node, name)
    ]
    return "\n".join(found)


def said_of(entry: str) -> str:
    """Return an entry's own words: without names and types before the first colon."""
    first, _, rest = entry.partition("\n")
    field = re.match(r"[:@]\w+[^:]*:\s*", first)
    head = field.end() if field else first.find(":") + 1
    return dedent(f"{first[head:].strip()}\n{dedent(rest)}").strip()


def sentence_on(node: Function, name: str) -> str:
    """Return the first sentence of a docstring that speaks of a parameter, or ""."""
    text = " ".join((ast.get_docstring(node) or "").split())
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return next((s for s in sentences if re.search(rf"\b{re.escape(name)}\b", s)), "")


def _entries(source: Source, node: Function, name: str) -> Iterator[tuple[int, int]]:
    """Yield first and last line of each entry, a blank line at its end left out."""
    docstring = docstring_node(node)
    if docstring is None:
        return
    word = rf"[`*\"']*{re.escape(name)}[`*\"']*"
    entry = re.compile(
        rf"\s*(?:{_FIELD}{re.escape(name)}\s*:|{_BULLET}{word}\s*(?:\([^)]*\))?\s*:(?!:))"
    )
    end = docstring.end_lineno or docstring.lineno
    line = docstring.lineno + 1
    while line <= end:
        first = line
        line += 1
        if entry.match(source.line(first)):
            last = first
            depth = _depth(source, first)
            while line <= end and (source.is_blank(line) or _depth(source, line) > depth):
                last = last if source.is_blank(line) else line
                line += 1
            yield first, last
            line = last + 1


def _with_heading(source: Source, first: int, last: int) -> tuple[int, int]:
    """Return the lines of an entry, with the heading and a gap below where it is the only one."""
    above = first - 1
    ruled = bool(_RULE.match(source.line(above)))
    heading = above - 1 if ruled else above
    below = last + 1
    while below < source.lines and source.is_blank(below):
        below += 1
    more = _depth(source, below) >= _depth(source, first) and not (ruled and below > last + 1)
    ended = source.line(below).strip() in ('"""', "'''")
    if _HEADING.match(source.line(heading)) and (ended or not more):
        return heading, last if ended else below - 1
    return first, last


def _depth(source: Source, line: int) -> int:
    return len(source.indent(line).expandtabs(8))

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
_HEADING = re.compile(
    r"(?i)\s*(?:(?:Keyword|Other)\s+)?(?:Args|Arguments|Parameters|Params)\s*:?\s*$"
)
_RULE = re.compile(r"\s*-{3,}\s*$")
_TYPE = re.compile(r"[:@]type\b")
_NO_PROSE = re.compile(r"[:@]|>>>|-{3}|[-*+]\s|\.\.\s")


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


def said_of(source: Source, node: Function, name: str) -> str:
    """Return a parameter's description in its own words: without names and types, or ""."""
    for first, last in _entries(source, node, name):
        head = source.line(first).strip()
        if not _TYPE.match(head):
            rest = dedent("\n".join(source.line(line) for line in range(first + 1, last + 1)))
            own = "" if _is_below_rule(source, node, first) else head[_intro(head) :]
            return f"{own.strip()}\n{rest}".strip()
    return ""


def sentence_on(node: Function, name: str) -> str:
    """Return the first sentence of a docstring's prose that speaks of a parameter, or ""."""
    for paragraph in re.split(r"\n\s*\n", ast.get_docstring(node) or ""):
        lines = paragraph.strip("\n").split("\n")
        if any(line[:1].isspace() or _NO_PROSE.match(line) for line in lines):
            continue
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split())):
            if re.search(rf"\b{re.escape(name)}\b", sentence):
                return sentence
    return ""


def _intro(head: str) -> int:
    """Return how much of an entry's first line is its name and type."""
    found = re.match(r"[:@]\w+[^:]*:|\S+\s+--\s|[^:]*:|\S+$", head)
    return found.end() if found else 0


def _is_below_rule(source: Source, node: Function, line: int) -> bool:
    """Return whether an entry is in a section with a rule: its first line has but a type."""
    depth = _depth(source, line)
    while line > node.lineno and (source.is_blank(line) or _depth(source, line) >= depth):
        if _RULE.match(source.line(line)):
            return True
        line -= 1
    return False


def _entries(source: Source, node: Function, name: str) -> Iterator[tuple[int, int]]:
    """Yield first and last line of each entry, a blank line at its end left out."""
    docstring = docstring_node(node)
    if docstring is None:
        return
    word = rf"[`*\"']*{re.escape(name)}[`*\"']*"
    entry = re.compile(
        rf"\s*(?:{_FIELD}{re.escape(name)}\s*:|{_BULLET}{word}\s*(?:\([^)]*\))?\s*:(?!:))"
        rf"|\s*{word}\s+--\s"
    )
    alone = re.compile(rf"\s*{word}\s*$")
    end = docstring.end_lineno or docstring.lineno
    line = docstring.lineno + 1
    while line <= end:
        first = line
        line += 1
        depth = _depth(source, first)
        headed = alone.match(source.line(first)) and not source.is_blank(line)
        if entry.match(source.line(first)) or (headed and _depth(source, line) > depth):
            last = first
            while line <= end and (source.is_blank(line) or _depth(source, line) > depth):
                last = last if source.is_blank(line) else line
                line += 1
            yield first, last
            line = last + 1


def _with_heading(source: Source, first: int, last: int) -> tuple[int, int]:
    """Return the lines of an entry, with the heading and a gap below where it is the only one."""
    above = first - 1
    heading = above - 1 if _RULE.match(source.line(above)) else above
    below = last + 1
    while below < source.lines and source.is_blank(below):
        below += 1
    flat = _depth(source, heading) == _depth(source, first)
    more = _depth(source, below) >= _depth(source, first) and not (flat and below > last + 1)
    ended = source.line(below).strip() in ('"""', "'''")
    if _HEADING.match(source.line(heading)) and (ended or not more):
        return heading, last if ended else below - 1
    return first, last


def _depth(source: Source, line: int) -> int:
    return len(source.indent(line).expandtabs(8))

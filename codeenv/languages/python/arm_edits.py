"""The edits that take a parameter's conditions and arms out of a source; only deletions."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codeenv.languages.python.arms import Chain
from codeenv.languages.python.definitions import first_line
from codeenv.languages.python.edits import Edit, Label, drop_statements
from codeenv.languages.python.syntax import Source


@dataclass(frozen=True)
class _Part:
    """One link of a chain, or its ``else``: first line with comments above, header, last line."""

    arm: list[ast.stmt]
    first: int
    header: int
    last: int


def chain_edits(source: Source, chain: Chain, label: Label) -> Iterator[Edit]:
    """Yield the edits that leave of a chain what is done when the parameter has its default.

    Raises:
        ValueError: If an arm that stays cannot be taken out of its condition.
    """
    parts = _parts(source, chain)
    if chain.kept:
        yield from _drop_links(source, chain, parts, label)
    elif chain.tail:
        yield from _unwrap(source, chain, parts, label)
    else:
        yield from drop_statements(source, {chain.node}, {chain.node: label})
        end = chain.node.end_lineno or chain.node.lineno
        for first, last in ((parts[0].first, chain.node.lineno - 1), (end + 1, parts[-1].last)):
            if first <= last:
                yield _lines(source, first, last, label)


def _drop_links(source: Source, chain: Chain, parts: list[_Part], label: Label) -> Iterator[Edit]:
    """Yield edits that take some links out; the first that stays becomes the ``if``."""
    for link, part in zip(chain.links, parts, strict=False):
        if link not in chain.kept:
            yield _lines(source, part.first, part.last, label)
    first = chain.kept[0]
    if first is not chain.node:
        start = source.span(first)[0]
        yield _edit(start, start + len("el"), label)


def _unwrap(source: Source, chain: Chain, parts: list[_Part], label: Label) -> Iterator[Edit]:
    """Yield edits that leave one arm, without its indentation."""
    (part,) = [p for p in parts if p.arm and p.arm[0] is chain.tail[0]]
    inner = source.indent(first_line(part.arm[0]))
    outer = source.indent(chain.node.lineno)
    if first_line(part.arm[0]) <= part.header or not inner.startswith(outer):
        raise ValueError(f"an arm that stays is on the line of its condition: {label.symbol}")
    yield _lines(source, parts[0].first, part.header, label)
    for line in range(part.header + 1, part.last + 1):
        start = source.line_start(line)
        if source.line(line).startswith(inner) and not source.is_blank(line):
            yield _edit(start + len(outer), start + len(inner), label)
    if part.last < parts[-1].last:
        yield _lines(source, part.last + 1, parts[-1].last, label)


def _parts(source: Source, chain: Chain) -> list[_Part]:
    keywords = [(link.lineno, link.body, _header(source, link)) for link in chain.links]
    if chain.otherwise:
        line = _else_line(source, chain.links[-1].body[-1], chain.otherwise[0])
        keywords.append((line, chain.otherwise, line))
    depth = source.indent(chain.node.lineno)
    firsts = [_with_comments(source, line, depth) for line, _, _ in keywords]
    end = _with_deeper_comments(source, chain.node.end_lineno or chain.node.lineno, depth)
    lasts = [*(first - 1 for first in firsts[1:]), end]
    return [
        _Part(arm, first, header, last)
        for (_, arm, header), first, last in zip(keywords, firsts, lasts, strict=True)
    ]


def _header(source: Source, link: ast.If) -> int:
    """Return the line of the colon that ends a condition."""
    position = source.span(link.test)[1]
    while source.text[position] != ":":
        if source.text[position] == "#":
            position = source.line_start(source.line_of(position) + 1)
        else:
            position += 1
    return source.line_of(position)


def _else_line(source: Source, before: ast.stmt, after: ast.stmt) -> int:
    lines = range((before.end_lineno or before.lineno) + 1, first_line(after) + 1)
    return next(line for line in lines if source.line(line).lstrip().startswith("else"))


def _with_comments(source: Source, line: int, indent: str) -> int:
    while line > 1 and source.line(line - 1).startswith(indent + "#"):
        line -= 1
    return line


def _with_deeper_comments(source: Source, line: int, indent: str) -> int:
    last = line
    while line < source.lines:
        line += 1
        content = source.line(line)
        deeper = source.indent(line) != indent and source.indent(line).startswith(indent)
        if content.strip().startswith("#") and deeper:
            last = line
        elif content.strip():
            break
    return last


def _lines(source: Source, first: int, last: int, label: Label) -> Edit:
    return _edit(source.line_start(first), source.line_start(last + 1), label)


def _edit(start: int, end: int, label: Label) -> Edit:
    return Edit(start, end, "", label.symbol, label.kind, label.mode)

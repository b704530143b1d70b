"""Edits of a source as character spans, and their turn into operations on the original bytes."""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from codeenv.languages.python.definitions import all_suites, first_line, statement_lines
from codeenv.languages.python.syntax import Definition, Source
from codeenv.tasks.models import Operation, span_digest

Kind = Literal[
    "function", "method", "class", "parameter", "module", "import", "export", "test", "text"
]
Mode = Literal["remove", "stub", "clean", "hide"]
STUB = "raise NotImplementedError"


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters ``[start, end)`` of a source and what replaces them."""

    start: int
    end: int
    replacement: str
    symbol: str
    kind: Kind
    mode: Mode


@dataclass(frozen=True, slots=True)
class Label:
    """What an edit is said to be."""

    symbol: str
    kind: Kind
    mode: Mode


def to_operations(path: str, source: Source, edits: Iterable[Edit]) -> tuple[Operation, ...]:
    """Return the edits as operations on bytes, sorted; an edit inside another one is dropped.

    Where one of the same label ends and only deletes, the next one goes on.
    """
    kept: list[Edit] = []
    for edit in sorted(set(edits), key=lambda e: (e.start, -e.end, e.symbol)):
        if kept and edit == replace(kept[-1], start=kept[-1].end, end=edit.end, replacement=""):
            kept[-1] = replace(kept[-1], end=edit.end)
        elif not kept or edit.start >= kept[-1].end or edit.start == edit.end > kept[-1].end:
            kept.append(edit)
    return tuple(_operation(path, source, edit) for edit in kept)


def whole_file(path: str, data: bytes, label: Label) -> Operation:
    """Return the operation that takes a whole file out."""
    return Operation(
        path=path,
        start=0,
        end=len(data),
        sha256=span_digest(data),
        symbol=label.symbol,
        kind=label.kind,
        mode=label.mode,
    )


def applied(data: bytes, operations: Sequence[Operation]) -> bytes:
    """Return one file's bytes with its operations made."""
    for operation in sorted(operations, key=lambda o: o.start, reverse=True):
        replacement = operation.replacement.encode()
        data = data[: operation.start] + replacement + data[operation.end :]
    return data


def taken_by(source: Source, edits: Iterable[Edit]) -> Callable[[int, int], bool]:
    """Return a function that tells whether edits take what is at a line and UTF-8 column."""
    spans = [(source.place(e.start), source.place(e.end)) for e in edits]
    return lambda line, column: any(start <= (line, column) < end for start, end in spans)


def drop_statements(
    source: Source, dropped: Collection[ast.stmt], labels: dict[ast.stmt, Label]
) -> Iterator[Edit]:
    """Yield edits that take whole statements out; a suite left empty gets a ``pass``."""
    gone = set(dropped)
    for owner, block in all_suites(source.module):
        if gone & set(block):
            yield from _drop_from(source, owner, block, gone, labels)


def drop_elements(
    source: Source, elements: Sequence[ast.expr | ast.alias], dropped: Collection[int], label: Label
) -> Iterator[Edit]:
    """Yield edits that take some, but not all, elements out of a comma-separated list.

    A comment above goes with the elements below it, if no one of them stays.
    """
    spans = [_in_parentheses(source, *_span(source, e)) for e in elements]
    for index, (start, end) in enumerate(spans):
        if index not in dropped:
            continue
        alone = _alone_on_lines(source, start, end, bracketed=_bracketed(source, spans[0][0]))
        if alone:
            first = _with_comment(source, spans, dropped, index)
            yield _edit(source.line_start(first), alone[1], "", label)
            continue
        kept_before = [i for i in range(index) if i not in dropped]
        if any(i not in dropped for i in range(index + 1, len(spans))):
            yield _edit(start, _after_comma(source, end, spans[index + 1][0]), "", label)
        else:
            yield _edit(spans[kept_before[-1]][1], end, "", label)


def _drop_from(
    source: Source,
    owner: ast.AST,
    block: list[ast.stmt],
    gone: set[ast.stmt],
    labels: dict[ast.stmt, Label],
) -> Iterator[Edit]:
    shared = {s for s in block if s in gone and not _owns_lines(source, s)}
    for statement in block:
        if statement in shared:
            yield _edit(*source.span(statement), "pass", labels[statement])
    gone = gone - shared
    ranges = [_range(source, owner, block, i) for i in range(len(block))]
    emptied = gone >= set(block) and not isinstance(owner, ast.Module)
    for low, high in _runs(block, gone):
        above, below = (0, 0) if emptied else _blanks(source, block, ranges, low, high)
        for index in range(low, high + 1):
            statement = block[index]
            first = ranges[index][0] - (above if index == low else 0)
            last = ranges[index][1] + below if index == high else ranges[index + 1][0] - 1
            text = _filler(source, statement, last) if emptied and index == low else ""
            span = source.line_start(first), source.line_start(last + 1)
            yield _edit(*span, text, labels[statement])


def _runs(block: list[ast.stmt], gone: set[ast.stmt]) -> Iterator[tuple[int, int]]:
    """Yield first and last index of neighbouring dropped statements."""
    low = None
    for index, statement in enumerate(block):
        if statement in gone and low is None:
            low = index
        if low is not None and (index + 1 == len(block) or block[index + 1] not in gone):
            yield low, index
            low = None


def _filler(source: Source, statement: ast.stmt, last: int) -> str:
    text = source.indent(first_line(statement)) + "pass"
    at_end = source.line_start(last + 1) == len(source.text)
    return text if at_end and not source.text.endswith(("\n", "\r")) else text + source.newline()


def _range(source: Source, owner: ast.AST, block: list[ast.stmt], index: int) -> tuple[int, int]:
    statement = block[index]
    if not isinstance(statement, Definition):
        return statement.lineno, statement.end_lineno or statement.lineno
    before = block[index - 1].end_lineno if index else getattr(owner, "lineno", 0)
    return statement_lines(source, statement, before or 0)


def _blanks(
    source: Source, block: list[ast.stmt], ranges: list[tuple[int, int]], low: int, high: int
) -> tuple[int, int]:
    """Return how many blank lines above and below a run go with it; the larger gap stays."""
    above = _blanks_above(source, ranges[low][0])
    below = _blanks_below(source, ranges[high][1])
    at_start, at_end = low == 0, high + 1 == len(block)
    if not at_end and (at_start or above >= below):
        return 0, below
    return above, 0


def _blanks_above(source: Source, line: int) -> int:
    count = 0
    while line - 1 - count >= 1 and source.is_blank(line - 1 - count):
        count += 1
    return count


def _blanks_below(source: Source, line: int) -> int:
    count = 0
    while line + 1 + count <= source.lines and source.is_blank(line + 1 + count):
        count += 1
    return count


def _owns_lines(source: Source, statement: ast.stmt) -> bool:
    if isinstance(statement, Definition):
        return True
    start, end = source.span(statement)
    before = source.text[source.line_start(statement.lineno) : start]
    last = statement.end_lineno or statement.lineno
    after = source.text[end : source.line_start(last + 1)].strip()
    continued = statement.lineno > 1 and source.line(statement.lineno - 1).endswith("\\")
    return not before.strip() and not continued and (not after or after.startswith("#"))


def _alone_on_lines(
    source: Source, start: int, end: int, *, bracketed: bool
) -> tuple[int, int] | None:
    """Return the whole lines of an element that shares them with nothing but its comma."""
    first, last = source.line_of(start), source.line_of(max(start, end - 1))
    before = source.text[source.line_start(first) : start]
    after = source.text[end : source.line_start(last + 1)]
    if bracketed and not before.strip() and re.fullmatch(r"\s*,?\s*(#.*)?\s*", after):
        return source.line_start(first), source.line_start(last + 1)
    return None


def _with_comment(
    source: Source, spans: Sequence[tuple[int, int]], dropped: Collection[int], index: int
) -> int:
    """Return the first line of an element, or of the comment above that is about what goes."""
    first = line = source.line_of(spans[index][0])
    above = source.line_of(spans[index - 1][1]) if index else 0
    while line - 1 > above and source.line(line - 1).lstrip().startswith("#"):
        line -= 1
    for (_, end), (start, _), following in zip(
        spans[index:], spans[index + 1 :], range(index + 1, len(spans)), strict=False
    ):
        if source.line_of(start) > source.line_of(end) + 1:
            break
        if following not in dropped:
            return first
    return line


def _in_parentheses(source: Source, start: int, end: int) -> tuple[int, int]:
    """Return where one of several elements is, with parentheses around it alone."""
    text = source.text
    while True:
        opening, closing = start - 1, end
        while opening >= 0 and text[opening].isspace():
            opening -= 1
        while closing < len(text) and text[closing].isspace():
            closing += 1
        if opening < 0 or text[opening] != "(" or text[closing : closing + 1] != ")":
            return start, end
        start, end = opening, closing + 1


def _after_comma(source: Source, end: int, following: int) -> int:
    """Return where an element with its comma ends, without the next line's indentation."""
    comma = source.text.find(",", end, following)
    stop = (comma if comma >= 0 else end) + 1
    while stop < following and source.text[stop] in " \t":
        stop += 1
    return stop


def _bracketed(source: Source, first: int) -> bool:
    before = source.text[max(0, first - 2000) : first]
    before = re.sub(r"#[^\n]*\n", "\n", before).rstrip()
    return before.endswith(("(", "[", "{"))


def _span(source: Source, node: ast.expr | ast.alias) -> tuple[int, int]:
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return source.offset(node.lineno, node.col_offset), source.offset(end_line, end_column)


def _edit(start: int, end: int, text: str, label: Label) -> Edit:
    return Edit(start, end, text, label.symbol, label.kind, label.mode)


def _operation(path: str, source: Source, edit: Edit) -> Operation:
    start, end = source.byte(edit.start), source.byte(edit.end)
    return Operation(
        path=path,
        start=start,
        end=end,
        sha256=span_digest(source.data[start:end]),
        replacement=edit.replacement,
        symbol=edit.symbol,
        kind=edit.kind,
        mode=edit.mode,
    )


def touching(operations: Sequence[Operation]) -> bool:
    """Return whether two operations of one file overlap."""
    ordered = sorted(operations, key=lambda o: (o.start, o.end))
    return any(a.end > b.start for a, b in pairwise(ordered))

"""Take elements out of list, tuple, set and dict literals."""

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from codeenv.languages.python.edits import Edit, Label, drop_elements
from codeenv.languages.python.syntax import Source, parse_quietly

Literal = ast.List | ast.Tuple | ast.Set | ast.Dict


def elements_of(node: Literal) -> Sequence[ast.expr]:
    """Return the elements of a literal, or the values of a dict."""
    return node.values if isinstance(node, ast.Dict) else node.elts


def drop_from_literal(
    source: Source, node: Literal, dropped: Collection[int], label: Label
) -> Iterator[Edit]:
    """Yield edits of a literal without some of its elements, or any.

    Raises:
        ValueError: If nothing would be left of a set, or of a tuple without parentheses.
    """
    elements = _entries(source, node) if isinstance(node, ast.Dict) else node.elts
    start, end = source.span(node)
    if len(dropped) == len(elements):
        if isinstance(node, ast.Set) or source.text[start] not in "([{":
            raise ValueError(f"nothing would be left in {label.symbol}")
        yield Edit(start + 1, end - 1, "", label.symbol, label.kind, label.mode)
        return
    edits = tuple(drop_elements(source, elements, dropped, label))
    if isinstance(node, ast.Tuple) and not _is_tuple(source, start, end, edits):
        kept = next(e for i, e in enumerate(elements) if i not in dropped)
        edits = _with_comma(edits, source.span(kept)[1], label)
    yield from edits


def _entries(source: Source, node: ast.Dict) -> Sequence[ast.expr]:
    """Return the entries of a dict, each as one expression from its key to the end of its value."""
    entries: list[ast.expr] = []
    for key, value in zip(node.keys, node.values, strict=True):
        entry = ast.copy_location(ast.Constant(None), value)
        first = key or value
        entry.lineno, entry.col_offset = first.lineno, first.col_offset
        if key is None:
            place = source.text.rindex("**", 0, source.span(value)[0])
            entry.lineno = source.line_of(place)
            line = source.text[source.line_start(entry.lineno) : place]
            entry.col_offset = len(line.encode())
        entries.append(entry)
    return entries


def _with_comma(edits: tuple[Edit, ...], place: int, label: Label) -> tuple[Edit, ...]:
    """Add the comma that makes a single element a tuple."""
    if any(e.start == place for e in edits):
        return tuple(replace(e, replacement=",") if e.start == place else e for e in edits)
    return (*edits, Edit(place, place, ",", label.symbol, label.kind, label.mode))


def _is_tuple(source: Source, start: int, end: int, edits: tuple[Edit, ...]) -> bool:
    text = source.text[start:end]
    for edit in sorted(edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start - start] + text[edit.end - start :]
    try:
        statements = parse_quietly(text.strip()).body
    except SyntaxError:
        return False
    return [type(s.value) for s in statements if isinstance(s, ast.Expr)] == [ast.Tuple]

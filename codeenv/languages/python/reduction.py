"""A deletion that somebody else made, turned into edits of our own: byte spans that go.

Its edits say which function, method, class or import each belongs to, as ``deletion`` would.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import attrgetter
from pathlib import PurePosixPath

from codeenv.languages.base import Change, Layout, Reduction
from codeenv.languages.python.admissible import is_admissible
from codeenv.languages.python.dangling import find_left_dangling
from codeenv.languages.python.edits import Kind, Label
from codeenv.languages.python.layout import ASIDE_FOLDERS, is_test_place
from codeenv.languages.python.losses import Loss, find_losses
from codeenv.languages.python.narrowing import Span, narrow
from codeenv.languages.python.syntax import Source, compiles, parse_source
from codeenv.tasks.models import Operation, span_digest
from codeenv.tree import Delta, Entry, Tree

_PROSE = (".md", ".rst")
_TEXT = Label("", "text", "remove")
_ASIDE = Label("", "text", "clean")
_IMPORT = Label("", "import", "clean")
_EXPORT = Label("__all__", "export", "clean")


@dataclass
class _File:
    """One file, before and after.

    Attributes:
        path: Where it is.
        old: What was there.
        new: What is left; None if the file goes.
        spans: What goes, in order.
        losses: The units that lose code.
        source: ``old`` as Python; None if it is none.
    """

    path: str
    old: bytes
    new: bytes | None
    spans: list[Span]
    losses: tuple[Loss, ...] = ()
    source: Source | None = field(default=None)


def reduce_tree(tree: Tree, layout: Layout, changes: Sequence[Change]) -> Reduction:
    """Return changes, sorted by path and place, as edits that only delete.

    Raises:
        ValueError: If they add anything but a trivial stub, or touch tests or configuration.
    """
    files = [
        _read(tree, layout, path, list(group))
        for path, group in groupby(changes, key=attrgetter("path"))
    ]
    losses = [(file.path, loss) for file in files for loss in file.losses]
    return Reduction(
        operations=tuple(edit for file in files for edit in _operations(file)),
        members=tuple((path, loss.name) for path, loss in losses),
        cut=frozenset((path, loss.name) for path, loss in losses if loss.kind == "cut"),
        problem=_problem(tree, layout, files),
    )


def _read(tree: Tree, layout: Layout, path: str, changes: list[Change]) -> _File:
    if not _may_change(layout, path):
        raise ValueError(
            f"{path} belongs to the tests, to configuration or to packaging, and stays"
        )
    old = tree[path].data
    if changes[0].new is None:
        new, spans = None, [Span(0, len(old), "")]
    else:
        spans = [span for change in changes for span in _narrowed(old, change)]
        new = _applied(old, spans)
    file = _File(path, old, new, spans)
    if path.endswith(".py"):
        file.source = parse_source(old)
        file.losses = find_losses(path, old, new or b"")
        file.spans = _slid(file)
    return file


def _may_change(layout: Layout, path: str) -> bool:
    """Return whether a deletion may touch a path: code of the project, its prose and examples."""
    if is_admissible(layout, path):
        return True
    if path in layout.test_files or path in layout.support_files or is_test_place(path):
        return False
    aside = path.partition("/")[0] in ASIDE_FOLDERS and PurePosixPath(path).suffix == ".py"
    return path.lower().endswith(_PROSE) or aside


def _narrowed(old: bytes, change: Change) -> Iterator[Span]:
    try:
        found = narrow(old[change.start : change.end], change.new or b"")
    except ValueError as error:
        line = old.count(b"\n", 0, change.start) + 1
        raise ValueError(f"{change.path}, line {line}: {error}") from None
    for start, end, text in found:
        yield Span(change.start + start, change.start + end, text)


def _applied(data: bytes, spans: Sequence[Span]) -> bytes:
    for start, end, text in reversed(spans):
        data = data[:start] + text.encode() + data[end:]
    return data


def _slid(file: _File) -> list[Span]:
    """Move deletions so that they hold a lost unit whole: diffs may end in the next one's head."""
    gone = [loss.span for loss in file.losses if loss.kind == "gone"]
    bounds = [0, *(edge for span in file.spans for edge in span[:2]), len(file.old)]
    slid = []
    for index, span in enumerate(file.spans):
        low, high = bounds[2 * index], bounds[2 * index + 3]
        fitting = [(a, b) for a, b in gone if b - a <= _size(span)]
        steps = [step for a, b in fitting for step in (a - span.start, b - span.end)]
        if span.text or any(span.start <= a and b <= span.end for a, b in gone):
            steps = []
        step = next((s for s in steps if _can_slide(file.old, span, s, low, high)), 0)
        slid.append(Span(span.start + step, span.end + step, span.text))
    return slid


def _size(span: Span) -> int:
    return span.end - span.start


def _can_slide(data: bytes, span: Span, step: int, low: int, high: int) -> bool:
    start, end = span.start + step, span.end + step
    if start < low or end > high or abs(step) > _size(span):
        return False
    if step > 0:
        return data[span.start : start] == data[span.end : end]
    return data[start : span.start] == data[end : span.end]


def _operations(file: _File) -> Iterator[Operation]:
    """Yield the edits of a file, none of which reaches over the border of a unit."""
    if file.new is None:
        kind: Kind = "module" if file.path.endswith(".py") else "text"
        yield _operation(file, Span(0, len(file.old), ""), Label("", kind, "remove"))
        return
    for span in file.spans:
        for piece, label in _merged(file, _pieces(file, span)):
            whole = label.kind == "text" and (piece.start, piece.end) == (0, len(file.old))
            yield _operation(file, piece, _ASIDE if whole else label)


def _pieces(file: _File, span: Span) -> Iterator[Span]:
    inner = {edge for loss in file.losses for edge in loss.span if span.start < edge < span.end}
    edges = [span.start, *sorted(inner), span.end]
    for index, (start, end) in enumerate(pairwise(edges)):
        yield Span(start, end, "" if index else span.text)


def _merged(file: _File, pieces: Iterator[Span]) -> list[tuple[Span, Label]]:
    """Return the pieces with their labels; blank lines go with what is above or below them."""
    done: list[tuple[Span, Label]] = []
    for piece in pieces:
        label = _label(file, piece)
        blank = not file.old[piece.start : piece.end].strip()
        if done and (blank or done[-1][1] == label or _is_blank(file, done[-1][0])):
            last, above = done.pop()
            both = Span(last.start, piece.end, last.text)
            done.append((both, above if blank else label))
        else:
            done.append((piece, label))
    return done


def _is_blank(file: _File, span: Span) -> bool:
    return not span.text and not file.old[span.start : span.end].strip()


def _label(file: _File, piece: Span) -> Label:
    """Return what a piece is part of: a unit that loses code, else an import, else just text."""
    around = [
        loss
        for loss in file.losses
        if loss.span[0] <= piece.start and piece.end <= loss.span[1] and piece.start < loss.span[1]
    ]
    if around:
        loss = min(around, key=lambda one: one.span[1] - one.span[0])
        return Label(loss.name, loss.unit, "stub" if loss.kind == "stubbed" else "remove")
    return _label_of_statement(file.source, piece) if file.source else _ASIDE


def _label_of_statement(source: Source, piece: Span) -> Label:
    for statement in source.module.body:
        start, end = map(source.byte, source.span(statement))
        if start <= piece.end and piece.start <= end:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                return _IMPORT
            targets = getattr(statement, "targets", [getattr(statement, "target", None)])
            if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
                return _EXPORT
    return _TEXT


def _operation(file: _File, span: Span, label: Label) -> Operation:
    return Operation(
        path=file.path,
        start=span.start,
        end=span.end,
        sha256=span_digest(file.old[span.start : span.end]),
        replacement=span.text,
        symbol=label.symbol,
        kind=label.kind,
        mode=label.mode,
    )


def _problem(tree: Tree, layout: Layout, files: Sequence[_File]) -> str:
    """Return what does not fit together without the deleted code, or ""."""
    for file in files:
        if file.path.endswith(".py") and file.new is not None and not compiles(file.new):
            return f"the result would not compile: {file.path}"
    write = {f.path: Entry(f.new, tree[f.path].mode) for f in files if f.new is not None}
    left = tree.apply(Delta(write, frozenset(f.path for f in files if f.new is None)))
    gone = [(f.path, loss.name) for f in files for loss in f.losses if loss.kind == "gone"]
    try:
        dangling = find_left_dangling(tree, left, layout, gone)
    except ValueError as error:
        return str(error)
    return f"{dangling} is used by the code that stays" if dangling else ""

"""Applying a recipe's byte-span edits to the pristine tree."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import attrgetter

from codeenv.errors import TaskError
from codeenv.tasks.models import Operation, span_digest
from codeenv.tree import Entry, Tree

_WHOLE_KINDS = frozenset({"module", "test", "text"})
_WHOLE_MODES = frozenset({"remove", "hide"})
_HINT = "the recipe was made from another source, or was edited: generate it again"


def apply_operations(tree: Tree, operations: Iterable[Operation]) -> Tree:
    """Return the tree with every edit made; all offsets speak of ``tree`` itself.

    An edit in mode ``remove`` or ``hide`` of kind ``module``, ``test`` or ``text`` that replaces a
    whole file with nothing deletes the file.

    Raises:
        TaskError: If a file is missing or a link, a span lies outside it, the bytes there are not
            the ones the recipe names, or two edits of one file overlap.
    """
    entries = dict(tree.entries)
    by_path = sorted(set_of(operations), key=attrgetter("path", "start", "end"))
    for path, group in groupby(by_path, key=attrgetter("path")):
        edits = tuple(group)
        entry = _editable(tree, path)
        _check_spans(path, entry.data, edits)
        if len(edits) == 1 and _removes_file(edits[0], len(entry.data)):
            del entries[path]
        else:
            entries[path] = Entry(_edited(entry.data, edits), entry.mode)
    return Tree(entries)


def set_of(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Return the operations with exact repetitions dropped, in order."""
    seen: dict[tuple[object, ...], Operation] = {}
    for edit in operations:
        seen.setdefault((edit.path, edit.start, edit.end, edit.sha256, edit.replacement), edit)
    return tuple(seen.values())


def _editable(tree: Tree, path: str) -> Entry:
    entry = tree.get(path)
    if entry is None or entry.mode == "link":
        what = "is not in the source" if entry is None else "is a link"
        raise TaskError(f"cannot edit {path}: it {what}", hint=_HINT)
    return entry


def _check_spans(path: str, data: bytes, edits: Sequence[Operation]) -> None:
    for edit in edits:
        where = f"{path}[{edit.start}:{edit.end}]"
        if edit.end > len(data):
            raise TaskError(f"cannot edit {where}: the file has {len(data)} bytes", hint=_HINT)
        found = span_digest(data[edit.start : edit.end])
        if found != edit.sha256:
            message = f"cannot edit {where}: sha256 is {found}, not {edit.sha256}"
            raise TaskError(message, hint=_HINT)
    for before, after in pairwise(edits):
        if after.start < before.end or after.start == before.start:
            spans = f"[{before.start}:{before.end}] and [{after.start}:{after.end}]"
            raise TaskError(f"edits of {path} overlap: {spans}", hint=_HINT)


def _removes_file(edit: Operation, size: int) -> bool:
    whole = edit.start == 0 and edit.end == size and not edit.replacement
    return whole and edit.kind in _WHOLE_KINDS and edit.mode in _WHOLE_MODES


def _edited(data: bytes, edits: Sequence[Operation]) -> bytes:
    pieces, last = [], 0
    for edit in edits:
        pieces += [data[last : edit.start], edit.replacement.encode()]
        last = edit.end
    return b"".join([*pieces, data[last:]])

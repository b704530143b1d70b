"""Deletions that share a run of the whole suite: a grid, every deletion in one row and one column.

Two deletions meet in at most one group, so a test that one of them breaks is seen to pass without
the other in the other group.
"""

from collections.abc import Iterator, Sequence
from math import isqrt

from codeenv.generate.models import Deletion
from codeenv.tasks.models import Operation

_MOST = 8
"""Deletions in one group: more of them would hide too many tests from one another."""


def grid(deletions: Sequence[Deletion]) -> tuple[tuple[Deletion, ...], ...]:
    """Return groups of deletions that can be made together; each deletion is in two of them."""
    width = min(_MOST, isqrt(max(len(deletions) - 1, 0)) + 1)
    rows = [deletions[i : i + width] for i in range(0, len(deletions), width)]
    columns = [
        [row[place] for row in rows[i : i + width] if place < len(row)]
        for i in range(0, len(rows), width)
        for place in range(width)
    ]
    return tuple(part for group in (*rows, *columns) for part in _apart(group) if part)


def _apart(group: Sequence[Deletion]) -> Iterator[tuple[Deletion, ...]]:
    """Split a group into parts without conflicts."""
    parts: list[list[Deletion]] = []
    for deletion in group:
        for part in parts:
            if not any(conflict(deletion, other) for other in part):
                part.append(deletion)
                break
        else:
            parts.append([deletion])
    yield from map(tuple, parts)


def conflict(one: Deletion, other: Deletion) -> bool:
    """Return whether two deletions cannot be made in one tree.

    Edits that meet cannot, nor can two that clean imports or ``__all__`` of one file: what the one
    leaves may need what the other takes.  Entries of registries do not need each other.
    """
    return meet(one.operations, other.operations)


def meet(one: Sequence[Operation], other: Sequence[Operation]) -> bool:
    """Return whether the edits of two deletions cannot be made in one tree."""
    mine, theirs = _by_path(one), _by_path(other)
    return any(
        (_cleans(mine[path]) and _cleans(theirs[path]))
        or any(a.start <= b.end and b.start <= a.end for a in mine[path] for b in theirs[path])
        for path in mine.keys() & theirs.keys()
    )


def _cleans(edits: Sequence[Operation]) -> bool:
    return any(
        edit.mode == "clean" and (edit.kind != "export" or edit.symbol == "__all__")
        for edit in edits
    )


def _by_path(operations: Sequence[Operation]) -> dict[str, list[Operation]]:
    edits: dict[str, list[Operation]] = {}
    for operation in operations:
        edits.setdefault(operation.path, []).append(operation)
    return edits

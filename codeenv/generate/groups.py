"""Deletions that share a run of the whole suite: a grid, every deletion in one row and one column.

Two deletions meet in at most one group, so a test that one of them breaks is seen to pass without
the other in the other group.
"""

from collections.abc import Sequence
from math import isqrt

from codeenv.generate.models import Deletion
from codeenv.tasks.models import Operation

_MOST = 8
"""Deletions in one group: more of them would hide too many tests from one another."""


def grid(deletions: Sequence[Deletion]) -> tuple[tuple[Deletion, ...], ...]:
    """Return groups of deletions that can be made together; each deletion is in two of them.

    The groups are the rows and the columns of squares.  A deletion takes the first place where it
    conflicts with none of its row and column, in a square of its own if there is no other.
    """
    count = -(-len(deletions) // _MOST**2) or 1
    width = isqrt(max(len(deletions) - 1, 0) // count) + 1
    squares: list[_Square] = []
    for deletion in deletions:
        if not any(square.take(deletion) for square in squares):
            squares.append(_Square(width))
            squares[-1].take(deletion)
    return tuple(group for square in squares for group in square.groups())


class _Square:
    """Places in rows and columns."""

    def __init__(self, width: int) -> None:
        self._rows: list[list[Deletion]] = [[] for _ in range(width)]
        self._columns: list[list[Deletion]] = [[] for _ in range(width)]
        self._free = [(row, column) for row in range(width) for column in range(width)]

    def take(self, deletion: Deletion) -> bool:
        """Give a deletion a place, if there is one without a conflict."""
        for row, column in self._free:
            met = (*self._rows[row], *self._columns[column])
            if not any(conflict(deletion, other) for other in met):
                self._rows[row].append(deletion)
                self._columns[column].append(deletion)
                self._free.remove((row, column))
                return True
        return False

    def groups(self) -> tuple[tuple[Deletion, ...], ...]:
        """Return the rows and columns that hold something."""
        return tuple(tuple(line) for line in (*self._rows, *self._columns) if line)


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

"""A workspace as it is, from the one it began as and what a wall says has changed."""

from bisect import bisect_left
from collections.abc import Iterable

from codeenv.errors import PathError
from codeenv.guest.reading import Item
from codeenv.tree import Entry, Tree


def merged(base: Tree, changes: Iterable[Item], *, files: int, size: int) -> Tree:
    """Return a tree with what was read of the upper side of an overlay on it.

    Args:
        base: What lies below.
        changes: As ``Reader`` gives them, folders before what is in them.
        files: How many files the outcome may have.
        size: How many bytes.

    Raises:
        PathError: ``too_large``.
    """
    entries = {path: entry for path, entry in base.items() if not path.startswith(".git/")}
    below = sorted(entries)
    for path, kind, mode, _, data in changes:
        if kind != "folder":
            _remove_below(entries, below, f"{path}/")
        entries.pop(path, None)
        if kind == "link":
            entries[path] = Entry(data, "link")
        elif kind == "file":
            entries[path] = Entry(data, "exec" if mode & 0o100 else "file")
    if len(entries) > files:
        raise PathError("the tree has too many entries", code="too_large")
    if sum(len(entry.data) for entry in entries.values()) > size:
        raise PathError("the tree has too many bytes", code="too_large")
    return Tree(entries)


def _remove_below(entries: dict[str, Entry], below: list[str], prefix: str) -> None:
    """Remove what lay below a folder; what was put there since stays."""
    n = bisect_left(below, prefix)
    while n < len(below) and below[n].startswith(prefix):
        entries.pop(below[n], None)
        n += 1

"""A tree of files on the wire: an index of ``[path, mode, size]`` and a blob; and back to disk."""

import os
from collections.abc import Iterable, Sequence

Item = tuple[str, str, bytes]
"""Path, mode (``file``, ``exec``, ``link``) and bytes (a link's target)."""
Index = list[list[str | int]]
MTIME = 1_600_000_000
"""Every file of a workspace starts with the same time: a box does not tell when it was made."""
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def pack(items: Iterable[Item]) -> tuple[Index, bytes]:
    """Return the index and the blob."""
    index: Index = []
    parts = []
    for path, mode, data in items:
        index.append([path, mode, len(data)])
        parts.append(data)
    return index, b"".join(parts)


def unpack(index: Sequence[Sequence[str | int]], blob: bytes) -> Iterable[Item]:
    """Yield the items again."""
    offset = 0
    for path, mode, size in index:
        yield str(path), str(mode), blob[offset : offset + int(size)]
        offset += int(size)


def write_tree(folder: str, items: Iterable[Item]) -> None:
    """Write items below a new folder, with modes and times that do not depend on this machine."""
    os.makedirs(folder, exist_ok=True)
    made: set[str] = set()
    for path, mode, data in items:
        where = f"{folder}/{path}"
        _make_parents(folder, path, made)
        write_new(where, mode, data)
    for below in sorted(made, reverse=True):
        os.utime(f"{folder}/{below}", (MTIME, MTIME))
    os.utime(folder, (MTIME, MTIME))


def write_new(where: str, mode: str, data: bytes) -> None:
    """Create one file or link that must not exist yet."""
    if mode == "link":
        os.symlink(data, os.fsencode(where))
        os.utime(where, (MTIME, MTIME), follow_symlinks=False)
        return
    fd = os.open(where, _CREATE, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fchmod(fd, 0o755 if mode == "exec" else 0o644)
        os.utime(fd, (MTIME, MTIME))
    finally:
        os.close(fd)


def _make_parents(folder: str, path: str, made: set[str]) -> None:
    parent = path.rpartition("/")[0]
    missing = []
    while parent and parent not in made:
        missing.append(parent)
        parent = parent.rpartition("/")[0]
    for below in reversed(missing):
        os.makedirs(f"{folder}/{below}", mode=0o755, exist_ok=True)
        made.add(below)

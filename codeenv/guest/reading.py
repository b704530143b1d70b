"""Reading a tree that hostile code has written: by descriptors, from outside of the box."""

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

DEPTH = 200
Item = tuple[str, str, int, int, bytes]
"""Path, kind, mode, modification time (ns), and bytes (a link's target).

Kinds: ``folder``, ``whole`` (a folder that hides what was there), ``file``, ``link``, ``gone``.
"""
Index = list[list[str | int]]
_LONGEST = 3500
_OPAQUE = "user.overlay.opaque"


class ExportError(Exception):
    """Raised when a tree is too large to be exported."""


@dataclass
class Reader:
    """Reads everything below folders, within limits that hold for all of them together.

    Attributes:
        entries: How many entries there may be.
        size: How many bytes.
    """

    entries: int
    size: int

    def read(self, root: int, *, without: str = "") -> tuple[Index, bytes]:
        """Return index and bytes of what is below the folder that ``root`` is a descriptor of.

        Args:
            root: The folder.
            without: Name of an entry in it that is left out.

        Sockets, pipes and devices are left out, and a file of several names becomes several.

        Raises:
            ExportError: If a limit is passed.
        """
        index: Index = []
        parts = []
        for path, kind, mode, time, data in self._walk(root, "", 0, without):
            index.append([path, kind, mode, time, len(data)])
            parts.append(data)
        return index, b"".join(parts)

    def _walk(self, folder: int, prefix: str, depth: int, without: str = "") -> Iterator[Item]:
        if depth > DEPTH:
            raise ExportError(f"the tree is deeper than {DEPTH} folders")
        with opened(folder, os.O_RDONLY | os.O_DIRECTORY) as listed:
            names = sorted(name for name in os.listdir(listed) if name != without)
        self.entries -= len(names)
        if self.entries < 0:
            raise ExportError("the tree has too many entries")
        if len(os.fsencode(prefix)) > _LONGEST:
            raise ExportError(f"the tree has paths of more than {_LONGEST} bytes")
        for name in names:
            with named(folder, name) as entry:
                yield from self._entry(entry, prefix + name, depth)

    def _entry(self, entry: int, path: str, depth: int) -> Iterator[Item]:
        status = os.fstat(entry)
        mode, time = stat.S_IMODE(status.st_mode), status.st_mtime_ns
        if stat.S_ISDIR(status.st_mode):
            with permitted(entry, 0o700):
                yield path, "whole" if _hides(entry) else "folder", mode, time, b""
                yield from self._walk(entry, path + "/", depth + 1)
        elif stat.S_ISLNK(status.st_mode):
            yield path, "link", mode, time, os.fsencode(os.readlink("", dir_fd=entry))
        elif stat.S_ISREG(status.st_mode):
            yield path, "file", mode, time, self._bytes(entry)
        elif stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
            yield path, "gone", mode, time, b""

    def _bytes(self, entry: int) -> bytes:
        self.size -= os.fstat(entry).st_size
        if self.size < 0:
            raise ExportError("the tree has too many bytes")
        with permitted(entry, 0o400), opened(entry, os.O_RDONLY | os.O_NONBLOCK) as fd:
            return b"".join(iter(lambda: os.read(fd, 1024**2), b""))


def unpack(index: Sequence[Sequence[str | int]], blob: bytes) -> Iterator[Item]:
    """Yield the items again."""
    offset = 0
    for path, kind, mode, time, size in index:
        end = offset + int(size)
        yield str(path), str(kind), int(mode), int(time), blob[offset:end]
        offset = end


def _hides(folder: int) -> bool:
    """Return whether a folder of an overlay hides what lies below it."""
    with contextlib.suppress(OSError):
        return os.getxattr(f"/proc/self/fd/{folder}", _OPAQUE) == b"y"
    return False


@contextlib.contextmanager
def named(folder: int, name: str) -> Iterator[int]:
    """Take hold of an entry without opening it: what it is cannot change from here on."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def opened(entry: int, flags: int) -> Iterator[int]:
    """Open what a descriptor holds."""
    fd = os.open(f"/proc/self/fd/{entry}", flags | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def permitted(entry: int, bits: int) -> Iterator[None]:
    """Give ourselves the permission bits an owner may always have, for as long as we read."""
    mode = stat.S_IMODE(os.fstat(entry).st_mode)
    if mode & bits == bits:
        yield
        return
    os.chmod(f"/proc/self/fd/{entry}", mode | bits)
    try:
        yield
    finally:
        os.chmod(f"/proc/self/fd/{entry}", mode)

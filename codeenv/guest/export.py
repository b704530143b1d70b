"""Reading a tree that hostile code has written: by descriptors, from outside of the box."""

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from codeenv.guest.packing import Item

DEPTH = 200


class ExportError(Exception):
    """Raised when a tree is too large to be exported."""


@dataclass
class Exporter:
    """Reads files and links below a folder, within limits.

    Attributes:
        entries: How many entries (folders and special files too) the tree may have.
        size: How many bytes of files.
    """

    entries: int
    size: int

    def read(self, root: int) -> Iterator[Item]:
        """Yield the items below the folder that ``root`` is a descriptor of, without ``.git``.

        Raises:
            ExportError: If a limit is passed.
        """
        yield from self._walk(root, "", 0)

    def _walk(self, folder: int, prefix: str, depth: int) -> Iterator[Item]:
        if depth > DEPTH:
            raise ExportError(f"the tree is deeper than {DEPTH} folders")
        with opened(folder, os.O_RDONLY | os.O_DIRECTORY) as listed:
            names = sorted(os.listdir(listed))
        for name in names:
            if not prefix and name == ".git":
                continue
            self.entries -= 1
            if self.entries < 0:
                raise ExportError("the tree has too many entries")
            with named(folder, name) as entry:
                yield from self._entry(entry, prefix + name, depth)

    def _entry(self, entry: int, path: str, depth: int) -> Iterator[Item]:
        mode = os.fstat(entry).st_mode
        if stat.S_ISDIR(mode):
            with permitted(entry, 0o700):
                yield from self._walk(entry, path + "/", depth + 1)
        elif stat.S_ISLNK(mode):
            yield path, "link", os.fsencode(os.readlink("", dir_fd=entry))
        elif stat.S_ISREG(mode):
            yield path, "exec" if mode & 0o100 else "file", self._bytes(entry)

    def _bytes(self, entry: int) -> bytes:
        left = os.fstat(entry).st_size
        self.size -= left
        if self.size < 0:
            raise ExportError("the tree has too many bytes")
        parts = []
        with permitted(entry, 0o400), opened(entry, os.O_RDONLY | os.O_NONBLOCK) as fd:
            while left > 0 and (data := os.read(fd, min(left, 1024**2))):
                parts.append(data)
                left -= len(data)
        return b"".join(parts)


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

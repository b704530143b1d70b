"""Reading a tree that hostile code has written: by descriptors, from outside of the box."""

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from codeenv.guest.packing import Item

_DEPTH = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


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
        with _opened(".", _FOLDER, root) as fd:
            yield from self._walk(fd, "", 0)

    def _walk(self, folder: int, prefix: str, depth: int) -> Iterator[Item]:
        if depth > _DEPTH:
            raise ExportError(f"the tree is deeper than {_DEPTH} folders")
        for name in sorted(os.listdir(folder)):
            if not prefix and name == ".git":
                continue
            self.entries -= 1
            if self.entries < 0:
                raise ExportError("the tree has too many entries")
            yield from self._entry(folder, name, prefix + name, depth)

    def _entry(self, folder: int, name: str, path: str, depth: int) -> Iterator[Item]:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            with _readable(folder, name, status, 0o700), _opened(name, _FOLDER, folder) as fd:
                yield from self._walk(fd, path + "/", depth + 1)
        elif stat.S_ISLNK(status.st_mode):
            yield path, "link", os.fsencode(os.readlink(name, dir_fd=folder))
        elif stat.S_ISREG(status.st_mode):
            with _readable(folder, name, status, 0o400), _opened(name, _FILE, folder) as fd:
                mode = "exec" if status.st_mode & 0o100 else "file"
                yield path, mode, self._bytes(fd)

    def _bytes(self, fd: int) -> bytes:
        status = os.fstat(fd)
        self.size -= status.st_size
        if self.size < 0:
            raise ExportError("the tree has too many bytes")
        parts = []
        left = status.st_size
        while left > 0 and (data := os.read(fd, min(left, 1024**2))):
            parts.append(data)
            left -= len(data)
        return b"".join(parts)


@contextlib.contextmanager
def _opened(name: str, flags: int, folder: int) -> Iterator[int]:
    fd = os.open(name, flags, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _readable(folder: int, name: str, status: os.stat_result, bits: int) -> Iterator[None]:
    """Give ourselves the permission bits an owner may always have, for as long as we read.

    Nothing else runs meanwhile, so the name still is what ``status`` says (never a link).
    """
    mode = stat.S_IMODE(status.st_mode)
    if mode & bits == bits:
        yield
        return
    os.chmod(name, mode | bits, dir_fd=folder)
    try:
        yield
    finally:
        os.chmod(name, mode, dir_fd=folder)

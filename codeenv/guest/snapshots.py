"""The files of a box as they are, all of them with modes and times, and a box made so again.

Read from outside of the box, by descriptors; written inside of a fresh one, with its rights alone.
"""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codeenv.guest.export import DEPTH, ExportError, named, opened, permitted

Item = tuple[str, str, int, int, bytes]
"""Path, kind, mode, modification time (ns), and bytes (a link's target).

Kinds: ``folder``, ``whole`` (a folder that hides what was there), ``file``, ``link``, ``gone``.
"""
Index = list[list[str | int]]
_LONGEST = 3500
_OPAQUE = "user.overlay.opaque"


@dataclass
class Reader:
    """Reads everything below folders, within limits that hold for all of them together.

    Attributes:
        entries: How many entries there may be.
        size: How many bytes.
    """

    entries: int
    size: int

    def read(self, root: int) -> tuple[Index, bytes]:
        """Return index and bytes of what is below the folder that ``root`` is a descriptor of.

        Sockets, pipes and devices are left out, and a file of several names becomes several.

        Raises:
            ExportError: If a limit is passed.
        """
        index: Index = []
        parts = []
        for path, kind, mode, time, data in self._walk(root, "", 0):
            index.append([path, kind, mode, time, len(data)])
            parts.append(data)
        return index, b"".join(parts)

    def _walk(self, folder: int, prefix: str, depth: int) -> Iterator[Item]:
        if depth > DEPTH:
            raise ExportError(f"the tree is deeper than {DEPTH} folders")
        with opened(folder, os.O_RDONLY | os.O_DIRECTORY) as listed:
            names = sorted(os.listdir(listed))
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


def restore(root: str, items: Iterable[Item]) -> None:
    """Make a folder of a fresh box what it was where the items were read."""
    folders = []
    for path, kind, mode, time, data in items:
        where = f"{root}/{path}"
        if kind in ("folder", "whole"):
            _make_folder(where, afresh=kind == "whole")
            folders.append((where, mode, time))
            continue
        _remove(where)
        if kind == "link":
            os.symlink(data, os.fsencode(where))
            os.utime(where, ns=(time, time), follow_symlinks=False)
        elif kind == "file":
            _write(where, data, mode, time)
    for where, mode, time in reversed(folders):
        os.utime(where, ns=(time, time))
        os.chmod(where, mode)


def empty(root: str) -> None:
    """Remove all that is in a folder."""
    for name in os.listdir(root):
        _remove(f"{root}/{name}")


def _hides(folder: int) -> bool:
    """Return whether a folder of an overlay hides what lies below it."""
    with contextlib.suppress(OSError):
        return os.getxattr(f"/proc/self/fd/{folder}", _OPAQUE) == b"y"
    return False


def _make_folder(where: str, *, afresh: bool) -> None:
    if afresh or not os.path.isdir(where) or os.path.islink(where):
        _remove(where)
        os.mkdir(where)


def _remove(where: str) -> None:
    if os.path.isdir(where) and not os.path.islink(where):
        shutil.rmtree(where)
    elif os.path.lexists(where):
        os.unlink(where)


def _write(where: str, data: bytes, mode: int, time: int) -> None:
    with open(where, "xb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        os.fchmod(file.fileno(), mode)
        os.utime(file.fileno(), ns=(time, time))

"""Reading a tree that hostile code has written: by descriptors, from outside of the box."""

import contextlib
import itertools
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_DEPTH = 200
Item = tuple[str, str, int, int, bytes]
"""Path, kind, mode, modification time (ns), and bytes (a link's target).

Kinds: ``folder``, ``whole`` (a folder that hides what was there), ``file``, ``link``, ``gone``.
"""
Index = list[list[str | int]]
Write = Callable[[bytes], None]
_Found = tuple[str, str, os.stat_result, int]
"""Path, kind, status, and a descriptor that holds it."""
_PIECE = 1024**2
_LONGEST = 3500
_NAMES = 48 * 1024**2
_OPAQUE = "user.overlay.opaque"


class ExportError(Exception):
    """Raised when a tree is too large to be exported."""


@dataclass
class Reader:
    """Reads everything below folders, within limits that hold for all of them together.

    First looks what there is, then sends it: of the bytes it never holds more than a piece.

    Attributes:
        entries: How many entries there may be.
        size: How many bytes of files.
        names: How many bytes of names, as they are written in an index.
        only: Files and folders that are read; nothing else is, nor counted.  Empty for all.
        largest: Bytes of a file beyond which it is left out; 0 for no such limit.
    """

    entries: int
    size: int
    names: int = _NAMES
    only: tuple[str, ...] = ()
    largest: int = 0

    def scan(self, root: int, *, without: str = "") -> Index:
        """Return what is below the folder that ``root`` is a descriptor of.

        Sockets, pipes and devices are left out, and a file of several names becomes several.

        Args:
            root: The folder.
            without: Name of an entry in it that is left out.

        Raises:
            ExportError: If a limit is passed.
        """
        index: Index = []
        for path, kind, status, entry in self._below(root, without):
            self.names -= len(json.dumps(path))
            size = status.st_size if kind == "file" else len(_target(entry, kind))
            self.size -= size
            if self.names < 0 or self.size < 0:
                what = "bytes of names" if self.names < 0 else "bytes"
                raise ExportError(f"the tree has too many {what}")
            index.append([path, kind, stat.S_IMODE(status.st_mode), status.st_mtime_ns, size])
        return index

    def send(self, root: int, index: Index, write: Write, *, without: str = "") -> None:
        """Write the bytes of what ``scan`` found: as many as it said, whatever is there by now."""
        wanted = iter(index)
        with contextlib.suppress(ExportError, OSError):
            for path, kind, _, entry in self._below(root, without):
                want = next(wanted, None)
                if want is None or want[:2] != [path, kind]:
                    wanted = itertools.chain([want] if want else [], wanted)
                    break
                _send(entry, kind, int(want[4]), write)
        for want in wanted:
            _pad(int(want[4]), write)

    def _below(self, root: int, without: str) -> Iterator[_Found]:
        with _permitted(root, 0o700):
            yield from self._walk(root, "", 0, without)

    def _walk(self, folder: int, prefix: str, depth: int, without: str = "") -> Iterator[_Found]:
        if depth > _DEPTH:
            raise ExportError(f"the tree is deeper than {_DEPTH} folders")
        with _opened(folder, os.O_RDONLY | os.O_DIRECTORY) as listed:
            names = [name for name in os.listdir(listed) if name != without]
            names = sorted(name for name in names if self._wanted(prefix + name))
        self.entries -= len(names)
        if self.entries < 0:
            raise ExportError("the tree has too many entries")
        if len(os.fsencode(prefix)) > _LONGEST:
            raise ExportError(f"the tree has paths of more than {_LONGEST} bytes")
        for name in names:
            with contextlib.ExitStack() as held:
                try:
                    entry = held.enter_context(_named(folder, name))
                except FileNotFoundError:  # somebody does not stand still: told at the end
                    continue
                yield from self._entry(entry, prefix + name, depth)

    def _wanted(self, path: str) -> bool:
        """Return whether a path is asked for, or leads to one that is, or lies below."""
        for place in self.only:
            if path == place or path.startswith(place + "/") or place.startswith(path + "/"):
                return True
        return not self.only

    def _entry(self, entry: int, path: str, depth: int) -> Iterator[_Found]:
        status = os.fstat(entry)
        if stat.S_ISDIR(status.st_mode):
            with _permitted(entry, 0o700):
                yield path, "whole" if _hides(entry) else "folder", status, entry
                yield from self._walk(entry, path + "/", depth + 1)
        elif stat.S_ISLNK(status.st_mode):
            yield path, "link", status, entry
        elif stat.S_ISREG(status.st_mode):
            if not self.largest or status.st_size <= self.largest:
                yield path, "file", status, entry
        elif stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
            yield path, "gone", status, entry


def _send(entry: int, kind: str, size: int, write: Write) -> None:
    """Write so many bytes of a file or a link, zeros where it has no more of them."""
    left = size
    try:
        if kind != "file":
            data = _target(entry, kind)[:size]
            write(data)
            left -= len(data)
            return
        with _permitted(entry, 0o400), _opened(entry, os.O_RDONLY | os.O_NONBLOCK) as fd:
            while left and (data := os.read(fd, min(left, _PIECE))):
                write(data)
                left -= len(data)
    finally:
        _pad(left, write)


def _pad(size: int, write: Write) -> None:
    while size:
        piece = min(size, _PIECE)
        write(bytes(piece))
        size -= piece


def _target(entry: int, kind: str) -> bytes:
    return os.fsencode(os.readlink("", dir_fd=entry)) if kind == "link" else b""


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
def _named(folder: int, name: str) -> Iterator[int]:
    """Take hold of an entry without opening it: what it is cannot change from here on."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _opened(entry: int, flags: int) -> Iterator[int]:
    """Open what a descriptor holds."""
    fd = os.open(f"/proc/self/fd/{entry}", flags | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _permitted(entry: int, bits: int) -> Iterator[None]:
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

"""Reading, writing and listing files for the tool server."""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codeenv.guest.packing import Item
from codeenv.guest.places import PlaceError, Places, failed

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
Info = tuple[str, str, int, bool]
"""Path, kind, size, executable."""


@dataclass
class Files:
    """File operations below the allowed places."""

    places: Places
    _serial: int = 0

    def read(self, path: str, limit: int) -> bytes:
        """Return a regular file's bytes."""
        real = self.places.existing(path)
        if os.path.isdir(real):
            raise PlaceError("is_directory", f"{path} is a directory")
        try:
            fd = os.open(real, _READ)
        except OSError as error:
            raise failed(path, error) from error
        with open(fd, "rb", buffering=0) as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise PlaceError("denied", f"{path} is not a regular file")
            if status.st_size > limit:
                raise PlaceError("too_large", f"{path} has {status.st_size} bytes")
            return file.read(limit + 1)[:limit]

    def write(self, path: str, data: bytes, executable: bool | None) -> None:
        """Replace or create a file in one step."""
        real = self.places.resolve(path)
        if os.path.isdir(real) or path.endswith("/"):
            raise PlaceError("is_directory", f"{path} is a directory")
        try:
            mode = _mode(real, executable)
            os.makedirs(os.path.dirname(real), exist_ok=True)
            self._replace(real, data, mode)
        except FileExistsError as error:
            raise PlaceError("not_directory", f"{path}: a parent is not a directory") from error
        except OSError as error:
            raise failed(path, error) from error

    def list(self, path: str, depth: int) -> list[Info]:
        """Return what is below a folder, sorted; a file gives itself."""
        real = self.places.existing(path)
        if not os.path.isdir(real):
            return [self._info(real, os.lstat(real))]
        return sorted(self._walk(real, depth))

    def apply(self, items: Iterable[Item], deleted: Sequence[str]) -> None:
        """Write and delete files of the workspace (trusted paths)."""
        for path in deleted:
            self._delete(path)
        for path, mode, data in items:
            real = os.path.join(self.places.workspace, path)
            try:
                self._make_room(real)
                if mode == "link":
                    os.symlink(data, os.fsencode(real))
                else:
                    self._replace(real, data, 0o755 if mode == "exec" else 0o644)
            except OSError as error:
                raise failed(path, error) from error

    def _replace(self, real: str, data: bytes, mode: int) -> None:
        self._serial += 1
        beside = f"{os.path.dirname(real)}/.codeenv-{os.getpid()}-{self._serial}"
        fd = os.open(beside, _WRITE, 0o600)
        try:
            with open(fd, "wb", buffering=0) as file:
                view = memoryview(data)
                while view:
                    view = view[file.write(view) :]
                os.fchmod(fd, mode)
            os.rename(beside, real)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise

    def _make_room(self, real: str) -> None:
        """Make parents; take away what is in the way."""
        parent = os.path.dirname(real)
        if os.path.lexists(parent) and not os.path.isdir(parent):
            os.unlink(parent)
        os.makedirs(parent, exist_ok=True)
        if os.path.isdir(real) and not os.path.islink(real):
            shutil.rmtree(real)
        elif os.path.lexists(real):
            os.unlink(real)

    def _delete(self, path: str) -> None:
        real = os.path.join(self.places.workspace, path)
        try:
            if os.path.isdir(real) and not os.path.islink(real):
                shutil.rmtree(real)
            elif os.path.lexists(real):
                os.unlink(real)
        except OSError as error:
            raise failed(path, error) from error
        parent = os.path.dirname(real)
        with contextlib.suppress(OSError):  # an empty folder is no folder of a tree
            while parent != self.places.workspace:
                os.rmdir(parent)
                parent = os.path.dirname(parent)

    def _walk(self, folder: str, depth: int) -> Iterator[Info]:
        with contextlib.suppress(PermissionError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == ".git":
                    continue
                yield self._info(entry.path, entry.stat(follow_symlinks=False))
                if depth > 1 and entry.is_dir(follow_symlinks=False):
                    yield from self._walk(entry.path, depth - 1)

    def _info(self, real: str, status: os.stat_result) -> Info:
        kind = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}.get(
            stat.S_IFMT(status.st_mode), "other"
        )
        size = status.st_size if kind != "directory" else 0
        runs = kind == "file" and bool(status.st_mode & 0o111)
        return self.places.relative(real), kind, size, runs


def _mode(real: str, executable: bool | None) -> int:
    try:
        mode = stat.S_IMODE(os.stat(real).st_mode)
    except FileNotFoundError:
        mode = 0o644
    if executable is None:
        return mode
    return mode | 0o111 if executable else mode & ~0o111

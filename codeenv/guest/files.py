"""Reading, writing and listing files for the tool server."""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codeenv.guest.packing import Item
from codeenv.guest.places import HELD, PlaceError, Places, failed, folder

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
            with folder(os.path.dirname(real)) as parent:
                fd = os.open(os.path.basename(real), _READ, dir_fd=parent)
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
            with folder(os.path.dirname(real), make=True) as parent:
                name = os.path.basename(real)
                self._replace(parent, name, data, _mode(parent, name, executable))
        except NotADirectoryError as error:
            raise PlaceError("not_directory", f"{path}: a parent is not a directory") from error
        except OSError as error:
            raise failed(path, error) from error

    def list(self, path: str, depth: int) -> list[Info]:
        """Return what is below a folder, sorted; a file gives itself."""
        real = self.places.existing(path)
        try:
            if not os.path.isdir(real):
                with folder(os.path.dirname(real)) as parent:
                    name = os.path.basename(real)
                    return [self._info(real, os.lstat(name, dir_fd=parent))]
            return sorted(self._walk(real, depth))
        except OSError as error:
            raise failed(path, error) from error

    def apply(self, items: Iterable[Item], deleted: Sequence[str]) -> None:
        """Write and delete files of the workspace (trusted paths)."""
        for path in deleted:
            try:
                self._delete(path.split("/"))
            except OSError as error:
                raise failed(path, error) from error
        for path, mode, data in items:
            try:
                *parents, name = path.split("/")
                with self._room(parents) as parent:
                    _clear(parent, name)
                    if mode == "link":
                        os.symlink(data, os.fsencode(name), dir_fd=parent)
                    else:
                        self._replace(parent, name, data, 0o755 if mode == "exec" else 0o644)
            except OSError as error:
                raise failed(path, error) from error

    @contextlib.contextmanager
    def _room(self, parents: Sequence[str]) -> Iterator[int]:
        """Hold a folder of the workspace, made; what is in the way is taken away, links too."""
        with contextlib.ExitStack() as held:
            fd = held.enter_context(folder(self.places.workspace))
            for name in parents:
                if not stat.S_ISDIR(_kind(fd, name)):
                    _clear(fd, name)
                    os.mkdir(name, dir_fd=fd)
                below = os.open(name, HELD, dir_fd=fd)
                held.callback(os.close, below)
                fd = below
            yield fd

    def _replace(self, parent: int, name: str, data: bytes, mode: int) -> None:
        self._serial += 1
        beside = f".codeenv-{os.getpid()}-{self._serial}"
        fd = os.open(beside, _WRITE, 0o600, dir_fd=parent)
        try:
            with open(fd, "wb", buffering=0) as file:
                view = memoryview(data)
                while view:
                    view = view[file.write(view) :]
                os.fchmod(fd, mode)
            os.rename(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(beside, dir_fd=parent)
            raise

    def _delete(self, parts: Sequence[str]) -> None:
        with contextlib.ExitStack() as held:
            fds = [held.enter_context(folder(self.places.workspace))]
            for name in parts[:-1]:
                if not stat.S_ISDIR(_kind(fds[-1], name)):
                    return
                fds.append(os.open(name, HELD, dir_fd=fds[-1]))
                held.callback(os.close, fds[-1])
            _clear(fds[-1], parts[-1])
            with contextlib.suppress(OSError):  # an empty folder is no folder of a tree
                for fd, name in zip(reversed(fds[:-1]), reversed(parts[:-1]), strict=True):
                    os.rmdir(name, dir_fd=fd)

    def _walk(self, real: str, depth: int) -> Iterator[Info]:
        pending = [(real, depth)]
        while pending:
            where, left = pending.pop()
            with contextlib.suppress(FileNotFoundError, PermissionError), folder(where) as held:
                listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=held)
                try:
                    names = [name for name in os.listdir(listed) if name != ".git"]
                finally:
                    os.close(listed)
                for name in names:
                    with contextlib.suppress(FileNotFoundError):
                        status = os.lstat(name, dir_fd=held)
                        yield self._info(f"{where}/{name}", status)
                        if left > 1 and stat.S_ISDIR(status.st_mode):
                            pending.append((f"{where}/{name}", left - 1))

    def _info(self, real: str, status: os.stat_result) -> Info:
        kind = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}.get(
            stat.S_IFMT(status.st_mode), "other"
        )
        size = status.st_size if kind != "directory" else 0
        runs = kind == "file" and bool(status.st_mode & 0o111)
        return self.places.relative(real), kind, size, runs


def _mode(parent: int, name: str, executable: bool | None) -> int:
    try:
        mode = stat.S_IMODE(os.lstat(name, dir_fd=parent).st_mode)
    except FileNotFoundError:
        mode = 0o644
    if executable is None:
        return mode
    return mode | 0o111 if executable else mode & ~0o111


def _kind(parent: int, name: str) -> int:
    try:
        return os.lstat(name, dir_fd=parent).st_mode
    except FileNotFoundError:
        return 0


def _clear(parent: int, name: str) -> None:
    """Remove what has a name, if anything."""
    kind = _kind(parent, name)
    if stat.S_ISDIR(kind):
        shutil.rmtree(name, dir_fd=parent)
    elif kind:
        os.unlink(name, dir_fd=parent)

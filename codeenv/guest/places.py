"""Paths as callers give them, resolved, and refused where they lead out of the allowed folders."""

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass

HELD = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags to hold a folder that is no link."""
_CODES = {
    errno.ENOENT: "not_found",
    errno.EISDIR: "is_directory",
    errno.ENOTDIR: "not_directory",
    errno.EEXIST: "exists",
    errno.ENOSPC: "too_large",
    errno.EFBIG: "too_large",
    errno.EDQUOT: "too_large",
    errno.ENAMETOOLONG: "not_found",
}


class PlaceError(Exception):
    """Raised when a path cannot be used as asked; ``code`` as in ``codeenv.errors.PathError``."""

    def __init__(self, code: str, message: str) -> None:
        """Keep code and message."""
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Places:
    """The workspace and the temporary folders of a box."""

    workspace: str
    temporary: tuple[str, ...]

    def resolve(self, path: str) -> str:
        """Return the absolute path with links resolved.

        Raises:
            PlaceError: ``outside`` if it leads out of workspace and temporary folders.
        """
        if not _is_possible(path):
            raise PlaceError("not_found", "a path cannot hold a NUL byte or a lone surrogate")
        try:
            real = os.path.realpath(os.path.join(self.workspace, path))
        except OSError as error:
            raise failed(path, error) from error
        if not any(_is_in(real, root) for root in (self.workspace, *self.temporary)):
            raise PlaceError("outside", f"{path} is outside of the workspace")
        return real

    def existing(self, path: str) -> str:
        """Resolve a path that must exist."""
        real = self.resolve(path)
        if not os.path.lexists(real):
            raise PlaceError("not_found", f"{path} does not exist")
        return real

    def relative(self, real: str) -> str:
        """Return a path as callers see it: relative to the workspace where it is in it."""
        if real == self.workspace:
            return "."
        return os.path.relpath(real, self.workspace) if _is_in(real, self.workspace) else real


@contextlib.contextmanager
def folder(real: str, *, make: bool = False) -> Iterator[int]:
    """Hold a folder by a path without links, so that nobody can put one into it afterwards.

    Raises:
        OSError: ``ELOOP`` or ``ENOTDIR`` if there is a link in it by now.
    """
    fd = os.open("/", HELD)
    try:
        for part in filter(None, real.split("/")):
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
            below = os.open(part, HELD, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def failed(path: str, error: OSError) -> PlaceError:
    """Return an operating system's error as ours."""
    code = _CODES.get(error.errno or 0, "denied")
    return PlaceError(code, f"{path}: {error.strerror}")


def _is_possible(path: str) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")

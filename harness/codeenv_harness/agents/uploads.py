"""A program of this machine, to be taken into boxes."""

import os
from pathlib import Path

from codeenv.errors import UsageError
from codeenv.tree import Entry, Tree

_LARGEST = 2 * 1024**3


def uploaded(path: Path) -> Tree:
    """Return a file (under its own name) or a folder with what is below it; links stay links.

    Raises:
        UsageError: If there is none, it cannot be read, or it is larger than 2 GiB.
    """
    if not path.exists():
        raise UsageError(f"there is no {str(path)!r} to upload", hint="name a file or a folder")
    found = [(path.name, path)] if path.is_file() else _below(path)
    size = sum(one.lstat().st_size for _, one in found)
    if size > _LARGEST:
        raise UsageError(f"{path} has {size:,} bytes: more than {_LARGEST:,} to upload")
    try:
        return Tree({name: _entry(one) for name, one in found})
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}") from error


def _below(folder: Path) -> list[tuple[str, Path]]:
    found = []
    for where, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(where) / name).is_symlink()]
        for name in (*files, *links):
            path = Path(where) / name
            if path.is_symlink() or path.is_file():
                found.append((path.relative_to(folder).as_posix(), path))
    return found


def _entry(path: Path) -> Entry:
    if path.is_symlink():
        return Entry(os.fsencode(path.readlink()), "link")
    return Entry(path.read_bytes(), "exec" if path.stat().st_mode & 0o111 else "file")

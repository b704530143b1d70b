"""Reading a folder of this machine as a tree, following no link out of it, and writing one."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from codeenv.errors import SourceError
from codeenv.sources.entries import DEFAULT_CAPS, Caps, Collector
from codeenv.tree import Entry, Tree

_IGNORED = frozenset({
    ".git", ".hg", ".svn", ".venv", ".tox", ".nox", ".eggs", "__pycache__", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".pytype", ".hypothesis", ".import_linter_cache", ".coverage",
    "htmlcov", "node_modules", ".idea", ".vscode", ".DS_Store",
})  # fmt: skip
_IGNORED_SUFFIXES = (".egg-info", ".pyc", ".pyo")


def read_project(
    folder: Path, *, caps: Caps = DEFAULT_CAPS, leave_out: Callable[[str], None] = lambda _: None
) -> Tree:
    """Return a project's files: no version control, caches, bytecode or virtual environments.

    Args:
        folder: Of the project.
        caps: What it may have.
        leave_out: Told the path of everything that is left out.

    Raises:
        SourceError: If it is empty, too large, unreadable, or a link points out of it.
    """
    collector = Collector(str(folder), caps)

    def skip(path: str, names: set[str]) -> bool:
        if found := _is_disposable(path, names):
            leave_out(path)
        return found

    try:
        read_folder(folder, collector, skip)
    except OSError as error:
        raise SourceError(f"{folder} cannot be read: {error.strerror}") from error
    return collector.tree()


def read_folder(
    folder: Path, collector: Collector, skip: Callable[[str, set[str]], bool] | None = None
) -> None:
    """Feed a folder's regular files and links to a collector; special files are left out.

    Nothing is opened through a link, so the folder may be one that hostile code wrote, as long as
    none of that code still runs.

    Args:
        folder: Where to start.
        collector: Takes the entries, and refuses what is over its caps.
        skip: Tells from a path and, for folders, the names in it whether to leave it out.

    Raises:
        OSError: If something cannot be read.
    """
    root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _read_level(root, "", collector, skip or (lambda path, names: False))
    finally:
        os.close(root)


def write_folder(folder: Path, tree: Tree) -> None:
    """Write a trusted tree's files and links below a folder of ours."""
    for path, entry in tree.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == "link":
            target.symlink_to(os.fsdecode(entry.data))
        else:
            target.write_bytes(entry.data)
            target.chmod(0o755 if entry.mode == "exec" else 0o644)


def _read_level(
    level: int, prefix: str, collector: Collector, skip: Callable[[str, set[str]], bool]
) -> None:
    for name in sorted(_names(level)):
        path, info = prefix + name, os.stat(name, dir_fd=level, follow_symlinks=False)
        if stat.S_ISDIR(info.st_mode):
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            below = os.open(name, flags, dir_fd=level)
            try:
                collector.expect(path, 0)
                if not skip(path, _names(below)):
                    _read_level(below, path + "/", collector, skip)
            finally:
                os.close(below)
        elif skip(path, set()):
            continue
        elif stat.S_ISLNK(info.st_mode):
            collector.expect(path, info.st_size)
            collector.add(path, Entry(os.fsencode(os.readlink(name, dir_fd=level)), "link"))
        elif stat.S_ISREG(info.st_mode):
            collector.expect(path, info.st_size)
            data = _read_file(name, level, info.st_size)
            collector.add(path, Entry(data, "exec" if info.st_mode & 0o100 else "file"))


def _names(level: int) -> set[str]:
    with os.scandir(level) as found:
        return {item.name for item in found}


def _read_file(name: str, level: int, size: int) -> bytes:
    """Read at most the size that was counted."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=level)
    with os.fdopen(handle, "rb") as file:
        return file.read(size)


def _is_disposable(path: str, names: set[str]) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name in _IGNORED or name.endswith(_IGNORED_SUFFIXES) or "pyvenv.cfg" in names

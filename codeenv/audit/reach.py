"""Which files of an environment an agent can read, found on this machine."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeenv.sandbox.image import Image

_HIDDEN = frozenset({"/dev", "/proc", "/sys"})
_LARGE = ("", "/usr", "/usr/lib", "/usr/share", "/var", "/var/lib")
_LIBRARY = frozenset({".py", ".pyi", ".pyc", ".whl", ".zip", ".egg", ".pth"})
_ENTER, _READ = 0o1, 0o4


@dataclass(frozen=True)
class Shown:
    """A file that an agent can read.

    Attributes:
        file: On this machine.
        place: In a box.
        size: In bytes.
        time: When it was last changed, in nanoseconds.
    """

    file: Path
    place: str
    size: int
    time: int


@dataclass(frozen=True)
class Shelf:
    """A folder of an environment.

    Attributes:
        root: The tree it is of, on this machine: there packages say which files are theirs.
        target: Where that tree is in a box.
        files: What can be read, sorted by place.
    """

    root: Path
    target: str
    files: Sequence[Shown]


def shelves(image: Image) -> Iterator[Shelf]:
    """Yield what an agent can read of an image: every layer by itself, and the whole base.

    Layers are not laid over each other: what a later one hides is told, too, since an image may be
    taken apart.  Where the base is this machine itself, only Python libraries are read: the rest is
    nothing that is made for tasks.
    """
    for layer in image.layers:
        for files in _by_package(_below(layer.folder, layer.target)):
            yield Shelf(layer.folder, layer.target, files)
    if image.rootfs is None:
        return
    if image.rootfs == Path("/"):
        for folder in _libraries_of_host():
            found = (f for f in _below(folder, str(folder)) if f.file.suffix in _LIBRARY)
            yield Shelf(folder, str(folder), tuple(found))
        return
    yield from _of_base(image.rootfs)


def _of_base(rootfs: Path) -> Iterator[Shelf]:
    """Yield a base in folders that are small enough to be looked at alone."""
    for top in _LARGE:
        yield Shelf(rootfs, "/", tuple(_listed(rootfs / top[1:], top)))
        for folder in _folders(rootfs / top[1:]):
            place = f"{top}/{folder.name}"
            if place not in {*_LARGE, *_HIDDEN}:
                yield Shelf(rootfs, "/", tuple(_below(folder, place)))


def _by_package(files: Iterable[Shown]) -> list[list[Shown]]:
    """Return files by the package that they are of: most environments have most of them."""
    found: dict[str, list[Shown]] = {}
    for shown in files:
        before, packages, after = shown.place.partition("/site-packages/")
        package, inside, _ = after.partition("/")
        found.setdefault(f"{before}{packages}{package}" if inside else before, []).append(shown)
    return [found[key] for key in sorted(found)]


def _libraries_of_host() -> list[Path]:
    roots = (Path("/usr/lib"), Path("/usr/local/lib"), Path(sys.base_prefix, "lib").resolve())
    found = {folder.resolve() for root in roots for folder in root.glob("python3*")}
    return sorted(folder for folder in found if folder.is_dir())


def _below(folder: Path, place: str) -> Iterator[Shown]:
    yield from _listed(folder, place)
    for inner in _folders(folder):
        yield from _below(inner, f"{place}/{inner.name}")


def _listed(folder: Path, place: str) -> Iterator[Shown]:
    for entry in _entries(folder):
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(status.st_mode) and _may(status, _READ):
            yield Shown(
                Path(entry.path), f"{place}/{entry.name}", status.st_size, status.st_mtime_ns
            )


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


def _folders(folder: Path) -> list[Path]:
    entered = (e for e in _entries(folder) if e.is_dir(follow_symlinks=False))
    return [Path(entry.path) for entry in entered if _may(entry.stat(), _ENTER)]


def _may(status: os.stat_result, bit: int) -> bool:
    """Return whether a box's user may: it is nobody's, or ours where we are no root ourselves."""
    if os.geteuid() and status.st_uid == os.geteuid():
        return bool(status.st_mode & bit << 6)
    return bool(status.st_mode & bit)

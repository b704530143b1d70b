"""What an environment lets an agent read: the same for every task of a repository, so kept."""

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from codeenv.audit.decode import View, views
from codeenv.sandbox.image import Image

_LARGEST = 16 * 1024**2
_KEPT = 96 * 1024**2
"""Bytes of files; what they are read as takes several times as much memory."""
_LIBRARY = frozenset({".py", ".pyi", ".pyc", ".whl", ".zip", ".egg"})
_lock = threading.Lock()
_last: dict[tuple[object, ...], tuple[View, ...]] = {}


def library_of(image: Image) -> Iterable[View]:
    """Return the files of an image's layers and of its Python library, in all readable forms.

    The rest of the base never held the source.  Those of the last image stay in memory, unless they
    are too large for that: then they are read as they are asked for, to be gone through once.
    """
    key = (image.digest, image.rootfs, *(layer.folder for layer in image.layers))
    with _lock:
        if key not in _last:
            files = list(_files(image))
            if sum(file.stat().st_size for file, _ in files) > _KEPT:
                return _read(files)
            _last.clear()
            _last[key] = tuple(_read(files))
        return _last[key]


def _files(image: Image) -> Iterator[tuple[Path, str]]:
    """Yield the files that are read, each with its place in the sandbox."""
    for layer in image.layers:
        yield from _folder(layer.folder, layer.target, frozenset())
    if image.rootfs is not None:
        for folder in sorted((image.rootfs / "usr/lib").glob("python3*")):
            yield from _folder(folder, f"/usr/lib/{folder.name}", _LIBRARY)


def _folder(folder: Path, target: str, suffixes: frozenset[str]) -> Iterator[tuple[Path, str]]:
    for file in sorted(folder.rglob("*")):
        if (not suffixes or file.suffix in suffixes) and _is_read(file):
            yield file, f"{target}/{file.relative_to(folder)}"


def _read(files: Iterable[tuple[Path, str]]) -> Iterator[View]:
    for file, place in files:
        yield from views(place, file.read_bytes())


def _is_read(file: Path) -> bool:
    if file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST:
        return False
    if file.suffix != ".pyc":
        return True
    source = file.parent.parent / f"{file.name.split('.', 1)[0]}.py"
    return not source.is_file()  # bytecode beside its source says nothing more

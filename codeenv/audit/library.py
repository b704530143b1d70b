"""What an environment lets an agent read: the same for every task of a repository, so kept."""

import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from codeenv.audit.decode import View, views
from codeenv.sandbox.image import Image

_LARGEST = 16 * 1024**2
_KEPT = 96 * 1024**2
"""Bytes of files; what they are read as takes several times as much memory."""
_LIBRARY = frozenset({".py", ".pyi", ".pyc", ".whl", ".zip", ".egg"})
_WORD = re.compile(rb"[\w\x80-\xff]+")
_lock = threading.Lock()
_last: dict[tuple[object, ...], "Library"] = {}


class Library:
    """Views that are looked into again and again.

    Attributes:
        views: All of them.
    """

    def __init__(self, views: Iterable[View]) -> None:
        """Keep the views."""
        self.views = tuple(views)

    def __iter__(self) -> Iterator[View]:
        """Iterate over the views."""
        return iter(self.views)

    def with_words(self, words: Sequence[bytes], *, but: int = 0) -> list[View]:
        """Return the texts that have all of some distinct words, but for so many."""
        least = len(words) - but
        if least <= 0:
            return [view for view in self.views if not view.binary]
        found = Counter(number for word in words for number in self._places.get(word, ()))
        return [self.views[number] for number in sorted(found) if found[number] >= least]

    @cached_property
    def _places(self) -> Mapping[bytes, Sequence[int]]:
        """The numbers of the texts that have a word."""
        places: dict[bytes, list[int]] = {}
        for number, view in enumerate(self.views):
            for word in () if view.binary else set(_WORD.findall(view.data)):
                places.setdefault(word, []).append(number)
        return places


def library_of(image: Image) -> Library | Iterator[View]:
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
            _last[key] = Library(_read(files))
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

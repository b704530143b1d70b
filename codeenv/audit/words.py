"""Which words the files of a folder have, in whatever form they are kept: made once, then cached.

What holds a copy of some code has its names.  So the many files of an environment are gone through
once, and for a task only those are read that have the names of its deleted code.
"""

import hashlib
import json
import mmap
import os
import re
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeenv._paths import cache_folder
from codeenv.audit import (
    containers,
    decode,
    entropy,
    lz4,
    markup,
    streams,
    unreadable,
    unwrap,
    zstd,
)
from codeenv.audit.decode import Unread, View, forms, plain
from codeenv.audit.manifests import Manifests
from codeenv.audit.reach import Shelf, Shown
from codeenv.tasks.taskset import write_atomic

LARGEST = 16 * 1024**2
"""Bytes of a file that is unpacked; of larger ones only the plain texts are read."""
_POSTINGS, _UNREAD = "postings", "unread.json"
_SHORTEST = 3
_NUMBER = 32
_WORD = re.compile(rb"[\w\x80-\xff]{%d,}" % _SHORTEST)
_CODE = (".py", ".pyi")
_ELF = b"\x7fELF"
_READERS = (containers, decode, entropy, lz4, markup, streams, unreadable, unwrap, zstd)


@dataclass(frozen=True)
class Words:
    """Where the words of a shelf are, and what on it could not be read.

    Attributes:
        postings: Hash of a word and number of a file, as one number each, sorted.
        unread: What in no package's files is sealed.
    """

    postings: Sequence[int]
    unread: Sequence[Unread]

    def files_with(self, word: bytes) -> Iterator[int]:
        """Yield the numbers of the files that have a word (and of a few that do not)."""
        first = zlib.crc32(word) << _NUMBER
        at = bisect_left(self.postings, first)
        while at < len(self.postings) and self.postings[at] >> _NUMBER == first >> _NUMBER:
            yield self.postings[at] & (1 << _NUMBER) - 1
            at += 1


def searched(word: bytes) -> bool:
    """Return whether a word is one that is looked up: long enough, and nothing but letters."""
    return _WORD.fullmatch(word) is not None


def words_of(shelf: Shelf) -> Words:
    """Return the words of a shelf, from the cache where they are there."""
    folder = cache_folder("words", key_of(shelf))
    try:
        return _load(folder)
    except (OSError, ValueError):
        return _keep(folder, _gather(shelf))


def _load(folder: Path) -> Words:
    unread = [Unread(*row) for row in json.loads((folder / _UNREAD).read_bytes())]
    with (folder / _POSTINGS).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    with suppress(OSError):  # a shared cache may belong to someone else
        os.utime(folder)  # for ``images prune``
    return Words(memoryview(mapped).cast("Q"), unread)


def _keep(folder: Path, words: Words) -> Words:
    write_atomic(folder / _POSTINGS, array("Q", words.postings).tobytes())
    unread = [[found.path, found.form, found.size] for found in words.unread]
    write_atomic(folder / _UNREAD, json.dumps(unread).encode())
    return words


def read(shown: Shown, manifests: Manifests) -> Iterator[View | Unread]:
    """Yield the forms of a file; of code that came with a package, or with this machine, itself.

    Nobody who packs code hides other code in it in disguise, and that is most of what there is.
    """
    with shown.file.open("rb") as file:
        data = file.read(LARGEST)
        large = shown.size > LARGEST
        code = data.startswith(_ELF) or shown.file.suffix in _CODE
        came = shown.place == str(shown.file) or manifests.brought(shown.file) if code else False
        if not large and not came:
            yield from forms(shown.place, data)
            return
        if large:
            yield Unread(shown.place, "too large", shown.size)
        while data:
            yield from plain(shown.place, data)
            data = file.read(LARGEST)


def _gather(shelf: Shelf) -> Words:
    postings: set[int] = set()
    unread: list[Unread] = []
    manifests = Manifests(shelf.root)
    for number, shown in enumerate(shelf.files):
        sealed = []
        for found in read(shown, manifests):
            if isinstance(found, View):
                postings.update(zlib.crc32(word) << _NUMBER | number for word in _words(found))
            else:
                sealed.append(found)
        if sealed and not manifests.brought(shown.file):
            unread += sealed
    return Words(array("Q", sorted(postings)), unread)


def _words(view: View) -> set[bytes]:
    """Return the words of a view; in data a letter behind a word may be no part of it."""
    words = set(_WORD.findall(view.strings if view.binary else view.data))
    if view.binary and not view.data.startswith(_ELF):
        words |= {word[:-1] for word in words if len(word) > _SHORTEST}
    return words


def key_of(shelf: Shelf) -> str:
    """Return a digest of what is in a folder, and of how it is read."""
    total = hashlib.sha256()
    for module in _READERS:
        total.update(Path(str(module.__file__)).read_bytes())
    for shown in shelf.files:
        total.update(f"{shown.place}\0{shown.size} {shown.time}\n".encode("utf-8", "surrogatepass"))
    return total.hexdigest()[:32]

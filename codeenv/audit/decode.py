"""Everything a file may hold, as plain bytes: archive members, compressed streams, tables.

Nothing is executed and nothing is unmarshalled or unpickled: names and texts in bytecode, pickles
and SQLite pages are plain bytes there.  Sizes, members and depth are capped, and what is beyond
them is told.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from codeenv.audit.containers import PACKED, Sealed, parts
from codeenv.audit.fingerprint import shingles
from codeenv.audit.order import squeezed
from codeenv.audit.streams import Budget
from codeenv.audit.unreadable import is_media
from codeenv.audit.unwrap import LARGEST_TEXT, unwrapped, widened

_DEPTH = 4
_OVERLAP = 64 * 1024
_PERHAPS = "encoded"
"""Name of what was perhaps encoded, and else is a product of chance."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_LONG = re.compile(rb"(?:[!-~]{56,}+[\r\n]{0,2}+)++")
_LEAST_TEXT = 200
_RUNS = re.compile(rb"[\x20-\x7e\t\r\n]{4,}")


@dataclass(frozen=True)
class View:
    """One readable form of a file.

    Attributes:
        path: Of the file, and after ``!`` of what lies in it.
        data: Its bytes, decoded.
        binary: Whether it is not text.
    """

    path: str
    data: bytes
    binary: bool

    @cached_property
    def strings(self) -> bytes:
        """The printable runs of the data, one a line."""
        return b"\n".join(_RUNS.findall(self.data))

    @cached_property
    def squeezed(self) -> bytes:
        """The text without spaces, quotes and escapes."""
        return squeezed((self.strings if self.binary else self.data)[:LARGEST_TEXT])

    @cached_property
    def shingles(self) -> "array[int]":
        """The shingles of the text, sorted (a set of them would take ten times the memory)."""
        text = (self.strings if self.binary else self.data)[:LARGEST_TEXT]
        return array("q", sorted(shingles(text.decode("utf-8", "replace"))))

    def held(self, wanted: frozenset[int]) -> int:
        """Return how many of some shingles the text has."""
        known = self.shingles
        places = ((bisect_left(known, shingle), shingle) for shingle in wanted)
        return sum(place < len(known) and known[place] == shingle for place, shingle in places)


@dataclass(frozen=True, slots=True)
class Unread:
    """Something in a file that could not be read.

    Attributes:
        path: Of the file, and after ``!`` of what lies in it.
        form: What makes it unreadable.
        size: Bytes it takes as it is.
    """

    path: str
    form: str
    size: int


def views(path: str, data: bytes) -> Iterator[View]:
    """Yield the file itself and all that can be unpacked from it."""
    return (found for found in forms(path, data) if isinstance(found, View))


def forms(path: str, data: bytes) -> Iterator[View | Unread]:
    """Yield the file itself, all that can be unpacked from it, and what of it cannot be read."""
    budget = Budget()
    for found in _forms(path, data, 0, budget):
        if isinstance(found, View) or found.form != PACKED or not _is_chance(found.path, data):
            yield found
    if budget.spent:
        yield Unread(path, "too much to unpack", len(data))


def plain(path: str, data: bytes) -> Iterator[View]:
    """Yield the file itself."""
    binary = _is_binary(data)
    return (View(path, piece, binary) for piece in _pieces(data))


def _forms(path: str, data: bytes, depth: int, budget: Budget) -> Iterator[View | Unread]:
    own = list(plain(path, data))
    yield from own
    for part in parts(data, budget, binary=own[0].binary):
        if isinstance(part, Sealed):
            yield Unread("!".join(filter(None, (path, part.name))), part.form, part.size)
        elif depth >= _DEPTH:
            yield Unread(path, "packed too often", len(data))
            return
        else:
            yield from _forms(f"{path}!{part[0]}", part[1], depth + 1, budget)
    if depth < _DEPTH and not budget.spent:
        for name, inner in _kept(data, binary=own[0].binary):
            budget.left -= len(inner)
            yield from _forms(f"{path}!{name}", inner, depth + 1, budget)


def _kept(data: bytes, *, binary: bool) -> Iterator[tuple[str, bytes]]:
    """Yield what a file holds in another writing; of data, also what its long words do."""
    if not binary:
        yield from unwrapped(data)
        return
    yield from widened(data)
    if words := b"\n".join(run for run in _LONG.findall(data) if len(run) >= _LEAST_TEXT):
        yield from unwrapped(words)


def _is_chance(path: str, data: bytes) -> bool:
    """Return whether what seems packed in a file need not be: it is of a picture, or of no code."""
    return is_media(data) or _PERHAPS in path.rpartition("!")[2:]


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yield data in pieces that are small enough for everything that is done with a text."""
    for start in range(0, max(len(data) - _OVERLAP, 1), LARGEST_TEXT - _OVERLAP):
        yield data if len(data) <= LARGEST_TEXT else data[start : start + LARGEST_TEXT]


def _is_binary(data: bytes) -> bool:
    if b"\0" in data:
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return _CONTROL.search(data) is not None
    return False

"""Everything a file may hold, as plain bytes: archive members, compressed streams, tables.

Nothing is executed and nothing is unmarshalled or unpickled: names and texts in bytecode, pickles
and SQLite pages are plain bytes there.  Sizes, members and depth are capped.
"""

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import IO

from codeenv.audit.fingerprint import shingles
from codeenv.audit.unwrap import LARGEST_TEXT, unwrapped, widened

_DEPTH = 4
_MEMBERS = 5000
_LEAST = 32
_PIECE = 4096
_TOTAL = 64 * 1024**2
_ERRORS = (
    OSError, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError,
    zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError,
)  # fmt: skip
_ZIP_END, _ZIP_TAIL = b"PK\x05\x06", 66_000
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_RUNS = re.compile(rb"[\x20-\x7e\t\r\n]{4,}")


@dataclass(frozen=True)
class View:
    """One readable form of a file.

    Attributes:
        path: Of the file, and after ``!`` of what lies in it.
        data: Its bytes, decoded.
        binary: Whether it is not text (then only names in it mean anything).
    """

    path: str
    data: bytes
    binary: bool

    @cached_property
    def strings(self) -> bytes:
        """The printable runs of the data, one a line."""
        return b"\n".join(_RUNS.findall(self.data))

    @cached_property
    def shingles(self) -> "array[int]":
        """The shingles of the text, sorted (a set of them would take ten times the memory)."""
        return array("q", sorted(shingles(self.data[:LARGEST_TEXT].decode("utf-8", "replace"))))

    def held(self, wanted: frozenset[int]) -> int:
        """Return how many of some shingles the text has."""
        known = self.shingles
        places = ((bisect_left(known, shingle), shingle) for shingle in wanted)
        return sum(place < len(known) and known[place] == shingle for place, shingle in places)


class _Budget:
    """How many bytes may still be unpacked."""

    def __init__(self) -> None:
        self.left = _TOTAL

    def read(self, stream: IO[bytes] | gzip.GzipFile) -> bytes:
        data = stream.read(max(self.left, 0))
        self.left -= len(data)
        return data


def views(path: str, data: bytes) -> Iterator[View]:
    """Yield the file itself and all that can be unpacked from it."""
    yield from _views(path, data, 0, _Budget())


def _views(path: str, data: bytes, depth: int, budget: _Budget) -> Iterator[View]:
    view = View(path, data, _is_binary(data))
    yield view
    if depth >= _DEPTH or budget.left <= 0:
        return
    for name, inner in _inside(data, budget):
        yield from _views(f"{path}!{name}", inner, depth + 1, budget)
    for name, inner in widened(data) if view.binary else unwrapped(data):
        budget.left -= len(inner)
        yield from _views(f"{path}!{name}", inner, depth + 1, budget)


def _inside(data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    try:
        if _ZIP_END in data[-_ZIP_TAIL:] and zipfile.is_zipfile(io.BytesIO(data)):
            yield from _zip_members(data, budget)
        elif data[257:262] == b"ustar":
            yield from _tar_members(data, budget)
        elif data[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as members:
                yield "gz", budget.read(members)
        elif data[:3] == b"BZh":
            with bz2.BZ2File(io.BytesIO(data)) as stream:
                yield "bz2", budget.read(stream)
        elif data[:6] == b"\xfd7zXZ\x00" or data[:3] == b"\x5d\x00\x00":
            with lzma.LZMAFile(io.BytesIO(data)) as packed:
                yield "xz", budget.read(packed)
        elif data[:18] == b"# Sphinx inventory":
            yield "inventory", _stream(memoryview(data.split(b"\n", 4)[-1]), 0, budget)[0]
        else:
            yield from _streams(data, budget)
    except _ERRORS:
        return


def _zip_members(data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist()[:_MEMBERS]:
            if not member.is_dir() and not member.flag_bits & 1:
                with archive.open(member) as stream:
                    yield member.filename, budget.read(stream)


def _tar_members(data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for count, member in enumerate(archive):
            if count >= _MEMBERS:
                return
            stream = archive.extractfile(member) if member.isreg() else None
            if stream is not None:
                yield member.name, budget.read(stream)


def _streams(data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    """Yield the zlib streams in a container of any kind (packs of git's, tables, images)."""
    end = 0
    for found in islice(_ZLIB.finditer(data), _MEMBERS):
        if found.start() < end or budget.left <= 0:
            continue
        with suppress(zlib.error):
            inner, after = _stream(memoryview(data), found.start(), budget)
            if len(inner) >= _LEAST:
                end = after
                yield f"zlib at {found.start()}", inner


def _stream(data: memoryview, start: int, budget: _Budget) -> tuple[bytes, int]:
    """Return what a zlib stream holds, and where it ends if it does; a piece is read at a time."""
    stream, parts, at = zlib.decompressobj(), [], start
    while not stream.eof and at < len(data) and budget.left > 0:
        parts.append(stream.decompress(data[at : at + _PIECE], budget.left))
        budget.left -= len(parts[-1])
        at = min(at + _PIECE, len(data))
    return b"".join(parts), at - len(stream.unused_data) if stream.eof else start


def _is_binary(data: bytes) -> bool:
    if b"\0" in data:
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return _CONTROL.search(data) is not None
    return False

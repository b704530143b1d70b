"""Compressed streams, wherever in a file they begin: unpacked as far as they can be.

What is damaged or cut off is unpacked up to there, as anybody could.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Protocol

from codeenv.audit.lz4 import lz4_frame
from codeenv.audit.zstd import zstd_frame

_PIECE = 4096
_TOTAL = 64 * 1024**2
_SLOW = 8 * 1024**2
"""Bytes of one file that are unpacked by this library's own code."""
_MOST = 5000
_LEAST = 32
_LZIP_HEADER, _LZIP_TRAILER = 6, 20
_LOCAL = 30
_STARTS = (
    (b"\x1f\x8b\x08", 0, "gz"),
    (b"1AY&SY", 4, "bz2"),
    (b"\x17rE8P\x90", 4, "bz2"),
    (b"\xfd7zXZ\0", 0, "xz"),
    *((bytes([0x78, level]), 0, "zlib") for level in (0x01, 0x5E, 0x9C, 0xDA)),
    (b"\x28\xb5\x2f\xfd", 0, "zst"),
    (b"\x2a\x4d\x18", 1, "zst"),
    (b"\x04\x22\x4d\x18", 0, "lz4"),
    (b"LZIP", 0, "lzip"),
    (b"PK\x03\x04", 0, "member"),
)
"""What streams are known by, how far behind their beginning it stands, and how they are packed."""
_ERRORS = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, IndexError)


class Budget:
    """How many bytes may still be unpacked from one file."""

    def __init__(self) -> None:
        """Begin with all of them."""
        self.left = _TOTAL
        self.slow = _SLOW

    @property
    def spent(self) -> bool:
        """Whether nothing more may be unpacked: then some was not read."""
        return self.left <= 0 or self.slow <= 0


@dataclass
class Found:
    """What was unpacked from a stream, or from several that follow each other.

    Attributes:
        form: How it was packed.
        start: Where it begins.
        end: Where it ends.
        data: What was in it.
    """

    form: str
    start: int
    end: int
    data: bytearray


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


_Decoder = Callable[[bytes, int, Budget], tuple[bytes, int]]


def streams(data: bytes, budget: Budget) -> Iterator[Found]:
    """Yield what is in the compressed streams of a container of any kind, in their order.

    Streams that follow each other are one text that was packed in parts.
    """
    last: Found | None = None
    for count, (start, form) in enumerate(merge(*(_found(data, *known) for known in _STARTS))):
        if count >= _MOST:
            budget.left = 0
        if budget.spent or (last is not None and start < last.end):
            continue
        inner, end = _unpacked(form, data, start, budget)
        if end <= start and len(inner) < _LEAST:
            continue
        if last is not None and last.form == form != "member" and last.end == start:
            last.data += inner
            last.end = max(end, start)
            continue
        if last is not None:
            yield last
        last = Found(form, start, max(end, start), bytearray(inner))
    if last is not None:
        yield last


def _found(data: bytes, magic: bytes, behind: int, form: str) -> Iterator[tuple[int, str]]:
    at = data.find(magic)
    while at >= 0:
        if at >= behind:
            yield at - behind, form
        at = data.find(magic, at + 1)


def bare_deflate(data: bytes, budget: Budget) -> bytes:
    """Return what data holds that is one deflate stream without any header, else nothing."""
    inner, end = _stepwise(zlib.decompressobj(-zlib.MAX_WBITS), data, 0, budget)
    return inner if end and end >= len(data) * 0.9 else b""


def alone(data: bytes, budget: Budget) -> bytes:
    """Return what is in a stream of the LZMA format that has no magic number."""
    return _stepwise(lzma.LZMADecompressor(lzma.FORMAT_ALONE), data, 0, budget)[0]


def _unpacked(form: str, data: bytes, start: int, budget: Budget) -> tuple[bytes, int]:
    """Return what is in a stream, and where it ends; not after its start if that is not known."""
    decode = _DECODERS[form]
    try:
        inner, end = decode(data, start, budget)
    except _ERRORS:
        return b"", 0
    return inner, end


def _stepwise(decoder: _Decompressor, data: bytes, start: int, budget: Budget) -> tuple[bytes, int]:
    """Read a piece at a time, so that what cannot be read spoils nothing before it."""
    parts, at = [], start
    view = memoryview(data)
    try:
        while not decoder.eof and at < len(data) and not budget.spent:
            piece = bytes(view[at : at + _PIECE])
            at += len(piece)
            inner = decoder.decompress(piece, budget.left)
            budget.left -= len(inner)
            parts.append(inner)
    except _ERRORS:
        at = start
    end = at - len(decoder.unused_data) if decoder.eof else start
    return b"".join(parts), end


def _simple(make: Callable[[], _Decompressor]) -> _Decoder:
    def decode(data: bytes, start: int, budget: Budget) -> tuple[bytes, int]:
        return _stepwise(make(), data, start, budget)

    return decode


def _lzip(data: bytes, start: int, budget: Budget) -> tuple[bytes, int]:
    coded = data[start + 5]
    size = (1 << (coded & 31)) - ((1 << (coded & 31)) // 16) * (coded >> 5)
    filters = [{"id": lzma.FILTER_LZMA1, "dict_size": max(size, 4096), "lc": 3, "lp": 0, "pb": 2}]
    decoder = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)
    inner, end = _stepwise(decoder, data, start + _LZIP_HEADER, budget)
    return inner, end + _LZIP_TRAILER if end > start + _LZIP_HEADER else start


def _member(data: bytes, start: int, budget: Budget) -> tuple[bytes, int]:
    """Read a member of a zip whose directory is not at the end of the file."""
    head = data[start : start + _LOCAL]
    encrypted, method = head[6] & 1, int.from_bytes(head[8:10], "little")
    packed = int.from_bytes(head[18:22], "little")
    names = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    begin = start + _LOCAL + names
    if encrypted or method not in (0, 8):
        return b"", 0
    if method == 0:
        inner = data[begin : begin + min(packed, max(budget.left, 0))]
        budget.left -= len(inner)
        return inner, begin + packed
    return _stepwise(zlib.decompressobj(-zlib.MAX_WBITS), data, begin, budget)


def _own(unpack: Callable[[bytes, int, int], tuple[bytes, int]]) -> _Decoder:
    def decode(data: bytes, start: int, budget: Budget) -> tuple[bytes, int]:
        inner, end = unpack(data, start, min(budget.left, budget.slow))
        budget.left -= len(inner)
        budget.slow -= len(inner)
        return inner, end

    return decode


_DECODERS: dict[str, _Decoder] = {
    "gz": _simple(lambda: zlib.decompressobj(16 + zlib.MAX_WBITS)),
    "bz2": _simple(bz2.BZ2Decompressor),
    "xz": _simple(lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)),
    "zlib": _simple(zlib.decompressobj),
    "zst": _own(zstd_frame),
    "lz4": _own(lz4_frame),
    "lzip": _lzip,
    "member": _member,
}

"""What lies in archives and other containers, and what of it cannot be read.

Nothing is executed, unmarshalled or unpickled, and nothing is written.
"""

import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from codeenv.audit.streams import Budget, alone, bare_deflate, streams
from codeenv.audit.unreadable import packed_bytes, sealed_form

PACKED = "packed or encrypted in an unknown way"
_MEMBERS = 5000
_LEAST = 32
_ZIP_END, _ZIP_TAIL = b"PK\x05\x06", 66_000
_AR, _AR_HEAD = b"!<arch>\n", 60
_CPIO, _CPIO_HEAD = (b"070701", b"070702"), 110
_INVENTORY = b"# Sphinx inventory"
_ERRORS = (OSError, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError, zlib.error,
           zipfile.BadZipFile, tarfile.TarError)  # fmt: skip


@dataclass(frozen=True)
class Sealed:
    """A part of a file that cannot be read.

    Attributes:
        name: What it is called in its container; "" for the file itself.
        form: What makes it unreadable.
        size: Its bytes, as they are stored.
    """

    name: str
    form: str
    size: int


Part = tuple[str, bytes]
"""Name of what lies in a container, and its bytes."""


def parts(data: bytes, budget: Budget, *, binary: bool) -> Iterator[Part | Sealed]:
    """Yield what lies in a file, if it is a container of some kind, and what cannot be read.

    Args:
        data: Of the file.
        budget: What may be unpacked of it.
        binary: Whether it is no text: else it is none.
    """
    if form := sealed_form(data):
        yield Sealed("", form, len(data))
    if not binary:
        return
    try:
        yield from _members(data, budget)
    except _ERRORS:
        yield from _streams(data, budget)


def _members(data: bytes, budget: Budget) -> Iterator[Part | Sealed]:
    if _ZIP_END in data[-_ZIP_TAIL:] and zipfile.is_zipfile(io.BytesIO(data)):
        yield from _zip(data, budget)
    elif data[257:262] == b"ustar":
        yield from _tar(data, budget)
    elif data.startswith(_AR):
        yield from _ar(data)
    elif data.startswith(_CPIO):
        yield from _cpio(data)
    elif data.startswith(_INVENTORY):
        yield from _streams(data.split(b"\n", 4)[-1], budget)
    else:
        yield from _streams(data, budget)


def _read(stream: IO[bytes], budget: Budget) -> bytes:
    data = stream.read(max(budget.left, 0))
    budget.left -= len(data)
    return data


def _zip(data: bytes, budget: Budget) -> Iterator[Part | Sealed]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        for member in members[:_MEMBERS]:
            if member.is_dir() or budget.spent:
                continue
            if member.flag_bits & 1:
                yield Sealed(member.filename, "encrypted", member.compress_size)
                continue
            try:
                with archive.open(member) as stream:
                    yield member.filename, _read(stream, budget)
            except _ERRORS:
                yield from _by_hand(data, member, budget)
    if len(members) > _MEMBERS:
        yield Sealed("", f"more than {_MEMBERS} members", len(data))


def _by_hand(data: bytes, member: zipfile.ZipInfo, budget: Budget) -> Iterator[Part | Sealed]:
    """Yield a member that is packed in another way than most, or damaged."""
    packed = data[member.header_offset :][: member.compress_size + 400]
    found = list(_streams(packed, budget))
    yield from (
        (f"{member.filename}!{part[0]}", part[1]) for part in found if isinstance(part, tuple)
    )
    if not any(isinstance(part, tuple) for part in found):
        form = f"packed by method {member.compress_type}"
        yield Sealed(member.filename, form, member.compress_size)


def _tar(data: bytes, budget: Budget) -> Iterator[Part | Sealed]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for count, member in enumerate(archive):
            if count >= _MEMBERS:
                yield Sealed("", f"more than {_MEMBERS} members", len(data))
                return
            stream = archive.extractfile(member) if member.isreg() else None
            if stream is not None:
                yield member.name, _read(stream, budget)


def _ar(data: bytes) -> Iterator[Part]:
    """Yield the members of an ``ar`` archive, such as a Debian package."""
    at = len(_AR)
    while at + _AR_HEAD <= len(data):
        head = data[at : at + _AR_HEAD]
        size = int(head[48:58])
        at += _AR_HEAD
        yield head[:16].decode("utf-8", "replace").strip(" /"), data[at : at + size]
        at += size + size % 2


def _cpio(data: bytes) -> Iterator[Part]:
    """Yield the files of a ``cpio`` archive, such as the contents of an RPM package."""
    at = 0
    while data[at : at + 6] in _CPIO:
        numbers = [int(data[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        size, length = numbers[6], numbers[11]
        name = data[at + _CPIO_HEAD : at + _CPIO_HEAD + length].rstrip(b"\0")
        at = (at + _CPIO_HEAD + length + 3) // 4 * 4
        if size:
            yield name.decode("utf-8", "replace"), data[at : at + size]
        at = (at + size + 3) // 4 * 4


def _streams(data: bytes, budget: Budget) -> Iterator[Part | Sealed]:
    """Yield the compressed streams in a file, and whether the rest of it cannot be read."""
    if data.startswith(b"\x5d\0\0") and (inner := alone(data, budget)):
        yield "lzma", inner
        return
    rest, at = bytearray(), 0
    for found in streams(data, budget):
        rest += data[at : found.start]
        at = max(at, found.end)
        if len(found.data) >= _LEAST:
            yield f"{found.form} at {found.start}", bytes(found.data)
    rest += data[at:]
    packed = packed_bytes(bytes(rest), data) if not budget.spent else 0
    if packed and len(rest) == len(data) and (inner := bare_deflate(data, budget)):
        yield "deflate", inner
    elif packed:
        yield Sealed("", PACKED, packed)

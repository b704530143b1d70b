"""Frames on a byte stream: a JSON header and a binary payload, both length-prefixed."""

import json
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Header = dict[str, Any]
_LENGTHS = struct.Struct("!IQ")
MAX_HEADER = 64 * 1024**2
MAX_PAYLOAD = 8 * 1024**3
CHUNK = 1024**2


class FrameError(Exception):
    """Raised when the other side does not speak frames."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: what it says, and bytes that go with it."""

    header: Header
    payload: bytes = b""

    def encode(self) -> bytes:
        """Return the frame's bytes.  Lone surrogates (undecodable names) survive."""
        return head(self.header, len(self.payload)) + self.payload


def head(header: Header, size: int) -> bytes:
    """Return what comes before the payload of a frame that has so many bytes of it."""
    data = json.dumps(header, separators=(",", ":")).encode("ascii")
    return _LENGTHS.pack(len(data), size) + data


@dataclass
class Decoder:
    """Puts frames together from bytes as they come."""

    limit: int = MAX_PAYLOAD
    _buffer: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take bytes; yield every frame that is complete.

        Raises:
            FrameError: If the lengths are impossible or the header is not a JSON object.
        """
        self._buffer += data
        while (end := self._end()) is not None and len(self._buffer) >= end:
            head, size = _LENGTHS.unpack_from(self._buffer)
            with memoryview(self._buffer) as view:
                start = _LENGTHS.size
                header = _parse(bytes(view[start : start + head]))
                payload = bytes(view[start + head : start + head + size])
            del self._buffer[:end]
            yield Frame(header, payload)

    def _end(self) -> int | None:
        if len(self._buffer) < _LENGTHS.size:
            return None
        head, size = _LENGTHS.unpack_from(self._buffer)
        if head > MAX_HEADER or size > self.limit:
            raise FrameError(f"impossible frame lengths {head} and {size}")
        return int(_LENGTHS.size + head + size)


def _parse(data: bytes) -> Header:
    try:
        header = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FrameError("a frame's header is not JSON") from error
    if not isinstance(header, dict):
        raise FrameError("a frame's header is not an object")
    return header


def write_all(fd: int, data: bytes) -> None:
    """Write every byte to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]

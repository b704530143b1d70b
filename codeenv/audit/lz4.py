"""LZ4 frames, which the standard library cannot unpack."""

_MAGIC = 4
_INDEPENDENT, _BLOCK_SUM, _SIZE, _SUM, _DICTIONARY = 0x20, 0x10, 0x08, 0x04, 0x01
_STORED = 1 << 31
_LEAST_MATCH = 4


def lz4_frame(data: bytes, start: int, most: int) -> tuple[bytes, int]:
    """Return what is in the frame that starts somewhere, and where it ends.

    A damaged frame gives what comes before the damage; its end is then its start.

    Args:
        data: Where the frame is.
        start: Its first byte.
        most: Bytes that are unpacked at most.
    """
    out = bytearray()
    try:
        flags = data[start + _MAGIC]
        at = start + _MAGIC + 3 + (8 if flags & _SIZE else 0) + (4 if flags & _DICTIONARY else 0)
        while len(out) < most:
            size, at = _number(data, at)
            if not size:
                return bytes(out[:most]), at + (4 if flags & _SUM else 0)
            length = size & ~_STORED
            if size & _STORED:
                out += data[at : at + length]
            else:
                _block(data[at : at + length], out, most)
            at += length + (4 if flags & _BLOCK_SUM else 0)
    except IndexError:
        pass
    return bytes(out[:most]), start


def _number(data: bytes, at: int) -> tuple[int, int]:
    if at + 4 > len(data):
        raise IndexError(at)
    return int.from_bytes(data[at : at + 4], "little"), at + 4


def _block(block: bytes, out: bytearray, most: int) -> None:
    """Unpack a block behind what was unpacked before: it may point back into that.

    Raises:
        IndexError: If it is damaged; what comes before is in ``out``.
    """
    at = 0
    while at < len(block) and len(out) < most:
        token = block[at]
        length, at = _length(block, at + 1, token >> 4)
        out += block[at : at + length]
        at += length
        if at >= len(block):
            return
        back = int.from_bytes(block[at : at + 2], "little")
        length, at = _length(block, at + 2, token & 15)
        repeat(out, back, min(length + _LEAST_MATCH, most))


def _length(block: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        more = 255
        while more == 255:
            more = block[at]
            length, at = length + more, at + 1
    return length, at


def repeat(out: bytearray, back: int, length: int) -> None:
    """Append so many bytes that begin some bytes back, and may reach over the end.

    Raises:
        IndexError: If they begin before the first one.
    """
    if not 0 < back <= len(out):
        raise IndexError(back)
    piece = bytes(out[-back : len(out) - back + length])
    if len(piece) < length:
        piece = (piece * (length // len(piece) + 1))[:length]
    out += piece

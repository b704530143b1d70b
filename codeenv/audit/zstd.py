"""Zstandard frames (RFC 8878), which the standard library unpacks from Python 3.14 on only."""

from contextlib import suppress
from dataclasses import dataclass, field

from codeenv.audit.entropy import Backwards, Damaged, Forwards, Huffman, States, huffman, states
from codeenv.audit.lz4 import repeat

_MAGIC = b"\x28\xb5\x2f\xfd"
_BLOCK = 1 << 17
_LITERAL_LENGTHS = (
    *((n, 0) for n in range(16)),
    *((16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4)),
    *((1 << n, n) for n in range(6, 17)),
)
_MATCH_LENGTHS = (
    *((n + 3, 0) for n in range(32)),
    *((35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4)),
    *((99, 5), *(((1 << n) + 3, n) for n in range(7, 17))),
)
_OFFSETS = tuple((1 << n, n) for n in range(32))
_USUAL = (
    states([4, 3, *[2] * 11, 1, 1, 1, *[2] * 9, 3, 2, *[1] * 5, *[-1] * 4], 6),
    states([*[1] * 6, 2, 2, 2, *[1] * 15, *[-1] * 5], 5),
    states([1, 4, 3, *[2] * 6, *[1] * 37, *[-1] * 7], 6),
)
"""States for literal lengths, offsets and match lengths where a block gives none."""
_CODES = (_LITERAL_LENGTHS, _OFFSETS, _MATCH_LENGTHS)
_FINEST = (9, 8, 9)


@dataclass
class _Frame:
    """What blocks of one frame take from those before them."""

    most: int
    out: bytearray = field(default_factory=bytearray)
    literals: Huffman | None = None
    tables: list[States | None] = field(default_factory=lambda: [None] * 3)
    offsets: list[int] = field(default_factory=lambda: [1, 4, 8])


def zstd_frame(data: bytes, start: int, most: int) -> tuple[bytes, int]:
    """Return what is in the frame that starts somewhere, and where it ends.

    A damaged frame gives what comes before the damage; its end is then its start.

    Args:
        data: Where the frame is.
        start: Its first byte.
        most: Bytes that are unpacked at most.
    """
    if not data.startswith(_MAGIC, start):
        is_skipped = data[start] >> 4 == 5  # a frame that holds nothing
        size = 8 + int.from_bytes(data[start + 4 : start + 8], "little")
        return b"", start + size if is_skipped else start
    frame = _Frame(most)
    end = start
    with suppress(Damaged, IndexError):
        end = _blocks(data, start, frame)
    return bytes(frame.out[:most]), end


def _blocks(data: bytes, start: int, frame: _Frame) -> int:
    flags = data[start + 4]
    single = flags >> 5 & 1
    sizes = (single, 2, 4, 8)[flags >> 6]
    at = start + 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + sizes
    last = 0
    while not last:
        head = int.from_bytes(data[at : at + 3], "little")
        last, kind, size = head & 1, head >> 1 & 3, head >> 3
        at += 3
        if at > len(data):
            raise Damaged("end of frame")
        if len(frame.out) >= frame.most:
            return start
        taken = 1 if kind == 1 else size
        block = data[at : at + taken]
        if kind == 3 or size > _BLOCK or len(block) < taken:
            raise Damaged("block")
        if kind == 2:
            _compressed(block, frame)
        else:
            frame.out += block * size if kind == 1 else block
        at += taken
    return at + (4 if flags & 4 else 0)


def _compressed(block: bytes, frame: _Frame) -> None:
    literals, at = _literals(block, frame)
    count, at = _count(block, at)
    if not count:
        frame.out += literals
        return
    modes = block[at]
    at += 1
    for which, shift in enumerate((6, 4, 2)):
        at = _table(block, at, modes >> shift & 3, which, frame)
    _play(literals, count, Backwards(block[at:]), frame)


def _literals(block: bytes, frame: _Frame) -> tuple[bytes, int]:
    """Return the bytes that sequences copy, and where the sequences begin."""
    kind, form = block[0] & 3, block[0] >> 2 & 3
    if kind < 2:
        taken = (1, 2, 1, 3)[form]
        size = int.from_bytes(block[:taken], "little") >> (4 if form & 1 else 3)
        if kind == 1:
            return block[taken : taken + 1] * size, taken + 1
        return block[taken : taken + size], taken + size
    taken, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
    head = int.from_bytes(block[:taken], "little") >> 4
    size, packed = head & (1 << bits) - 1, head >> bits
    body = block[taken : taken + packed]
    if kind == 2:
        frame.literals, described = huffman(body)
        body = body[described:]
    if frame.literals is None:
        raise Damaged("literals")
    if form == 0:
        return frame.literals.read(body, size), taken + packed
    return _four(frame.literals, body, size), taken + packed


def _four(codes: Huffman, body: bytes, size: int) -> bytes:
    ends = [6]
    for n in range(3):
        ends.append(ends[-1] + int.from_bytes(body[2 * n : 2 * n + 2], "little"))
    ends.append(len(body))
    each = (size + 3) // 4
    sizes = (each, each, each, size - 3 * each)
    return b"".join(codes.read(body[ends[n] : ends[n + 1]], sizes[n]) for n in range(4))


def _count(block: bytes, at: int) -> tuple[int, int]:
    """Return the number of sequences, and where they go on."""
    first = block[at]
    if first < 128:
        return first, at + 1
    if first < 255:
        return (first - 128 << 8) + block[at + 1], at + 2
    return block[at + 1] + (block[at + 2] << 8) + 0x7F00, at + 3


def _table(block: bytes, at: int, mode: int, which: int, frame: _Frame) -> int:
    """Take the states of one of the three codes; return where it goes on."""
    if mode == 0:
        frame.tables[which] = _USUAL[which]
    elif mode == 1:
        frame.tables[which] = States(0, ((block[at], 0, 0),))
        return at + 1
    elif mode == 2:
        reader = Forwards(block, at)
        frame.tables[which] = reader.states(_FINEST[which])
        return reader.end
    return at


def _play(literals: bytes, count: int, bits: Backwards, frame: _Frame) -> None:
    """Copy literals and repeat what was there before, as the sequences say."""
    tables = [table for table in frame.tables if table is not None]
    if len(tables) < 3:
        raise Damaged("sequences")
    state = [bits.read(table.bits) for table in tables]
    at = 0
    for left in range(count, 0, -1):
        length, value, match = _numbers(tables, state, bits)
        frame.out += literals[at : at + length]
        at += length
        repeat(frame.out, _offset(frame.offsets, value, length), match)
        if len(frame.out) >= frame.most:
            return
        if left > 1:
            for n in (0, 2, 1):
                _, more, base = tables[n].cells[state[n]]
                state[n] = base + bits.read(more)
    frame.out += literals[at:]


def _numbers(tables: list[States], state: list[int], bits: Backwards) -> list[int]:
    """Return the literal length, the offset's value and the match length of a sequence."""
    numbers = [0, 0, 0]
    for n in (1, 2, 0):
        base, more = _CODES[n][tables[n].cells[state[n]][0]]
        numbers[n] = base + bits.read(more)
    return numbers


def _offset(recent: list[int], value: int, length: int) -> int:
    """Return how far back a match begins, and remember it."""
    if value > 3:
        recent[:] = [value - 3, *recent[:2]]
        return recent[0]
    which = value - 1 + (length == 0)
    if which == 3:
        recent[:] = [recent[0] - 1, *recent[:2]]
    else:
        recent.insert(0, recent.pop(which))
    return recent[0]

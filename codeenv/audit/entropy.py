"""The entropy codes of Zstandard: bits read either way, finite state tables, Huffman trees."""

from collections.abc import Sequence
from dataclasses import dataclass

_LONGEST_CODE = 11
_FINEST_WEIGHTS = 6
_SYMBOLS = 256


class Damaged(ValueError):
    """Raised where a stream cannot go on."""


@dataclass(frozen=True)
class States:
    """A table of states: how many bits name one, and what each says and leads to.

    Attributes:
        bits: Of the first state.
        cells: Symbol, bits to read, and what is added to them for the next state.
    """

    bits: int
    cells: Sequence[tuple[int, int, int]]


class Backwards:
    """Reads bits from the end of a stream, behind the highest one of its last byte."""

    def __init__(self, data: bytes) -> None:
        """Take a stream.

        Raises:
            Damaged: If it has no mark at its end.
        """
        if not data or not data[-1]:
            raise Damaged("end of stream")
        self._data = data
        self.left = 8 * (len(data) - 1) + data[-1].bit_length() - 1

    def read(self, bits: int) -> int:
        """Return the next bits; zeros before the first one."""
        self.left -= bits
        if self.left < 0:
            short = min(-self.left, bits)
            return self._at(0, bits - short) << short
        return self._at(self.left, bits)

    def _at(self, place: int, bits: int) -> int:
        first = place >> 3
        word = int.from_bytes(self._data[first : first + 8], "little") >> (place & 7)
        return word & (1 << bits) - 1


class Forwards:
    """Reads the description of a table of states."""

    def __init__(self, data: bytes, at: int) -> None:
        """Begin at a byte."""
        self._data, self._place = data, 8 * at

    @property
    def end(self) -> int:
        """The byte after what was read."""
        return (self._place + 7) // 8

    def states(self, finest: int) -> States:
        """Return the table that is described.

        Raises:
            Damaged: If it is not one, or finer than it may be.
        """
        bits = self._read(4) + 5
        if bits > finest:
            raise Damaged("table of states")
        left, shares = 1 << bits, list[int]()
        while left > 0 and len(shares) < _SYMBOLS:
            share = self._share(left)
            left -= abs(share)
            shares.append(share)
            more = 3 if share == 0 else 0
            while more == 3:
                more = self._read(2)
                shares += [0] * more
        if left:
            raise Damaged("table of states")
        return states(shares, bits)

    def _share(self, left: int) -> int:
        """Return the next symbol's share of what is left; -1 for less than one."""
        width = (left + 1).bit_length()
        value = self._read(width)
        low = value & (1 << width - 1) - 1
        spare = (1 << width) - 1 - (left + 1)
        if low < spare:
            self._place -= 1
            return low - 1
        return value - (spare if value >= 1 << width - 1 else 0) - 1

    def _read(self, bits: int) -> int:
        first = self._place >> 3
        if first >= len(self._data):
            raise Damaged("table of states")
        word = int.from_bytes(self._data[first : first + 4], "little") >> (self._place & 7)
        self._place += bits
        return word & (1 << bits) - 1


def states(shares: Sequence[int], bits: int) -> States:
    """Return the table in which each symbol has its share of ``2 ** bits`` states."""
    size = 1 << bits
    symbols, high = [0] * size, size
    for symbol, share in enumerate(shares):
        if share == -1:
            high -= 1
            symbols[high] = symbol
    place, step = 0, (size >> 1) + (size >> 3) + 3
    for symbol, share in enumerate(shares):
        for _ in range(max(share, 0)):
            symbols[place] = symbol
            place = place + step & size - 1
            while place >= high:
                place = place + step & size - 1
    following = [abs(share) for share in shares]
    cells = []
    for symbol in symbols:
        number = following[symbol]
        following[symbol] += 1
        more = bits - number.bit_length() + 1
        cells.append((symbol, more, (number << more) - size))
    return States(bits, cells)


@dataclass(frozen=True)
class Huffman:
    """Codes of bytes: the table says for the next bits which byte it is, and how many were its."""

    bits: int
    cells: Sequence[tuple[int, int]]

    def read(self, data: bytes, size: int) -> bytes:
        """Return so many bytes of a stream."""
        reader, out = Backwards(data), bytearray()
        bits, cells = self.bits, self.cells
        for _ in range(size):
            if reader.left <= 0:
                raise Damaged("literals")
            byte, used = cells[reader.read(bits)]
            reader.left += bits - used
            out.append(byte)
        return bytes(out)


def huffman(data: bytes) -> tuple[Huffman, int]:
    """Return the codes that data begins with, and how many bytes describe them.

    Raises:
        Damaged: If they are not all.
    """
    head = data[0]
    if head < 128:
        weights, end = _packed_weights(data[1 : head + 1]), head + 1
    else:
        end = 1 + (head - 126) // 2
        nibbles = [n for byte in data[1:end] for n in (byte >> 4, byte & 15)]
        weights = nibbles[: head - 127]
    total = sum(1 << weight >> 1 for weight in weights)
    bits = total.bit_length()
    rest = (1 << bits) - total
    if not total or bits > _LONGEST_CODE or rest & rest - 1 or len(weights) >= _SYMBOLS:
        raise Damaged("Huffman codes")
    weights.append(rest.bit_length())
    cells: list[tuple[int, int]] = []
    for weight in range(1, bits + 1):
        for symbol, own in enumerate(weights):
            if own == weight:
                cells += [(symbol, bits + 1 - weight)] * (1 << weight - 1)
    return Huffman(bits, cells), end


def _packed_weights(data: bytes) -> list[int]:
    described = Forwards(data, 0)
    table = described.states(_FINEST_WEIGHTS)
    reader = Backwards(data[described.end :])
    state, other = reader.read(table.bits), reader.read(table.bits)
    weights = list[int]()
    while len(weights) < _SYMBOLS:
        symbol, more, base = table.cells[state]
        weights.append(symbol)
        if reader.left < more:
            return [*weights, table.cells[other][0]]
        state, other = other, base + reader.read(more)
    raise Damaged("Huffman codes")

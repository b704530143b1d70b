"""Texts as lines for the page: numbered, coloured, or side by side as a diff.

Colours are names beside pieces of text and never markup: the page inserts text alone.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from codeenv.tools.text import readable, shorten
from codeenv_harness.viewer.colours import Span, coloured

FEW, MANY = 400, 5000
"""Lines of a text that are shown at first, and at most."""
_WIDE = 2000
_DIFFED = 2000
_AROUND = 3
_NUMBERED = re.compile(r" *(\d{1,9})\t(.*)", re.DOTALL)


class Line(NamedTuple):
    """One line; ``kind`` is ``+``, ``-``, ``@`` where lines are left out, else a blank."""

    number: int | None
    kind: str
    spans: list[Span]


class Block(NamedTuple):
    """Lines, and how many more there are."""

    lines: list[Line]
    left: int


def block(lines: Sequence[Line], full: bool) -> Block:
    """Return as many lines as are shown."""
    most = MANY if full else FEW
    return Block(list(lines[:most]), max(0, len(lines) - most))


def code(text: str, path: str, first: int = 1) -> list[Line]:
    """Return code with the numbers of its lines, coloured by the name of its file."""
    found = _coloured(text, path)
    return [Line(first + place, " ", spans) for place, spans in enumerate(found)]


def output(text: str, path: str = "") -> list[Line]:
    """Return what a tool gave, without terminal escapes; numbered code is coloured as such."""
    lines = _lines(readable(text))
    found = [_NUMBERED.fullmatch(line) for line in lines]
    numbered = [(int(match[1]), match[2]) for match in found if match]
    if not numbered or not path:
        return [Line(None, " ", [("", shorten(line, _WIDE))]) for line in lines]
    rest = iter(_coloured("\n".join(text for _, text in numbered), path))
    return [
        Line(int(match[1]), " ", next(rest, [("", match[2])]))
        if match
        else Line(None, " ", [("", shorten(line, _WIDE))])
        for line, match in zip(lines, found, strict=True)
    ]


def diff(before: str, after: str, path: str, *, numbered: bool = True) -> list[Line]:
    """Return what differs between two texts, with a few lines around.

    Args:
        before: The text as it was.
        after: As it is.
        path: Of the file, for the colours.
        numbered: Whether they are whole files, so that numbers of lines mean something.
    """
    old, new = _lines(before), _lines(after)
    spans_old, spans_new = _coloured(before, path), _coloured(after, path)
    pairs = list(_pairs(old, new))
    lines = []
    for kind, i, j in _near(pairs):
        if kind == "@":
            lines.append(Line(None, "@", [("", f"{i} lines that stayed")]))
        else:
            place = i if kind == "-" else j
            spans = spans_old[place] if kind == "-" else spans_new[place]
            lines.append(Line(place + 1 if numbered else None, kind, spans))
    return lines


def changed(lines: Sequence[Line]) -> tuple[int, int]:
    """Return how many lines a diff adds and removes."""
    kinds = [line.kind for line in lines]
    return kinds.count("+"), kinds.count("-")


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _pairs(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int]]:
    """Yield every line with its place in both texts; what is long and differs is not compared."""
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    mid_old, mid_new = old[head : len(old) - tail], new[head : len(new) - tail]
    yield from ((" ", place, place) for place in range(head))
    if len(mid_old) + len(mid_new) > _DIFFED:
        codes = [(False, 0, len(mid_old), 0, len(mid_new))]
    else:
        found = SequenceMatcher(None, mid_old, mid_new).get_opcodes()
        codes = [(name == "equal", a, b, c, d) for name, a, b, c, d in found]
    for equal, a, b, c, d in codes:
        if equal:
            yield from ((" ", head + a + n, head + c + n) for n in range(b - a))
        else:
            yield from (("-", head + place, head + c) for place in range(a, b))
            yield from (("+", head + b, head + place) for place in range(c, d))
    yield from ((" ", len(old) - n, len(new) - n) for n in range(tail, 0, -1))


def _shared(old: list[str], new: list[str]) -> int:
    """Return how many lines two texts begin with in common."""
    same = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        same += 1
    return same


def _near(pairs: list[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Leave out lines that are far from a change, and say how many they were."""
    near = [False] * len(pairs)
    for place, (kind, _, _) in enumerate(pairs):
        if kind != " ":
            first, last = max(0, place - _AROUND), min(len(pairs), place + _AROUND + 1)
            near[first:last] = [True] * (last - first)
    left = 0
    for shown, pair in zip(near, pairs, strict=True):
        if not shown:
            left += 1
            continue
        if left:
            yield "@", left, 0
            left = 0
        yield pair
    if left:
        yield "@", left, 0


def _coloured(text: str, path: str) -> list[list[Span]]:
    """Return the pieces of each line; very long lines are cut."""
    lines = [shorten(line.removesuffix("\r"), _WIDE) for line in _lines(text)]
    return coloured(lines, path)

"""A replacement of some text as deletions within it, and stubs of our own where it has none."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

STUBS = ("pass", "...", "raise NotImplementedError", "return None")
_WORD = rb"A-Za-z0-9_\x80-\xff"
_TOKEN = re.compile(rb"[%b]+|[^\s%b]" % (_WORD, _WORD))
_STUB = re.compile(
    rb"(?m)(?:^|(?<=:))[ \t]*(%b)[ \t]*\r?$" % b"|".join(re.escape(s.encode()) for s in STUBS)
)
_SHOWN = 80


class Span(NamedTuple):
    """Bytes ``[start, end)`` that go, and what comes there: white space, a stub or nothing."""

    start: int
    end: int
    text: str


class Token(NamedTuple):
    """A word or a mark; white space lies between them."""

    text: bytes
    start: int
    end: int


def narrow(old: bytes, new: bytes) -> tuple[Span, ...]:
    """Return what to take out of ``old`` so that ``new`` is left.

    Every word and mark of ``new`` is one of ``old``, in the same order; only white space and stubs
    on their own may be new.

    Raises:
        ValueError: If there is more in ``new``; the message quotes its line.
    """
    stubs = [match.span(1) for match in _STUB.finditer(new)]
    kept = [t for t in _tokens(new) if not any(a <= t.start < b for a, b in stubs)]
    before = _tokens(old)
    first = _embed(before, kept)
    if len(first) < len(kept):
        token = kept[len(first)]
        line = new[new.rfind(b"\n", 0, token.start) + 1 :].split(b"\n")[0]
        told = line.decode("utf-8", "replace").strip()[:_SHOWN]
        raise ValueError(f"{told!r} cannot be had by deleting from what was there")
    backwards = _embed(before[::-1], kept[::-1])
    last = [len(before) - 1 - place for place in reversed(backwards)]
    found = [tuple(_spans(old, new, before, kept, places)) for places in (first, last)]
    return min(found, key=len)


def _tokens(data: bytes) -> list[Token]:
    return [Token(match.group(), *match.span()) for match in _TOKEN.finditer(data)]


def _embed(before: Sequence[Token], kept: Sequence[Token]) -> list[int]:
    """Return the first places of the kept tokens in order, as far as they are found."""
    places: list[int] = []
    for place, token in enumerate(before):
        if len(places) == len(kept):
            break
        if token.text == kept[len(places)].text:
            places.append(place)
    return places


def _spans(
    old: bytes, new: bytes, before: Sequence[Token], kept: Sequence[Token], places: Sequence[int]
) -> Iterator[Span]:
    """Yield how the text between two kept tokens changes, wherever it does."""
    left_old = left_new = 0
    ends = [*((before[p], t) for p, t in zip(places, kept, strict=True)), None]
    for pair in ends:
        right_old, right_new = (pair[0].start, pair[1].start) if pair else (len(old), len(new))
        yield from _difference(old, left_old, right_old, new[left_new:right_new])
        if pair:
            left_old, left_new = pair[0].end, pair[1].end


def _difference(old: bytes, start: int, end: int, new: bytes) -> Iterator[Span]:
    """Yield the change from ``old[start:end]`` to ``new``, without the white space both share."""
    if old[start:end] == new:
        return
    begin, stop = 0, len(new)
    while begin < stop and start < end and old[start] == new[begin] and new[begin] in b" \t\r\n\f":
        start, begin = start + 1, begin + 1
    while begin < stop and start < end and old[end - 1] == new[stop - 1] in b" \t\r\n\f":
        end, stop = end - 1, stop - 1
    yield Span(start, end, new[begin:stop].decode("ascii"))

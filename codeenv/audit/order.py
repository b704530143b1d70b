"""Code among other things: its lines or its words, in a listing, a log, a table, a syntax tree.

Runs of tokens are not found there, since something else stands between the lines or the words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_NOISE = b" \t\r\n\"'\\`"
"""What a text may put before any letter, or leave out."""
_LEAST_LINE = 12
_LEAST_LINES, _LEAST_LETTERS = 3, 60
_OFTEN = 50
_STRETCH, _NEAR = 20, 4096
"""How much longer than the code a place may be that holds all its lines."""
_RUN, _LEAST_RUNS, _LEAST_WORDS = 4, 8, 6
_BETWEEN = 3
_NOISY = 2
"""How many times as often as in the code a word may be in the text that tells of it."""


def squeezed(text: bytes) -> bytes:
    """Return a text without spaces, quotes and escapes."""
    return text.translate(None, _NOISE)


def telling_lines(text: str) -> tuple[bytes, ...]:
    """Return the lines of some code as they are looked for; short ones left out."""
    lines = (squeezed(line.encode("utf-8", "replace")) for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if len(line) >= _LEAST_LINE))


def lines_held(lines: tuple[bytes, ...], text: bytes) -> float:
    """Return what share of some lines a squeezed text holds in one place.

    Args:
        lines: Of the code, squeezed.
        text: Where they are looked for, squeezed.
    """
    total = sum(map(len, lines))
    if len(lines) < _LEAST_LINES or total < _LEAST_LETTERS:
        return 0.0
    found = sorted((at, number) for number, line in enumerate(lines) for at in _places(line, text))
    if len({number for _, number in found}) < _LEAST_LINES:
        return 0.0
    reach, best, first = total * _STRETCH + _NEAR, 0, 0
    held: Counter[int] = Counter()
    letters = 0
    for at, number in found:
        letters += 0 if held[number] else len(lines[number])
        held[number] += 1
        while at - found[first][0] > reach:
            gone = found[first][1]
            held[gone] -= 1
            letters -= 0 if held[gone] else len(lines[gone])
            first += 1
        best = max(best, letters)
    return best / total


def _places(line: bytes, text: bytes) -> Iterable[int]:
    at = text.find(line)
    for _ in range(_OFTEN):
        if at < 0:
            return
        yield at
        at = text.find(line, at + 1)


def words_held(words: tuple[bytes, ...], text: bytes) -> float:
    """Return what share of some words a text has in their order and in one place.

    Other words between them do not count, so a dump of a syntax tree holds those of its code.

    Args:
        words: Of the code, in its order.
        text: Where they are looked for.
    """
    if len(frozenset(words)) < _LEAST_WORDS:
        return 0.0
    longest = sorted(frozenset(words), key=lambda word: (-len(word), word))
    pattern = re.compile(rb"(?<!\w)(?:" + b"|".join(map(re.escape, longest)) + rb")(?!\w)")
    found: list[bytes] = pattern.findall(text)
    there, here = Counter(found), Counter(words)
    rare = [word for word in words if there[word] <= _NOISY * here[word]]
    kept = frozenset(rare)
    best = _runs_held(words, found)
    if len(rare) < len(words):  # the others may be words of the form, such as the fields of a tree
        best = max(best, _runs_held(rare, [word for word in found if word in kept]))
    return best


def _runs_held(words: Sequence[bytes], found: Sequence[bytes]) -> float:
    wanted = frozenset(_runs(words))
    if len(frozenset(words)) < _LEAST_WORDS or len(wanted) < _LEAST_RUNS:
        return 0.0
    runs = [(place, run) for place, run in enumerate(_runs(found)) if run in wanted]
    held: Counter[tuple[bytes, ...]] = Counter()
    best = first = 0
    for place, run in runs:
        held[run] += 1
        while place - runs[first][0] >= _BETWEEN * len(words):
            gone = runs[first][1]
            held[gone] -= 1
            if not held[gone]:
                del held[gone]
            first += 1
        best = max(best, len(held))
    return best / len(wanted)


def _runs(words: Iterable[bytes]) -> list[tuple[bytes, ...]]:
    known = list(words)
    return list(zip(*(known[n:] for n in range(_RUN)), strict=False))

"""What to say when the text to replace is not in the file: where something like it is."""

from difflib import SequenceMatcher

from codeenv.tools.text import numbered, printable, split_lines

_RATIO = 0.6
_SHOWN = 12
_BUDGET = 200_000
"""Characters looked at, at most: a hint must not cost seconds."""
_BY_CHARACTER = 1000


def near_miss(text: str, old: str) -> str:
    """Return a sentence, with the lines as they are, on the closest place; "" if there is none."""
    lines, wanted = split_lines(printable(text)), split_lines(old)
    start = _same_but_white_space(lines, wanted)
    if start is not None:
        return _shown(lines, start, len(wanted), "only white space differs from")
    start = _closest(lines, wanted)
    return "" if start is None else _shown(lines, start, len(wanted), "the closest text is")


def _same_but_white_space(lines: list[str], wanted: list[str]) -> int | None:
    target = ["".join(line.split()) for line in wanted]
    if not any(target):
        return None
    squeezed = ["".join(line.split()) for line in lines]
    starts = range(len(lines) - len(wanted) + 1)
    return next((i for i in starts if squeezed[i : i + len(target)] == target), None)


def _closest(lines: list[str], wanted: list[str]) -> int | None:
    """Return the start of the window that is most alike, if any is alike enough.

    Short texts are compared by character, long ones by line.
    """
    short = sum(map(len, wanted)) <= _BY_CHARACTER
    join = "\n".join if short else list
    matcher = SequenceMatcher(None, b=join(_stripped(wanted)), autojunk=False)
    best, best_ratio = None, _RATIO
    for start in _starts(lines, wanted):
        matcher.set_seq1(join(_stripped(lines[start : start + len(wanted)])))
        if matcher.real_quick_ratio() < best_ratio or matcher.quick_ratio() < best_ratio:
            continue
        ratio = matcher.ratio()
        if ratio > best_ratio or (best is None and ratio >= best_ratio):
            best, best_ratio = start, ratio
    return best


def _starts(lines: list[str], wanted: list[str]) -> list[int]:
    """Return windows worth comparing: those that share a whole line in place, else all (if few)."""
    offsets: dict[str, int] = {}
    for offset, line in enumerate(_stripped(wanted)):
        if line:
            offsets.setdefault(line, offset)
    places = enumerate(_stripped(lines))
    anchored = {at - offsets[line] for at, line in places if line in offsets}
    starts = sorted(start for start in anchored if start >= 0)
    if not starts:
        starts = list(range(max(1, len(lines) - len(wanted) + 1))) if lines else []
    size = sum(map(len, wanted)) + 1
    return starts[: max(1, _BUDGET // size)]


def _stripped(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines]


def _shown(lines: list[str], start: int, count: int, what: str) -> str:
    end = min(start + count, len(lines))
    shown = lines[start : min(end, start + _SHOWN)]
    more = f"\n[{end - start - len(shown)} more lines]" if end - start > len(shown) else ""
    return f"{what} lines {start + 1}-{end}:\n{numbered(shown, start + 1)}{more}"

"""Where a part of a message is in the text a model wrote: names, arguments, content.

Templates write arguments with spacing and escapes of their own; characters are followed through
the JSON, lexeme by lexeme.  What cannot be found exactly is None, never a guess.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from codeenv.feedback.models import Target
from codeenv.trajectory import Message, arguments_text

Span = tuple[int, int]
_LEXEME = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_UNIT = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.S
)
"""One character inside a JSON string."""
_OPENED = re.compile(r"\{(?=\s*[\"}])")
_DEPTH = 64
"""How often a text is read over to find objects in it; what would take more no template writes."""
_DEEP = 1000  # characters of a text that is nested too deep, at the least


def find_part(
    text: str, message: Message, target: Target, render: Callable[[Message], str | None]
) -> Span | None:
    """Return the characters of a completion that a target is about, or None if that is not clear.

    Args:
        text: The completion.
        message: The turn it is.
        target: What to look for; an empty range is the whole part.
        render: Writes another message in the completion's place; None where the completion is the
            model's own text and not the template's.
    """
    if target.part == "content":
        return _content(text, message["content"], target.chars)
    calls = message.get("tool_calls", ())
    if target.part == "message" or target.call >= len(calls):
        return None
    if target.part == "tool_name":
        return _name(text, message, target, render)
    return _arguments(text, message, target)


def _content(text: str, content: str, chars: Span) -> Span | None:
    """Find content; a template may strip white space around it."""
    start, end = _whole_if_empty(chars, len(content))
    bare = content.strip()
    for shown, stripped in ((content, 0), (bare, len(content) - len(content.lstrip()))):
        at = text.find(shown)
        if shown and at >= 0:
            first = at + max(0, start - stripped)
            last = at + min(len(shown), end - stripped)
            return (first, last) if first < last else None
    return None


def _name(
    text: str, message: Message, target: Target, render: Callable[[Message], str | None]
) -> Span | None:
    """Find a tool's name: the only place where it stands, or the one that changes with it."""
    name = message["tool_calls"][target.call]["function"]["name"]
    places = [found.start() for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    at = places[0] if len(places) == 1 else _changed(text, message, target.call, name, render)
    if at is None:
        return None
    start, end = _whole_if_empty(target.chars, len(name))
    return (at + start, at + end) if end <= len(name) else None


def _changed(
    text: str, message: Message, call: int, name: str, render: Callable[[Message], str | None]
) -> int | None:
    """Return where the text changes if the call has another name, if just the name is there."""
    other = next(letter for letter in "qzxjk" if letter not in name[:1] + name[-1:]) * 3
    calls = [*message["tool_calls"]]
    calls[call] = {**calls[call], "function": {**calls[call]["function"], "name": other}}
    changed = render({**message, "tool_calls": calls})
    if changed is None:
        return None
    at = common_prefix(text, changed)
    same = text[:at] + name + changed[at + len(other) :] == text
    return at if same and changed[at:].startswith(other) else None


def _arguments(text: str, message: Message, target: Target) -> Span | None:
    """Find the arguments of a call: behind the content, and behind those of the calls before."""
    calls = [call["function"]["arguments"] for call in message["tool_calls"]]
    written = arguments_text(calls[target.call])
    chars = _whole_if_empty(target.chars, len(written))
    content = message["content"].strip()
    start = text.find(content) + len(content) if content in text else 0
    where = start, start
    for arguments in calls[: target.call + 1]:
        spans = (span for span, value in _objects(text, where[1]) if value == arguments)
        found = next(spans, None)
        if found is None:
            return _raw_value(text, start, written, chars)
        where = found
    mapped = _through_json(written, text[where[0] : where[1]], chars)
    return (where[0] + mapped[0], where[0] + mapped[1]) if mapped else None


def _objects(text: str, start: int) -> Iterator[tuple[Span, Any]]:
    """Yield the JSON objects in a text, the inner ones too, until it was read over too often."""
    decoder = json.JSONDecoder()
    left = _DEPTH * len(text)
    for opened in _OPENED.finditer(text, start):
        at = opened.start()
        if left <= 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
            yield (at, end), value
        except json.JSONDecodeError as error:
            end = error.pos
        except (ValueError, RecursionError):
            end = at + _DEEP
        left -= end - at


def _through_json(ours: str, theirs: str, chars: Span) -> Span | None:
    """Carry a range of characters from one spelling of a JSON value to another."""
    if ours == theirs:
        return chars
    left, right = [*_LEXEME.finditer(ours)], [*_LEXEME.finditer(theirs)]
    if [_value(m.group()) for m in left] != [_value(m.group()) for m in right]:
        return None
    spans = [
        span
        for mine, other in zip(left, right, strict=True)
        if (span := _within(mine, other, chars)) is not None
    ]
    return (spans[0][0], spans[-1][1]) if spans else None


def _within(mine: re.Match[str], other: re.Match[str], chars: Span) -> Span | None:
    """Return the part of the other lexeme that stands for the characters chosen of ours."""
    start, end = max(chars[0], mine.start()), min(chars[1], mine.end())
    if start >= end:
        return None
    if not mine.group().startswith('"') or (start, end) == mine.span():
        return other.span()
    ours, theirs = _units(mine), _units(other)
    pairs = zip(ours, theirs, strict=True)
    chosen = [there for here, there in pairs if here[0] < end and here[1] > start]
    return chosen[0][0], chosen[-1][1]


def _units(string: re.Match[str]) -> list[Span]:
    """Return where each character of a JSON string is, its quotes included."""
    a, b = string.span()
    inner = [unit.span() for unit in _UNIT.finditer(string.string, a + 1, b - 1)]
    return [(a, a + 1), *inner, (b - 1, b)]


def _raw_value(text: str, start: int, written: str, chars: Span) -> Span | None:
    """Find one string value that a template writes without quotes, as in XML."""
    for lexeme in _LEXEME.finditer(written):
        inside = lexeme.start() <= chars[0] and chars[1] <= lexeme.end()
        if not inside or not lexeme.group().startswith('"'):
            continue
        alone = re.compile(rf"(?<!\w){re.escape(json.loads(lexeme.group()))}(?!\w)")
        places = [found.start() for found in alone.finditer(text, start)]
        if len(places) != 1:
            return None
        at = places[0]
        units = _units(lexeme)[1:-1]
        chosen = [i for i, (a, b) in enumerate(units) if a < chars[1] and b > chars[0]]
        return (at + chosen[0], at + chosen[-1] + 1) if chosen else None
    return None


def _value(lexeme: str) -> tuple[bool, object]:
    """Return whether a lexeme is a string, and what it says, however that is spelt."""
    try:
        return lexeme.startswith('"'), json.loads(lexeme)
    except ValueError:
        return False, lexeme


def _whole_if_empty(chars: Span, length: int) -> Span:
    return chars if chars[0] < chars[1] else (0, length)


def common_prefix(one: Any, other: Any) -> int:  # noqa: ANN401 - texts, or lists of ids
    """Return how many items two sequences begin with in common."""
    shorter = min(len(one), len(other))
    return next((i for i in range(shorter) if one[i] != other[i]), shorter)

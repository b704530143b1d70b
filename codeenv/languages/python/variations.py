"""Recorded calls with other arguments, that no test makes."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from codeenv.guest.replay_values import parts, with_parts

Json = Any
_TRIES = 12
_LETTERS = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
_REORDERED = ("list", "tuple", "deque")
_FIELDS = {"datetime": 6, "date": 3, "time": 3, "timedelta": 2}
"""How many numbers of a moment or a duration may change: up to seconds."""
_TEXTS = ("text", "bytes", "bytearray")


def vary(script: str, most: int) -> tuple[str, ...]:
    """Return up to ``most`` scripts that differ in a value or two, the same ones every time."""
    chance = Random(script)
    steps = json.loads(script)
    places = list(_places(steps))
    found: dict[str, None] = {}
    for attempt in range(_TRIES if places else 0):
        changed = json.loads(script)
        for place in chance.sample(places, min(len(places), 1 + attempt % 2)):
            _set(changed, place, _changed(_get(changed, place), chance))
        text = json.dumps(changed)
        if text != script:
            found[text] = None
    return tuple(found)[:most]


def _places(steps: list[Json]) -> Iterator[tuple[Json, ...]]:
    """Yield the way to each argument of each step."""
    for number, (_, *arguments) in enumerate(steps):
        for which, values in enumerate(arguments):
            keys = values if isinstance(values, dict) else range(len(values))
            yield from ((number, 1 + which, key) for key in keys if _may_change(values[key]))


def _may_change(wire: Json) -> bool:
    return not isinstance(wire, bool) and wire is not None and not _is_reference(wire)


def _is_reference(wire: Json) -> bool:
    return isinstance(wire, list) and wire[0] in ("step", "named", "standard", "single", "regex")


def _get(steps: Json, place: tuple[Json, ...]) -> Json:
    for key in place:
        steps = steps[key]
    return steps


def _set(steps: Json, place: tuple[Json, ...], value: Json) -> None:
    *way, last = place
    _get(steps, tuple(way))[last] = value


def _changed(wire: Json, chance: Random) -> Json:
    """Return a value of the same kind, or the same one if there is no other."""
    if isinstance(wire, str):
        return _other_text(wire, chance)
    if isinstance(wire, int) and not isinstance(wire, bool):
        return _other_number(wire, chance)
    if isinstance(wire, float):
        return wire * chance.choice((0.5, 1.25, 3.0)) if wire else 0.5
    if not isinstance(wire, list) or _is_reference(wire):
        return wire
    if wire[0] in _TEXTS:
        return [*wire[:-1], _other_text(wire[-1], chance)]
    if wire[0] in _FIELDS:
        return _other_moment(wire, chance)
    return _other_container(wire, chance)


def _other_text(text: str, chance: Random) -> str:
    """Return a text with one character changed for another of its kind, or taken out or doubled."""
    places = [i for i, c in enumerate(text) if any(c in kind for kind in _LETTERS)]
    if not places:
        return text
    place = chance.choice(places)
    kind = next(kind for kind in _LETTERS if text[place] in kind)
    other = chance.choice(kind.replace(text[place], ""))
    new = chance.choice((other, other, other, "", text[place] * 2))
    return text[:place] + new + text[place + 1 :]


def _other_number(number: int, chance: Random) -> int:
    """Return a number near by, with the same sign."""
    near = chance.choice((number + 1, number + 2, number * 3, number - 1, number // 2))
    return near if (near > 0) == (number > 0) or not number else number + (1 if number > 0 else -1)


def _other_moment(wire: list[Json], chance: Random) -> list[Json]:
    place = chance.randint(1, _FIELDS[wire[0]])
    least = 1 if wire[0] != "timedelta" else 2
    moved = (
        max(least, wire[place] - chance.randint(1, 3)) if wire[place] > least else wire[place] + 1
    )
    return [*wire[:place], moved, *wire[place + 1 :]]


def _other_container(wire: list[Json], chance: Random) -> list[Json]:
    """Return a container with one value changed, or in another order, or without the last."""
    inner = parts(wire)
    usable = [place for place, part in enumerate(inner) if _may_change(part)]
    ways: list[Callable[[], Json]] = []
    if usable:
        ways += [lambda: with_parts(wire, _one_changed(inner, chance.choice(usable), chance))] * 2
    if wire[0] in _REORDERED and len(inner) > 1:
        ways += [lambda: with_parts(wire, inner[::-1]), lambda: with_parts(wire, inner[:-1])]
    return list(chance.choice(ways)()) if ways else wire


def _one_changed(inner: list[Json], place: int, chance: Random) -> list[Json]:
    return [*inner[:place], _changed(inner[place], chance), *inner[place + 1 :]]

"""Holds the views of one file against the secret set; cheap tests first."""

import re
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Literal

from codeenv.audit.decode import View, views
from codeenv.audit.library import Library
from codeenv.audit.models import Leak, LeakKind
from codeenv.audit.secrets import LEAST_SHINGLES, Passage, Secrets
from codeenv.audit.shapes import shapes_of
from codeenv.audit.unwrap import LARGEST_TEXT
from codeenv.tree import suffix

COPIED = 0.7
"""Share of a passage's shingles that makes a file a copy of it."""
COPIED_IN_SOURCE = 0.9
"""The same for the project's own source, where similar code is no leak but a property."""
LEAST_TWIN_IN_SOURCE = 60
"""Nodes of a function whose exact twin in the staying code gives the task away."""
_MISSING = 1
"""How many of its most telling names a copy may have changed."""
_BLOCK = 4096
_WORD = re.compile(rb"\w+")
Place = Literal["source", "test", "workspace", "environment"]
_SOURCES = frozenset({".py", ".pyi", ".pyx", ".txt", ".rst", ".md", ""})


def scan_file(
    path: str, data: bytes, secrets: Secrets, *, place: Place = "workspace"
) -> Iterator[Leak]:
    """Yield the leaks in a file.

    Args:
        path: As told in the leak.
        data: Its bytes.
        secrets: What is looked for.
        place: What the file is: in the project's own source similar code may stay, in a test file
            similar tests.
    """
    for view in views(path, data):
        yield from scan_view(view, secrets, place)


def scan_view(view: View, secrets: Secrets, place: Place) -> Iterator[Leak]:
    """Yield the leaks in one readable form of a file."""
    if view.binary:
        yield from _names(view, secrets, inside=place != "environment")
        return
    if place == "source":
        yield from _copies(view, secrets.code, COPIED_IN_SOURCE, "similar")
        yield from _twins(view, [p for p in secrets.code if p.size >= LEAST_TWIN_IN_SOURCE])
        return
    yield from _copies(view, secrets.code, COPIED, "copy")
    yield from _twins(view, secrets.code)
    if place != "test":
        yield from _copies(view, secrets.tests, COPIED_IN_SOURCE, "hidden_test")


def scan_library(views: Library | Iterable[View], secrets: Secrets) -> Iterator[Leak]:
    """Yield the leaks in an environment; what is kept of it is only read where it may tell."""
    if not isinstance(views, Library):
        for view in views:
            yield from scan_view(view, secrets, "environment")
        return
    for passage in secrets.code:
        for view in _near(views, passage):
            yield from _shown(view, passage)
    for passage in secrets.tests:
        for view in views.with_words(passage.probes, but=_MISSING):
            yield from _copies(view, [passage], COPIED_IN_SOURCE, "hidden_test")
    for view in views:
        if view.binary:
            yield from _names(view, secrets, inside=False)


def readable(views: Library | Iterable[View], passages: Sequence[Passage]) -> frozenset[int]:
    """Return the places in the list of passages of which an environment holds a copy or twin."""
    if isinstance(views, Library):
        near = ((n, view) for n, p in enumerate(passages) for view in _near(views, p))
    else:
        near = ((n, v) for v in views if not v.binary for n in range(len(passages)))
    found: set[int] = set()
    for number, view in near:
        if number not in found and any(True for _ in _shown(view, passages[number])):
            found.add(number)
    return frozenset(found)


def _near(views: Library, passage: Passage) -> set[View]:
    """Return the texts that have the names of a passage, or all that a twin of it must have."""
    anchored = views.with_words(passage.encoded_anchors) if passage.shape else ()
    return {*views.with_words(passage.probes, but=_MISSING), *anchored}


def _shown(view: View, passage: Passage) -> Iterator[Leak]:
    """Yield a leak if a text holds a copy or a twin of a passage."""
    yield from _copies(view, [passage], COPIED, "copy")
    yield from _twins(view, [passage])


def mentions(data: bytes, secrets: Secrets) -> tuple[str, ...]:
    """Return the vanished, untold names that a text speaks of, sorted."""
    words = {word.decode("utf-8", "replace") for word in _WORD.findall(data)}
    return tuple(sorted(secrets.names & words))


def _copies(
    view: View, passages: Iterable[Passage], share: float, kind: LeakKind
) -> Iterator[Leak]:
    for passage in passages:
        if not _may_hold(view.data, passage):
            continue
        held = view.held(passage.shingles) / len(passage.shingles)
        if held >= share:
            detail = f"{held:.0%} of {passage.owner}"
            yield Leak(kind, view.path, detail)


def _may_hold(data: bytes, passage: Passage) -> bool:
    if len(passage.shingles) < LEAST_SHINGLES:
        return False
    missing = 0
    for probe in passage.probes:
        missing += probe not in data
        if missing > _MISSING:
            return False
    return True


def _twins(view: View, passages: Iterable[Passage]) -> Iterator[Leak]:
    if suffix(view.path) not in _SOURCES:
        return
    shaped = [p for p in passages if p.shape and _has_anchors(view.data, p)]
    if not shaped:
        return
    shapes = shapes_of(view.data[:LARGEST_TEXT])
    for passage in shaped:
        if passage.shape in shapes:
            detail = f"{shapes[passage.shape]} has the shape of {passage.owner}"
            yield Leak("twin", view.path, detail)


def _has_anchors(data: bytes, passage: Passage) -> bool:
    return all(anchor in data for anchor in passage.encoded_anchors)


def _names(view: View, secrets: Secrets, *, inside: bool) -> Iterator[Leak]:
    """Yield a leak if binary data holds a good part of the vanished names close together.

    The environment's binaries are large and full of words: there more of them are asked for.
    """
    count = len(secrets.names)
    needed = max(2, ceil(count / 3)) if inside else max(4, ceil(count * 0.6))
    if count < needed:
        return
    held = _densest(view.strings, secrets.names)
    if len(held) >= needed:
        told = ", ".join(sorted(held)[:3])
        yield Leak("names", view.path, f"{len(held)} vanished names, e.g. {told}")


def _densest(text: bytes, names: frozenset[str]) -> frozenset[str]:
    """Return the largest set of names that lie within one window of a text."""
    present = [name for name in names if name.encode() in text]
    if len(present) < 2:
        return frozenset(present)
    pattern = re.compile(
        rb"(?<!\w)(" + b"|".join(n.encode() for n in _longest_first(present)) + b")"
    )
    blocks: dict[int, set[str]] = {}
    for found in pattern.finditer(text):
        blocks.setdefault(found.start() // _BLOCK, set()).add(found.group(1).decode())
    empty: set[str] = set()
    windows = [held | blocks.get(number + 1, empty) for number, held in blocks.items()]
    best: set[str] = max([empty, *windows], key=len)
    return frozenset(best)


def _longest_first(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name), name))

"""Holds the views of one file against the secret set; cheap tests first."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import ceil
from typing import Literal

from codeenv.audit.decode import Unread, View, forms
from codeenv.audit.library import File, Library
from codeenv.audit.models import Leak, LeakKind
from codeenv.audit.order import lines_held, words_held
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
_NAMES_MISSING = 0.4
"""What part of all its names may be missing where only a part was copied."""
_LISTED = 3
"""Names of hidden tests in one text that make it a list of them."""
_BLOCK = 4096
_LONG = 8
_FEW = 5
_PROGRAMS = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe")
_OPERATION = re.compile(rb"\b(?:LOAD|STORE)_(?:FAST|NAME|GLOBAL|CONST|ATTR|DEREF)\b")
_CODE = frozenset({".py", ".pyi"})
_WORD = re.compile(rb"\w+")
_ID = re.compile(rb"(?<![\w.-])([\w.-]{1,255}\.py)::(?:\w+::)*(\w+)")
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
    for found in forms(path, data):
        if isinstance(found, View):
            yield from scan_view(found, secrets, place)
        else:
            yield from _opaque(found, secrets)


def scan_view(view: View, secrets: Secrets, place: Place) -> Iterator[Leak]:
    """Yield the leaks in one readable form of a file."""
    if place == "source" and not view.binary:
        yield from _copies(view, secrets.code, COPIED_IN_SOURCE, "similar")
        yield from _twins(view, [p for p in secrets.code if p.size >= LEAST_TWIN_IN_SOURCE])
        return
    yield from _copies(view, secrets.code, COPIED, "copy", secrets.names)
    if view.binary or _is_disassembled(view.data):
        yield from _names(view, secrets, inside=place != "environment")
    else:
        yield from _twins(view, secrets.code)
    if place != "test":
        yield from _copies(view, secrets.tests, COPIED_IN_SOURCE, "hidden_test")
        yield from _listed(view, secrets, inside=place != "environment")


def scan_library(library: Library, secrets: Secrets) -> Iterator[Leak]:
    """Yield the leaks in an environment; its files are only read where they may tell, and once."""
    code, tests = (
        _wanted(library, secrets.code, _places_near),
        _wanted(library, secrets.tests, _places_with_most),
    )
    listing = {file for name in secrets.test_names for file in library.places([name.encode()])}
    least = _needed(len(secrets.names), inside=False)
    names = set(library.places_of([name.encode() for name in secrets.names], least))
    for file in sorted({*code, *tests, *listing, *names}):
        for view in library.read(file):
            for number in code.get(file, ()):
                yield from _shown(view, secrets.code[number], secrets.names)
            chosen = [secrets.tests[number] for number in tests.get(file, ())]
            yield from _copies(view, chosen, COPIED_IN_SOURCE, "hidden_test")
            if file in listing:
                yield from _listed(view, secrets, inside=False)
            if file in names and (view.binary or _is_disassembled(view.data)):
                yield from _names(view, secrets, inside=False)
    for unread in library.unread:
        yield from _opaque(unread, secrets)


def _wanted(
    library: Library,
    passages: Sequence[Passage],
    places: Callable[[Library, Passage], list[File]],
) -> dict[File, list[int]]:
    """Return which passages, by number, a file may hold."""
    wanted: dict[File, list[int]] = {}
    for number, passage in enumerate(passages):
        for file in dict.fromkeys(places(library, passage)):
            wanted.setdefault(file, []).append(number)
    return wanted


def readable(library: Library, passages: Sequence[Passage]) -> frozenset[int]:
    """Return the places in the list of passages of which an environment holds a copy or twin."""
    wanted = _wanted(library, passages, _places_near)
    held: set[int] = set()
    for place in sorted(wanted):  # each file is read once
        for view in library.read(place):
            for number in wanted[place]:
                if number not in held and any(True for _ in _shown(view, passages[number])):
                    held.add(number)
    return frozenset(held)


def mentions(data: bytes, secrets: Secrets) -> tuple[str, ...]:
    """Return the vanished, untold names that a text speaks of, sorted."""
    words = {word.decode("utf-8", "replace") for word in _WORD.findall(data)}
    return tuple(sorted(secrets.names & words))


def _places_near(library: Library, passage: Passage) -> list[File]:
    """Return the files that have the names of a passage, or all that a twin of it must have."""
    twins = library.places(passage.encoded_anchors or [b"def"]) if passage.shape else []
    return [*_places_with_most(library, passage), *twins]


def _places_with_most(library: Library, passage: Passage) -> list[File]:
    """Return the files that have most names of a passage: a copy of it has."""
    words = [word.encode() for word in passage.words]
    if len(passage.shingles) < LEAST_SHINGLES:
        return []
    return library.places(words, but=int(len(words) * _NAMES_MISSING))


def _shown(view: View, passage: Passage, names: frozenset[str] = frozenset()) -> Iterator[Leak]:
    """Yield a leak if a form of a file holds a copy or a twin of a passage."""
    yield from _copies(view, [passage], COPIED, "copy", names)
    if not view.binary:
        yield from _twins(view, [passage])


def _opaque(unread: Unread, secrets: Secrets) -> Iterator[Leak]:
    """Yield a leak if something that cannot be read may hold a deleted function."""
    if unread.size >= secrets.least > 0:
        yield Leak("opaque", unread.path, f"{unread.form}, {unread.size} bytes")


def _copies(
    view: View,
    passages: Iterable[Passage],
    share: float,
    kind: LeakKind,
    names: frozenset[str] = frozenset(),
) -> Iterator[Leak]:
    for passage in passages:
        if not _may_hold(view.data, passage):
            continue
        held = view.held(passage.shingles) / len(passage.shingles)
        if held < share:
            held = max(held, _told(view, passage, names, share))
        if held >= share:
            detail = f"{held:.0%} of {passage.owner}"
            yield Leak(kind, view.path, detail)


def _told(view: View, passage: Passage, names: frozenset[str], share: float) -> float:
    """Return what part of a passage a text has that is no code: its lines, or names in order.

    A text that has no vanished name lists what is public, such as the keys of a table.
    """
    if suffix(view.path) in _CODE:
        return 0.0
    held = lines_held(passage.lines, view.squeezed)
    if held >= share or not any(name.encode() in view.data for name in names):
        return held
    return words_held(passage.order, (view.strings if view.binary else view.data)[:LARGEST_TEXT])


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


def _listed(view: View, secrets: Secrets, *, inside: bool) -> Iterator[Leak]:
    """Yield a leak if a text lists ids of hidden tests; in the workspace, also some of their names.

    Other projects have tests of the same names: there only ids with the file's name count.
    """
    files = {name.encode() for name in secrets.test_files}
    ids = {found[2] for found in _ID.finditer(view.data) if found[1] in files}
    names = {name.encode() for name in secrets.test_names}
    told = names & ids
    if inside and not told:
        words = names.intersection(_WORD.findall(view.data))
        told = words if len(words) >= max(2, min(_LISTED, len(names))) else set()
    if told:
        detail = f"lists {len(told)} hidden tests, e.g. {min(told).decode('utf-8', 'replace')}"
        yield Leak("hidden_test", view.path, detail)


def _is_disassembled(text: bytes) -> bool:
    """Return whether a text shows bytecode, which has the names of its code in another order."""
    if b"LOAD_" not in text:
        return False
    return sum(1 for _ in islice(_OPERATION.finditer(text), _FEW)) == _FEW


def _needed(count: int, *, inside: bool) -> int:
    """Return how many of so many names must be close together to tell something.

    The environment's binaries are large and full of words: there more of them are asked for.
    """
    return max(2, ceil(count / 3)) if inside else max(4, ceil(count * 0.6))


def _names(view: View, secrets: Secrets, *, inside: bool) -> Iterator[Leak]:
    """Yield a leak if binary data holds a good part of the vanished names close together."""
    needed = _needed(len(secrets.names), inside=inside)
    if len(secrets.names) < needed:
        return
    linked = inside and view.data.startswith(_PROGRAMS)
    held = _densest(view.strings, secrets.names, linked=linked)
    if len(held) >= needed:
        told = ", ".join(sorted(held)[:3])
        yield Leak("names", view.path, f"{len(held)} vanished names, e.g. {told}")


def _densest(text: bytes, names: frozenset[str], *, linked: bool) -> frozenset[str]:
    """Return the largest set of names that lie within one window of a text.

    Compilers write the names of a program one after the other, with nothing between them.
    """
    present = [name for name in names if name.encode() in text]
    if len(present) < 2:
        return frozenset(present)
    known = [re.escape(n.encode()) for n in _longest_first(present)]
    apart = [n if linked and len(n) >= _LONG else rb"(?<!\w)" + n for n in known]
    pattern = re.compile(b"(" + b"|".join(apart) + b")")
    blocks: dict[int, set[str]] = {}
    for found in pattern.finditer(text):
        blocks.setdefault(found.start() // _BLOCK, set()).add(found.group(1).decode())
    empty: set[str] = set()
    windows = [held | blocks.get(number + 1, empty) for number, held in blocks.items()]
    best: set[str] = max([empty, *windows], key=len)
    return frozenset(best)


def _longest_first(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name), name))

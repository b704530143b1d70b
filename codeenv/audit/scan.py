"""Holds the views of one file against the secret set; cheap tests first."""

from collections.abc import Iterable, Iterator

from codeenv.audit.decode import View, strings, views
from codeenv.audit.fingerprint import functions_of, shingles
from codeenv.audit.models import Leak
from codeenv.audit.secrets import LEAST_SHINGLES, Passage, Secrets
from codeenv.tree import suffix

COPIED = 0.6
"""Share of a passage's shingles that makes a file a copy of it."""
COPIED_IN_SOURCE = 0.9
"""The same for the project's own source, where similar code is no leak but a property."""
_PROBES = 3
_LARGEST = 4 * 1024**2
_SOURCES = frozenset({".py", ".pyi", ".pyx", ".txt", ".rst", ".md", ""})


def scan_file(
    path: str, data: bytes, secrets: Secrets, *, source: bool = False, test: bool = False
) -> Iterator[Leak]:
    """Yield the leaks in a file.

    Args:
        path: As told in the leak.
        data: Its bytes.
        secrets: What is looked for.
        source: Whether it is the project's own source, where similar code may stay.
        test: Whether it is a test file, where similar tests may stay.
    """
    for view in views(path, data):
        if view.binary:
            yield from _names(view, secrets)
            continue
        share = COPIED_IN_SOURCE if source else COPIED
        yield from _copies(view, secrets.code, share, "copy")
        if not test:
            yield from _copies(view, secrets.tests, COPIED_IN_SOURCE, "hidden_test")
        yield from _twins(view, secrets.code)


def mentions(path: str, data: bytes, secrets: Secrets) -> tuple[str, ...]:
    """Return the vanished, untold names that a text speaks of, sorted."""
    raw = {name: name.encode() for name in secrets.names}
    return tuple(sorted(name for name, word in raw.items() if word in data and suffix(path)))


def _copies(view: View, passages: Iterable[Passage], share: float, kind: str) -> Iterator[Leak]:
    likely = [p for p in passages if _may_hold(view.data, p)]
    if not likely:
        return
    found = shingles(view.data[:_LARGEST].decode("utf-8", "replace"))
    for passage in likely:
        held = len(passage.shingles & found) / len(passage.shingles)
        if held >= share:
            detail = f"{held:.0%} of {passage.owner}"
            yield Leak("copy" if kind == "copy" else "hidden_test", view.path, detail)


def _may_hold(data: bytes, passage: Passage) -> bool:
    if len(passage.shingles) < LEAST_SHINGLES:
        return False
    probes = passage.words[:_PROBES]
    held = sum(word.encode() in data for word in probes)
    return held >= len(probes) - 1


def _twins(view: View, passages: Iterable[Passage]) -> Iterator[Leak]:
    if suffix(view.path) not in _SOURCES:
        return
    shaped = [p for p in passages if p.shape and _has_anchors(view.data, p)]
    if not shaped:
        return
    shapes = {function.shape: function.name for function in functions_of(view.data[:_LARGEST])}
    for passage in shaped:
        if passage.shape in shapes:
            detail = f"{shapes[passage.shape]} has the shape of {passage.owner}"
            yield Leak("twin", view.path, detail)


def _has_anchors(data: bytes, passage: Passage) -> bool:
    return all(anchor.encode() in data for anchor in passage.anchors)


def _names(view: View, secrets: Secrets) -> Iterator[Leak]:
    """Yield a leak if binary data speaks of a good part of what vanished."""
    needed = max(2, (len(secrets.names) + 2) // 3)
    if len(secrets.names) < needed:
        return
    text = strings(view.data)
    held = sorted(name for name in secrets.names if name.encode() in text)
    if len(held) >= needed:
        yield Leak("names", view.path, f"{len(held)} vanished names, e.g. {', '.join(held[:3])}")

"""A proposed diff held against the pristine tree: which bytes of which files it replaces."""

from collections.abc import Iterator, Sequence

from codeenv.errors import UsageError
from codeenv.generate.unified import NOWHERE, DiffError, FilePatch, Hunk, parse_diff
from codeenv.languages.base import Change
from codeenv.tree import Tree

ONLY_DELETES = "a proposal may only delete"
_PRISTINE = "make the diff against the untouched files; their lines must be met exactly"
_ONLY = "leave every other file, name and mode as it is"
_SHOWN = 60


def read_changes(name: str, data: bytes, tree: Tree) -> tuple[Change, ...]:
    """Return what a diff changes, in file order; names may have one folder too many (``a/``).

    Args:
        name: Of the diff, for messages.
        data: The diff.
        tree: The pristine tree.

    Raises:
        UsageError: If it is no diff, or does not fit the tree; the message names file and hunk.
    """
    try:
        files = parse_diff(data)
    except DiffError as error:
        raise UsageError(
            f"{name}: {error}", hint="give a unified diff: git diff, diff -u"
        ) from None
    seen: set[str] = set()
    changes: list[Change] = []
    for path, file, strip in _targets(name, files, tree):
        _demand_plain(name, file, path, strip, tree)
        if path in seen:
            raise UsageError(f"{name} changes {path} twice", hint="give one diff of all changes")
        seen.add(path)
        changes += _changes(name, path, file, tree[path].data)
    return tuple(sorted(changes, key=lambda c: (c.path, c.start)))


def _targets(
    name: str, files: Sequence[FilePatch], tree: Tree
) -> Iterator[tuple[str, FilePatch, int]]:
    """Yield each file of the tree that is meant, what happens to it, and the folders taken off.

    What a plain diff only names may be a folder, and is passed over where the tree does not have
    it: caches, most likely.
    """
    whole = [file for file in files if not file.bare]
    for file in whole:
        _demand_no_notes(name, file)
    strip = _strip(name, whole, tree) if whole else 1
    for file in whole:
        yield _target(file, strip, tree), file, strip
    for file in (file for file in files if file.bare):
        old = _path(file.old, strip)
        for path in (p for p in tree if p == old or p.startswith(f"{old}/")):
            _demand_no_notes(name, file)
            yield path, file, strip


def _demand_no_notes(name: str, file: FilePatch) -> None:
    if file.notes:
        raise UsageError(f"{name} {file.notes[0]}: {ONLY_DELETES}", hint=_ONLY)


def _strip(name: str, files: Sequence[FilePatch], tree: Tree) -> int:
    """Return how many folders to take off the names, so that all are files of the tree."""
    orders = (1, 0) if all(file.old.startswith("a/") for file in files) else (0, 1)
    for strip in orders:
        if all(_target(file, strip, tree) for file in files):
            return strip
    missing = next(_path(f.old, orders[0]) for f in files if not _target(f, orders[0], tree))
    raise UsageError(f"{name}: there is no file {missing} in the repository", hint=_PRISTINE)


def _target(file: FilePatch, strip: int, tree: Tree) -> str:
    """Return which file of the tree is meant, "" if none (``x.py.orig`` is no file of it)."""
    names = (_path(file.old, strip), _path(file.new, strip))
    return next((name for name in names if name in tree), "")


def _path(name: str, strip: int) -> str:
    return name.partition("/")[2] if strip and name != NOWHERE else name


def _demand_plain(name: str, file: FilePatch, path: str, strip: int, tree: Tree) -> None:
    if not file.deleted and path != _path(file.new, strip) in tree:
        raise UsageError(f"{name} renames {path}: {ONLY_DELETES}", hint=_ONLY)
    if tree[path].mode == "link":
        raise UsageError(f"{name}: {path} is a link", hint="change the file it stands for")


def _changes(name: str, path: str, file: FilePatch, data: bytes) -> list[Change]:
    lines = _lines(data)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    found: list[Change] = []
    done = 0
    for number, hunk in enumerate(file.hunks, start=1):
        where = f"{name}: hunk {number} of {path}"
        if hunk.start < done:
            raise UsageError(f"{where} begins before the one above it ends", hint=_PRISTINE)
        done = _demand_fit(where, hunk, lines)
        for first, last, new in _runs(hunk):
            _join(found, Change(path, offsets[first], offsets[last], new))
    if not file.deleted:
        return found
    if file.hunks and [(c.start, c.end, c.new) for c in found] != [(0, len(data), b"")]:
        raise UsageError(f"{name} deletes {path}, but leaves lines of it", hint=_PRISTINE)
    return [Change(path, 0, len(data), None)]


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds only, as diff does."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _demand_fit(where: str, hunk: Hunk, lines: Sequence[bytes]) -> int:
    """Return the line after a hunk, if what it expects is there."""
    at = hunk.start
    for tag, content in hunk.lines:
        if tag == b"+":
            continue
        found = lines[at] if at < len(lines) else b""
        if found != content:
            told = f"line {at + 1} is {_shown(found)}, not {_shown(content)}"
            raise UsageError(f"{where} does not fit: {told}", hint=_PRISTINE)
        at += 1
    return at


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace").rstrip("\n")
    return repr(text[:_SHOWN]) if line else "past the end"


def _runs(hunk: Hunk) -> Iterator[tuple[int, int, bytes]]:
    """Yield first line, line after the last, and new bytes of each run of changed lines."""
    at = first = hunk.start
    new, changed = b"", False
    for tag, content in (*hunk.lines, (b" ", b"")):
        if tag == b" ":
            if changed:
                yield first, at, new
            at, new, changed = at + 1, b"", False
            first = at
        else:
            at, new, changed = at + (tag == b"-"), new + content * (tag == b"+"), True


def _join(found: list[Change], change: Change) -> None:
    """Add a change; one that begins where the last ended is the same change."""
    last = found[-1] if found else None
    if last is not None and last.end == change.start:
        both = (last.new or b"") + (change.new or b"")
        found[-1] = Change(change.path, last.start, change.end, both)
    else:
        found.append(change)

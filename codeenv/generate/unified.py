"""Unified diffs, git's and plain ones, as values: parsed strictly, and nothing is run.

Owns: the format.  Does not own: which repository a diff fits (``patching``).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

NOWHERE = "/dev/null"
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_EPOCH = re.compile(rb"\t(1970-01-01|1969-12-31) ")
_ONLY = re.compile(rb"Only in (.+): (.+)")
_BINARY = re.compile(rb"Binary files (.+) and (.+) differ")
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f"}
_NOTES = {
    b"old mode ": "changes the mode of {old}",
    b"new file mode ": "adds {new}",
    b"rename from ": "renames {rest}",
    b"copy from ": "copies {rest}",
    b"GIT binary patch": "changes the binary file {old}",
    b"Binary files ": "changes the binary file {old}",
}


class DiffError(ValueError):
    """Raised when a text is not a unified diff; the message says which line, and why."""


@dataclass(frozen=True)
class Hunk:
    """One hunk.

    Attributes:
        start: Old lines before it.
        lines: Tag (space, ``-`` or ``+``) and content of each line, its newline included.
    """

    start: int
    lines: tuple[tuple[bytes, bytes], ...]


@dataclass
class FilePatch:
    """What a diff does to one file.

    Attributes:
        old: Its name as written, ``/dev/null`` if it is new.
        new: Its name afterwards, ``/dev/null`` if it is deleted.
        hunks: In file order.
        deleted: Whether the file goes.
        notes: What else the diff says it does, e.g. ``renames x.py``.
        bare: Whether a plain diff only names it: what one side has, and binary files.
    """

    old: str
    new: str
    hunks: list[Hunk] = field(default_factory=list)
    deleted: bool = False
    notes: list[str] = field(default_factory=list)
    bare: bool = False
    _named: bool = False
    _first: tuple[bool, bool] = False, False
    """Whether the old side, and the new one, is of the first second: it may not be there."""


def parse_diff(data: bytes) -> tuple[FilePatch, ...]:
    """Return what a diff says of each file; text around it, as of a mail, is passed over.

    Raises:
        DiffError: If there is no diff, or it is malformed.
    """
    lines = [line + b"\n" for line in data.removesuffix(b"\n").split(b"\n")]
    files: list[FilePatch] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(b"diff --git "):
            files.append(_git_names(line))
        elif line.startswith(b"--- ") and lines[at + 1 : at + 2] and _is_new(lines[at + 1]):
            at += 1
            _name(files, line, lines[at])
        elif line.startswith(b"@@"):
            hunk, at = _hunk(lines, at, files)
            _add_hunk(files[-1], hunk)
            continue
        elif file := _bare(line, files):
            files.append(file)
        elif files and not files[-1].hunks:
            _note(files[-1], line)
        at += 1
    if not files:
        raise DiffError("it holds no unified diff")
    return tuple(files)


def _is_new(line: bytes) -> bool:
    return line.startswith(b"+++ ")


def _git_names(line: bytes) -> FilePatch:
    """Read ``diff --git a/x b/x``: both names are the same but for their first folders."""
    rest = line[len(b"diff --git ") :].rstrip(b"\r\n")
    quoted = _QUOTED.findall(rest)
    if len(quoted) == 2:
        return FilePatch(_text(_plain(quoted[0])), _text(_plain(quoted[1])))
    half = len(rest) // 2
    return FilePatch(_text(rest[:half]), _text(rest[half + 1 :]))


def _name(files: list[FilePatch], old: bytes, new: bytes) -> None:
    """Read ``---`` and ``+++``; in a section of git's they say more than its first line."""
    names = _file_name(old), _file_name(new)
    if not files or files[-1].hunks or files[-1]._named:
        files.append(FilePatch(*names))
    file = files[-1]
    file.old, file.new, file._named = *names, True
    file._first = _EPOCH.search(old) is not None, _EPOCH.search(new) is not None
    file.deleted = file.deleted or names[1] == NOWHERE
    if names[0] == NOWHERE:
        file.notes.append(f"adds {names[1]}")


def _add_hunk(file: FilePatch, hunk: Hunk) -> None:
    """Add a hunk; a side without lines and of the first second is a file that is not there."""
    tags = {tag for tag, _ in hunk.lines}
    file.hunks.append(hunk)
    file.deleted = file.deleted or (file._first[1] and tags == {b"-"})
    if file._first[0] and tags == {b"+"} and len(file.hunks) == 1:
        file.notes.append(f"adds {file.new}")


def _bare(line: bytes, files: Sequence[FilePatch]) -> FilePatch | None:
    """Read what a plain diff says of a file in one line, outside a section of git's."""
    told = line.rstrip(b"\r\n")
    if only := _ONLY.fullmatch(told):
        old = _text(b"/".join(only.groups()))
        return FilePatch(old, NOWHERE, deleted=True, bare=True, _named=True)
    binary = _BINARY.fullmatch(told)
    if binary and not (files and not files[-1].hunks and not files[-1].bare):
        old, new = map(_text, binary.groups())
        note = _NOTES[b"Binary files "].format(old=old)
        return FilePatch(old, new, notes=[note], bare=True, _named=True)
    return None


def _file_name(line: bytes) -> str:
    rest = line[4:].rstrip(b"\r\n")
    quoted = _QUOTED.match(rest)
    return _text(_plain(quoted.group(1)) if quoted else rest.partition(b"\t")[0])


def _plain(quoted: bytes) -> bytes:
    """Undo git's quoting of a name."""

    def undo(match: re.Match[bytes]) -> bytes:
        told = match.group(1)
        return bytes([int(told, 8) & 255]) if len(told) == 3 else _LETTERS.get(told, told)

    return _ESCAPE.sub(undo, quoted)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _note(file: FilePatch, line: bytes) -> None:
    if line.startswith(b"deleted file mode "):
        file.deleted = True
    for start, told in _NOTES.items():
        if line.startswith(start):
            rest = _text(line[len(start) :].rstrip(b"\r\n"))
            file.notes.append(told.format(old=file.old, new=file.new, rest=rest))


def _hunk(lines: Sequence[bytes], at: int, files: Sequence[FilePatch]) -> tuple[Hunk, int]:
    """Read a hunk, and return it with the number of the line after it."""
    match = _HUNK.match(lines[at])
    if match is None:
        raise DiffError(f"line {at + 1} is not the head of a hunk")
    if not files:
        raise DiffError(f"line {at + 1}: a hunk without the name of its file")
    where = f"hunk {len(files[-1].hunks) + 1} of {files[-1].old}"
    start, old, new = (int(match.group(n) or 1) for n in (1, 2, 4))
    read: list[tuple[bytes, bytes]] = []
    at += 1
    first = start - (old > 0)
    if first < 0:
        raise DiffError(f"{where} begins before the first line")
    while old > 0 or new > 0 or (at < len(lines) and lines[at].startswith(b"\\")):
        line = lines[at] if at < len(lines) else b""
        tag, content = (line[:1], line[1:]) if line not in (b"\n", b"\r\n") else (b" ", line)
        if tag == b"\\" and read:
            read[-1] = read[-1][0], read[-1][1].removesuffix(b"\n")
        elif tag not in (b" ", b"-", b"+"):
            raise DiffError(f"{where} ends early, at line {at + 1}")
        else:
            old, new = old - (tag != b"+"), new - (tag != b"-")
            read.append((tag, content))
        at += 1
    if old or new or (at < len(lines) and _goes_on(lines[at])):
        raise DiffError(f"{where} has not as many lines as it says, at line {at + 1}")
    return Hunk(first, tuple(read)), at


def _goes_on(line: bytes) -> bool:
    return line[:1] in (b" ", b"-", b"+") and not line.startswith((b"--- ", b"-- "))

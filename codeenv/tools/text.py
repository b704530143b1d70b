"""Files and output as text that an agent reads, and back to the same bytes."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from difflib import SequenceMatcher
from posixpath import normpath

from codeenv.tools.base import ToolError

BOM = b"\xef\xbb\xbf"
LINE_WIDTH = 2000
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_DIFF_CELLS = 4_000_000


@dataclass(frozen=True)
class FileText:
    """A text file as the agent sees it (line feeds, no byte order mark) over its raw form."""

    raw: str
    """All of it but the byte order mark; bytes that are not UTF-8 as surrogate escapes."""
    bom: bool
    newline: str
    """The line ending most lines have."""

    @classmethod
    def of(cls, data: bytes) -> "FileText":
        """Decode a file."""
        bom = data.startswith(BOM)
        raw = data.removeprefix(BOM).decode("utf-8", "surrogateescape")
        crlf = raw.count("\r\n")
        return cls(raw, bom, "\r\n" if 2 * crlf > raw.count("\n") else "\n")

    @property
    def text(self) -> str:
        """The content with line feeds only."""
        return self.raw.replace("\r\n", "\n")

    def encode(self, raw: str) -> bytes:
        """Return the bytes of new raw content of this file."""
        return (BOM if self.bom else b"") + raw.encode("utf-8", "surrogateescape")

    def own(self, text: str) -> str:
        """Return text with this file's line ending."""
        return text.replace("\n", self.newline)

    def replace(self, old: str, new: str, *, count: int) -> bytes:
        """Return the file's bytes with ``old`` replaced; all other bytes stay as they are."""
        text, feeds, parts, done = self.text, self._feeds(), [], 0
        for start in find_all(text, old)[:count]:
            first, last = (at + bisect_left(feeds, at) for at in (start, start + len(old)))
            parts += [self.raw[done:first], self.own(new)]
            done = last
        return self.encode("".join([*parts, self.raw[done:]]))

    def _feeds(self) -> list[int]:
        """Return where in ``text`` the line feeds are that have a carriage return in ``raw``."""
        found: list[int] = []
        at = self.raw.find("\r\n")
        while at >= 0:
            found.append(at - len(found))
            at = self.raw.find("\r\n", at + 2)
        return found


def find_all(text: str, part: str) -> list[int]:
    """Return where ``part`` occurs, without overlaps."""
    found, at = [], text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + len(part))
    return found


def split_lines(text: str) -> list[str]:
    """Split at line feeds only; a final one does not open another line."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def numbered(lines: list[str], first: int) -> str:
    """Return lines with their 1-based numbers; very long ones are cut."""
    return "\n".join(f"{first + i:6d}\t{shorten(line)}" for i, line in enumerate(lines))


def shorten(line: str, width: int = LINE_WIDTH) -> str:
    """Cut a line, saying how much is missing."""
    return line if len(line) <= width else f"{line[:width]}…[+{len(line) - width} chars]"


def is_binary(data: bytes) -> bool:
    """Return whether the head of a file has a NUL byte."""
    return b"\0" in data[:8192]


def readable(text: str) -> str:
    """Return text without terminal escapes and without what UTF-8 cannot carry."""
    return _ANSI.sub("", text).encode("utf-8", "replace").decode()


def printable(text: str) -> str:
    """Return a file's text as UTF-8 can carry it: escaped bytes become replacement marks."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def line_changes(old: str, new: str) -> tuple[int, int]:
    """Return how many lines are added and removed between two texts."""
    before, after = split_lines(old), split_lines(new)
    same = _common(before, after)
    before, after = before[same:], after[same:]
    same = _common(before[::-1], after[::-1])
    before, after = before[: len(before) - same], after[: len(after) - same]
    if len(before) * len(after) > _DIFF_CELLS:
        return len(after), len(before)
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    same = sum(block.size for block in blocks)
    return len(after) - same, len(before) - same


def _common(first: list[str], second: list[str]) -> int:
    """Return how many lines two lists begin with in common."""
    pairs = zip(first, second, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def clean_path(path: str, workspace: str) -> str:
    """Return a path relative to the workspace where it lies in it, else absolute and normal.

    Raises:
        ToolError: If the path is empty, impossible, or leaves the repository by ``..``.
    """
    if not path or "\0" in path:
        raise ToolError("bad_arguments", "path is empty or has a NUL character")
    unicode_only("path", path)
    normal = normpath(path)
    if normal == workspace or normal.startswith(workspace.rstrip("/") + "/"):
        normal = normal[len(workspace.rstrip("/")) :].lstrip("/") or "."
    if normal == ".." or normal.startswith("../"):
        raise ToolError("outside_repo", f"{path} is outside the repository")
    return normal


def unicode_only(name: str, text: str) -> None:
    """Raise ToolError unless UTF-8 can carry the text."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolError(
            "bad_arguments", f"{name} has a character that is not valid Unicode at {error.start}"
        ) from error

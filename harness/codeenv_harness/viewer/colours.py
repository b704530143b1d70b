"""Colours of code: names beside pieces of text.

A lexer may look at all the rest of a text at each of its characters, and what runs hold is
anybody's text.  So it gets a few lines at a time, and of a long text or line nothing.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TypeAlias

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

CHUNK = 1000
"""Characters that a lexer sees at once; a line of more has no colours."""
COLOURED = 64 * 1024
"""Characters of a text that has colours."""
Span: TypeAlias = tuple[str, str]
"""Class of its colour, or "", and text."""
_LEXERS = {
    ".py": "python", ".pyi": "python", ".toml": "toml", ".json": "json", ".ini": "ini",
    ".cfg": "ini", ".sh": "bash",
}  # fmt: skip
_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c"),
    (String, "s"),
    (Number, "n"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Builtin, "b"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Decorator, "d"),
)
_QUOTES = ('"""', "'''")


def coloured(lines: Sequence[str], path: str) -> list[list[Span]]:
    """Return the pieces of each line, with the colours that the name of its file asks for."""
    name = _LEXERS.get(PurePosixPath(path).suffix.lower(), "")
    if not lines or not name or sum(len(line) + 1 for line in lines) > COLOURED:
        return [[("", line)] if line else [] for line in lines]
    lexer = get_lexer_by_name(name)
    found: list[list[Span]] = []
    opened = ""
    for chunk in chunks(lines):
        if len(chunk[0]) > CHUNK:
            found.append([("", chunk[0])])
        else:
            spans, opened = _spans(lexer, chunk, opened)
            found += spans
    return found


def chunks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield lines in groups of at most ``CHUNK`` characters; a longer line is alone."""
    group: list[str] = []
    size = 0
    for line in lines:
        if group and size + len(line) + 1 > CHUNK:
            yield group
            group, size = [], 0
        group.append(line)
        size += len(line) + 1
    if group:
        yield group


def _spans(lexer: Lexer, lines: Sequence[str], opened: str) -> tuple[list[list[Span]], str]:
    """Return the pieces of some lines, and the quotes of a string that goes on after them.

    Args:
        lexer: Colours them.
        lines: Some lines.
        opened: The quotes of a string that has begun before them, or "".
    """
    found: list[list[Span]] = [[]]
    text, left = opened + "\n".join(lines), len(opened)  # the quotes before it are not of the text
    opened = ""
    for _, kind, piece in lexer.get_tokens_unprocessed(text):
        if kind in String and piece in _QUOTES and opened in ("", piece):
            opened = "" if opened else piece
        shown, left = piece[left:], max(0, left - len(piece))
        for place, part in enumerate(shown.split("\n")):
            if place:
                found.append([])
            if part:
                found[-1].append((_class(kind), part))
    return found, opened


def _class(kind: _TokenType) -> str:
    return next((name for token, name in _CLASSES if kind in token), "")

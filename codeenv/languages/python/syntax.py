"""Parse Python sources and convert between their characters and their original bytes.

Owns: decoding by PEP 263, line and column arithmetic.  Does not own: what the code means.
"""

import ast
import io
import re
import threading
import tokenize
import warnings
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self
from weakref import WeakValueDictionary

from codeenv.languages.python.remembering import TREES, remember

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef
_NEWLINE = re.compile(r"\r\n|\r|\n")
_UTF8_BOM = b"\xef\xbb\xbf"
_ONE_AT_A_TIME = threading.RLock()


class NotPython(ValueError):
    """Raised when bytes are not a Python source that can be edited byte for byte."""


@dataclass(frozen=True, eq=False)
class Source:
    """A parsed source file; offsets are characters of ``text`` until ``byte`` converts them.

    Attributes:
        data: The original bytes.
        text: The decoded text, newlines as they are in the file, without a byte order mark.
        encoding: What decodes ``data``.
        module: The syntax tree.
        starts: Offset of each line's first character.
    """

    data: bytes
    text: str
    encoding: str
    module: ast.Module
    starts: tuple[int, ...]
    _bom: int = field(default=0)

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Decode and parse.

        Raises:
            NotPython: If the bytes cannot be decoded, parsed, or encoded back to themselves.
        """
        bom = len(_UTF8_BOM) if data.startswith(_UTF8_BOM) else 0
        text, encoding = _decode(data)
        module = _parse(text)
        starts = (0, *(m.end() for m in _NEWLINE.finditer(text)))
        lines = zip(starts, (*starts[1:], len(text)), strict=True)
        if b"".join(text[a:b].encode(encoding) for a, b in lines) != data[bom:]:
            raise NotPython(f"the encoding {encoding} does not give the same bytes back")
        return cls(data, text, encoding, module, starts, bom)

    @property
    def lines(self) -> int:
        """How many lines there are (an empty last one not counted)."""
        return len(self.starts) - (self.starts[-1] == len(self.text))

    def offset(self, line: int, column: int) -> int:
        """Convert a node's line (1-based) and UTF-8 column to a character offset."""
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        content = self.text[start:end]
        if content.isascii():
            return start + column
        return start + len(content.encode()[:column].decode())

    def span(self, node: ast.stmt | ast.expr | ast.keyword | ast.arg) -> tuple[int, int]:
        """Return where a node is."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.offset(node.lineno, node.col_offset), self.offset(end_line, end_column)

    def line_of(self, offset: int) -> int:
        """Return the line (1-based) of a character."""
        return bisect_right(self.starts, offset)

    def place(self, offset: int) -> tuple[int, int]:
        """Convert a character offset to line and UTF-8 column."""
        line = self.line_of(offset)
        return line, len(self.text[self.line_start(line) : offset].encode())

    def line_start(self, line: int) -> int:
        """Return the first character of a line; past the last line: the end."""
        return self.starts[line - 1] if line <= len(self.starts) else len(self.text)

    def line(self, line: int) -> str:
        """Return a line's text without its newline."""
        return self.text[self.line_start(line) : self.line_start(line + 1)].rstrip("\r\n")

    def is_blank(self, line: int) -> bool:
        """Return whether a line holds nothing but white space (form feeds included)."""
        return not self.line(line).strip()

    def indent(self, line: int) -> str:
        """Return the white space a line starts with."""
        content = self.line(line)
        return content[: len(content) - len(content.lstrip(" \t\f"))]

    def newline(self) -> str:
        """Return the newline the file uses first."""
        found = _NEWLINE.search(self.text)
        return found.group() if found else "\n"

    def byte(self, offset: int) -> int:
        """Convert a character offset to an offset into ``data``."""
        if self.text.isascii():
            return self._bom + offset
        line = self.line_of(offset)
        return self._byte_starts[line - 1] + len(
            self.text[self.starts[line - 1] : offset].encode(self.encoding)
        )

    @property
    def _byte_starts(self) -> tuple[int, ...]:
        return _byte_starts(self)


@lru_cache(maxsize=64)
def _byte_starts(source: Source) -> tuple[int, ...]:
    total, found = source._bom, []
    for begin, end in zip(source.starts, (*source.starts[1:], len(source.text)), strict=True):
        found.append(total)
        total += len(source.text[begin:end].encode(source.encoding))
    return tuple(found)


def parse_source(data: bytes) -> Source | None:
    """Return the parsed source, or None if the bytes are not editable Python.

    As long as anyone holds it, the same bytes give the same object, in every thread: syntax nodes
    are told apart by identity.
    """
    with _ONE_AT_A_TIME:
        return _recent(data)


@remember(TREES)
def _recent(data: bytes) -> Source | None:
    try:
        source = _alive.get(data) or Source.parse(data)
    except NotPython:
        return None
    _alive[data] = source
    return source


_alive: "WeakValueDictionary[bytes, Source]" = WeakValueDictionary()


def parse_module(data: bytes) -> ast.Module | None:
    """Return the syntax tree, or None if the bytes are not Python."""
    source = parse_source(data)
    return source.module if source else None


def parse_quietly(text: str | bytes) -> ast.Module:
    """Call ``ast.parse`` without its warnings, one thread at a time.

    CPython up to 3.11 counts the depth of all threads' trees in one place and raises SystemError
    when two are made at once; warning filters belong to all threads, too.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: If the text is not Python.
    """
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def compiles(data: bytes) -> bool:
    """Return whether the bytes compile; nothing is executed."""
    try:
        with _ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _decode(data: bytes) -> tuple[str, str]:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        codec = "utf-8" if encoding == "utf-8-sig" else encoding
        return data.removeprefix(_UTF8_BOM).decode(codec), codec
    except (SyntaxError, LookupError, UnicodeError, ValueError) as error:
        raise NotPython(f"not decodable: {error}") from error


def _parse(text: str) -> ast.Module:
    try:
        return parse_quietly(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPython(f"not Python: {error}") from error

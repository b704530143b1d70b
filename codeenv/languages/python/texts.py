"""Texts and numbers that code holds: what a reader could not guess."""

import ast
import math
import re
from collections.abc import Iterator

from codeenv.languages.python.remembering import NAMES, remember
from codeenv.languages.python.syntax import parse_module

_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[-+ #0-9.]*[a-zA-Z]|\{[^{}]*\}")
_TELLING = re.compile(r"[^\W\d_]{3,}")
_LONGEST_NUMBER = 1024  # bits


def literals_in(root: ast.AST) -> Iterator[str | complex]:
    """Yield texts and numbers below a node in the order of the code, docstrings excepted.

    Bytes are text as far as they are ASCII; a number behind a minus sign is negative.
    """
    match root:
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() | complex() as number)):
            yield from _told(-number)
        case ast.Constant(value):
            yield from _told(value)
        case _:
            for child in ast.iter_child_nodes(root):
                if not _is_remark(child):
                    yield from literals_in(child)


def texts_in(root: ast.AST) -> Iterator[str]:
    """Yield the texts of ``literals_in``."""
    return (value for value in literals_in(root) if isinstance(value, str))


def numbers_in(root: ast.AST) -> Iterator[complex]:
    """Yield the numbers of ``literals_in``."""
    return (value for value in literals_in(root) if not isinstance(value, str))


def pieces_in(root: ast.AST) -> Iterator[str]:
    """Yield what stays the same of the texts below a node: what is between placeholders."""
    for text in texts_in(root):
        for piece in _PLACEHOLDER.split(text):
            if _TELLING.search(piece):
                yield piece.strip()


@remember(NAMES)
def literals_of(data: bytes) -> frozenset[str | complex] | None:
    """Return the literals of a source; None if it cannot be parsed."""
    module = parse_module(data)
    return frozenset(literals_in(module)) if module else None


def _is_remark(node: ast.AST) -> bool:
    """Return whether a statement is a text alone: a docstring, also of a variable."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _told(value: object) -> Iterator[str | complex]:
    """Yield a constant if it is a text or a number that somebody could read."""
    match value:
        case bytes() if value.isascii():
            yield value.decode("ascii")
        case str() | complex():
            yield value
        case float() if math.isfinite(value):
            yield value
        case int() if not isinstance(value, bool) and value.bit_length() <= _LONGEST_NUMBER:
            yield value

"""Texts that code holds: what a reader could not guess."""

import ast
import re
from collections.abc import Iterator

from codeenv.languages.python.definitions import docstring_node
from codeenv.languages.python.syntax import Definition

_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[-+ #0-9.]*[a-zA-Z]|\{[^{}]*\}")
_TELLING = re.compile(r"[^\W\d_]{3,}")


def texts_in(root: ast.AST) -> Iterator[str]:
    """Yield the literals of text below a node in the order of the code, docstrings excepted.

    Bytes are text as far as they are ASCII.
    """
    docstring = docstring_node(root) if isinstance(root, Definition) else None
    for child in ast.iter_child_nodes(root):
        if child is not docstring:
            yield from texts_in(child)
    value = root.value if isinstance(root, ast.Constant) else None
    if isinstance(value, bytes) and value.isascii():
        value = value.decode("ascii")
    if isinstance(value, str):
        yield value


def pieces_in(root: ast.AST) -> Iterator[str]:
    """Yield what stays the same of the texts below a node: what is between placeholders."""
    for text in texts_in(root):
        for piece in _PLACEHOLDER.split(text):
            if _TELLING.search(piece):
                yield piece.strip()

"""Fingerprints of code: token shingles, and shapes that survive renaming and reformatting.

Works on Python sources; texts of other kinds are compared by their tokens only.
"""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeenv.languages.python.remembering import NAMES, remember
from codeenv.languages.python.syntax import parse_quietly

SHINGLE = 6
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\"[^\"\n]*\"|'[^'\n]*'|[^\w\s]")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"(^|\s)#.*$", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z_]\w{2,}")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NOT_WRITTEN = frozenset(
    {"ctx", "type_comment", "annotation", "returns", "kind", "type_params", "is_async"}
)
_COMMON = frozenset(
    {"self", "cls", "None", "True", "False", "return", "not", "and", "for", "else", "elif", "raise"}
    | {"with", "while", "yield", "from", "import", "try", "except", "lambda", "break", "continue"}
    | {"def", "class", "pass", "len", "str", "int", "isinstance", "async", "await"}
)


@dataclass(frozen=True)
class Function:
    """One function of a source file, docstring and signature aside.

    Attributes:
        name: As declared.
        first: First line of the body after the docstring.
        last: Last line.
        body: Source text of the body.
        shape: Hash of the syntax tree with local names replaced by their order of appearance.
        size: Nodes of the syntax tree.
        anchors: Attributes, keywords and names from outside: equal in every function of the same
            shape.
    """

    name: str
    first: int
    last: int
    body: str
    shape: str
    size: int
    anchors: frozenset[str]


@remember(NAMES)
def functions_of(data: bytes) -> tuple[Function, ...]:
    """Return the functions of a Python source, nested ones too; none if it does not parse."""
    try:
        tree = parse_quietly(data)
        nodes = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
        lines = _NEWLINE.split(data.decode("utf-8", "replace"))
        return tuple(found for node in nodes for found in _function(node, lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def shingles(text: str) -> frozenset[int]:
    """Return the runs of six tokens of a text, comments left out, as hashes of this process."""
    tokens = _TOKEN.findall(_COMMENT.sub("", text))
    runs = zip(*(tokens[i:] for i in range(SHINGLE)), strict=False)
    return frozenset(map(hash, runs))


def telling_words(text: str) -> tuple[str, ...]:
    """Return the distinct names of a text, the longest first; common ones left out."""
    words = set(_WORD.findall(_COMMENT.sub("", text))) - _COMMON
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


def words_in_order(text: str) -> tuple[bytes, ...]:
    """Return the names of a text as they follow each other; common ones left out."""
    words = _WORD.findall(uncommented(text))
    return tuple(word.encode("utf-8", "replace") for word in words if word not in _COMMON)


def uncommented(text: str) -> str:
    """Return a text without its comments."""
    return _COMMENT.sub("", text)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> Iterator[Function]:
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    if not body:
        return
    first, last = body[0].lineno, node.end_lineno or body[-1].lineno
    nodes = [inner for statement in body for inner in ast.walk(statement)]
    text = [lines[first - 1].encode()[body[0].col_offset :].decode("utf-8", "replace")]
    bound = _bound(node, nodes)
    yield Function(
        name=node.name,
        first=first,
        last=last,
        body="\n".join([*text, *lines[first:last]]),
        shape=_shape(body, bound),
        size=len(nodes),
        anchors=frozenset(_anchors(nodes)) - bound.keys(),
    )


def _bound(node: ast.FunctionDef | ast.AsyncFunctionDef, nodes: list[ast.AST]) -> dict[str, str]:
    """Return the names that a function binds, and a number for each by their first appearance."""
    bound: dict[str, str] = {}
    parameters = node.args
    declared = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs]
    for parameter in (*declared, parameters.vararg, parameters.kwarg):
        if parameter is not None:
            bound.setdefault(parameter.arg, f"v{len(bound)}")
    for inner in nodes:
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            bound.setdefault(inner.id, f"v{len(bound)}")
    return bound


def _shape(body: list[ast.stmt], bound: dict[str, str]) -> str:
    """Return the hash of a body with bound names replaced by their numbers."""
    text = " ".join(_written(statement, bound) for statement in body)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _written(node: object, bound: dict[str, str]) -> str:
    """Return a node as text: type, fields in order, bound names by number, no annotations.

    What is asynchronous is written like its plain twin: one is often generated from the other.
    """
    if isinstance(node, ast.Await):
        return _written(node.value, bound)
    if isinstance(node, ast.Name):
        return f"Name({bound.get(node.id, node.id)})"
    if isinstance(node, ast.arg):
        return f"arg({bound.get(node.arg, node.arg)})"
    if isinstance(node, ast.AST):
        fields = (
            _written(value, bound)
            for name, value in ast.iter_fields(node)
            if name not in _NOT_WRITTEN
        )
        return f"{type(node).__name__.removeprefix('Async')}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(_written(item, bound) for item in node)}]"
    return repr(node)


def _anchors(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Name):
            yield node.id

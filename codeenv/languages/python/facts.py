"""What tests speak of: names, expected messages and behaviours."""

import ast
import inspect
import re
from collections.abc import Iterator, Sequence

from codeenv.languages.base import TestFacts
from codeenv.languages.python.describe import names_below, summary_of
from codeenv.languages.python.node_ids import definitions_of, found_in
from codeenv.languages.python.syntax import Definition
from codeenv.tree import Tree

_RAISERS = frozenset(
    {"raises", "warns", "assertRaisesRegex", "assertWarnsRegex", "deprecated_call"}
)
_EXCEPTION_TEXTS = (
    re.compile(r"^(str|repr)\(\w+\.(value|exception)\b"),
    re.compile(r"^(str|repr)\(\w*(e|err|error|exc|exception|excinfo|warning)\)$"),
    re.compile(r"\.(value|exception)\.(args\[|\w*message\b|msg\b)"),
    re.compile(r"\.(message|args\[0\])$"),
)


def read_facts(tree: Tree, test_ids: Sequence[str]) -> TestFacts:
    """Return what the functions behind the ids speak of, in the order of the ids."""
    definitions = dict.fromkeys(d for d in definitions_of(tree, test_ids).values() if d)
    names: set[str] = set()
    messages: dict[str, None] = {}
    behaviours: dict[str, None] = {}
    for definition in definitions:
        for found in found_in(tree, definition.path):
            if found.name == definition.name:
                names |= set(names_below(found.node))
                messages |= dict.fromkeys(_messages(found.node))
                behaviours[_behaviour(found.node)] = None
    return TestFacts(frozenset(names), tuple(messages), tuple(behaviours))


def _behaviour(node: Definition) -> str:
    docstring = inspect.cleandoc(ast.get_docstring(node) or "")
    summary = summary_of(docstring).rstrip(".")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", node.name.removeprefix("test")).replace("_", " ")
    phrase = " ".join(words.split()).lower() or node.name
    return f"{phrase}: {summary}" if summary and summary.lower() != phrase else phrase


def _messages(root: ast.AST) -> Iterator[str]:
    for node in ast.walk(root):
        if isinstance(node, ast.Call):
            yield from _expected_by_call(node)
        elif isinstance(node, ast.Compare):
            yield from _compared_with_exception(node)


def _expected_by_call(node: ast.Call) -> Iterator[str]:
    name = ast.unparse(node.func).rpartition(".")[2]
    if name in _RAISERS:
        values = [k.value for k in node.keywords if k.arg == "match"]
        values += node.args[1:2] if name.endswith("Regex") else []
        yield from (text for value in values for text in _texts(value))


def _compared_with_exception(node: ast.Compare) -> Iterator[str]:
    """Yield texts compared with ``str(error)`` or with an argument of an exception."""
    sides = [node.left, *node.comparators]
    if any(_is_exception_text(side) for side in sides):
        yield from (text for side in sides for text in _texts(side))


def _is_exception_text(node: ast.expr) -> bool:
    return any(pattern.search(ast.unparse(node)) for pattern in _EXCEPTION_TEXTS)


def _texts(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.strip():
            yield inner.value

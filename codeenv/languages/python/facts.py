"""What tests speak of: names, expected messages, behaviours and examples."""

import ast
import builtins
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codeenv.languages.base import TestFacts
from codeenv.languages.python.bound import (
    Comprehension,
    Import,
    argument_names,
    comprehension_names,
    local_names,
)
from codeenv.languages.python.definitions import Found
from codeenv.languages.python.describe import names_below, summary_of
from codeenv.languages.python.examples import (
    Values,
    bound_once,
    examples_of,
    is_literal,
    root_of,
    some_of,
)
from codeenv.languages.python.node_ids import definitions_of, found_in
from codeenv.languages.python.references import references
from codeenv.languages.python.syntax import Function, parse_source
from codeenv.languages.python.texts import literals_in
from codeenv.tree import Tree

_RAISERS = frozenset(
    {"raises", "warns", "assertRaisesRegex", "assertWarnsRegex", "deprecated_call"}
)
_ASSERTIONS = frozenset({"assertEqual", "assertEquals", "assertIn", "assertRegex", "assertTrue"})
_SET_UP = re.compile(r"^(setUp|setup)")
_TEST = re.compile(r"^(test|Test)")
# An exception that a test expects is worth telling, even if it is Python's own.
_BUILTINS = frozenset(n for n in dir(builtins) if not n.endswith(("Error", "Warning", "Exit")))
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
    examples: list[tuple[str, ...]] = []
    spelt: dict[str | complex, None] = {}
    for definition in definitions:
        for found in found_in(tree, definition.path):
            if found.name == definition.name and isinstance(found.node, Function):
                file = _file(tree, definition.path)
                for node in _with_helpers(found, file):
                    names |= _names_of_others(node, file)
                    for part in (node, *_tables(node, file)):
                        spelt |= dict.fromkeys(literals_in(part))
                messages |= dict.fromkeys(_messages(found.node))
                behaviours[_behaviour(found)] = None
                examples.append(tuple(examples_of(found.node, file.literals, file.defined)))
    return TestFacts(
        names=frozenset(names),
        messages=tuple(messages),
        behaviours=tuple(behaviours),
        examples=some_of(examples),
        texts=tuple(value for value in spelt if isinstance(value, str)),
        numbers=tuple(value for value in spelt if not isinstance(value, str)),
    )


@dataclass(frozen=True)
class _File:
    """What the tests of one file have in common.

    Attributes:
        found: Its definitions.
        defined: Names it defines.
        modules: Names that stand for whole modules.
        standard: Names that stand for Python's own modules and what is in them.
        literals: Names that stand for a literal.
        tables: Names that stand for one value, and what is assigned to them.
    """

    found: tuple[Found, ...]
    defined: frozenset[str]
    modules: frozenset[str]
    standard: frozenset[str]
    literals: Values
    tables: Values


def _file(tree: Tree, path: str) -> _File:
    data = tree[path].data
    source, file = parse_source(data), references(data)
    imports = file.imports if file else ()
    tables = dict(bound_once(source.module.body)) if source else {}
    return _File(
        found_in(tree, path),
        frozenset(file.bound) if file else frozenset(),
        frozenset(i.bound for i in imports if not i.name),
        frozenset(i.bound for i in imports if _is_standard(i)),
        {name: value for name, value in tables.items() if is_literal(value)},
        tables,
    )


def _with_helpers(test: Found, file: _File) -> Iterator[Function]:
    """Yield a test and the functions of its file that it uses: helpers, fixtures, set-up."""
    queue, seen = [test], {test}
    while queue:
        found = queue.pop(0)
        if isinstance(found.node, Function):
            yield found.node
            words = frozenset(names_below(found.node))
            for other in file.found:
                inside = other.parent in (None, test.parent)
                used = other.node.name in words or _SET_UP.match(other.node.name)
                if inside and used and other not in seen and not _TEST.match(other.node.name):
                    seen.add(other)
                    queue.append(other)


def _tables(node: ast.AST, file: _File) -> Iterator[ast.expr]:
    """Yield what is assigned to the names of its file that a function reads, also by others."""
    queue, seen = [node], set[str]()
    while queue:
        for inner in ast.walk(queue.pop(0)):
            name = inner.id if isinstance(inner, ast.Name) else ""
            if name in file.tables and name not in seen:
                seen.add(name)
                yield file.tables[name]
                queue.append(file.tables[name])


def _names_of_others(node: Function, file: _File) -> frozenset[str]:
    """Return the names a function uses that neither itself nor Python defines."""
    scopes = (_bound_in(inner) for inner in ast.walk(node))
    own = file.modules.union(file.standard, _BUILTINS, *scopes)
    names: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            names |= {inner.id} - own
        elif isinstance(inner, ast.Attribute):
            names |= {inner.attr} if root_of(inner) not in file.standard else set()
        elif isinstance(inner, ast.keyword) and inner.arg:
            names.add(inner.arg)
        elif isinstance(inner, ast.ImportFrom):
            names |= {alias.name for alias in inner.names}
    return frozenset(names)


def _is_standard(imported: Import) -> bool:
    top = imported.module.partition(".")[0]
    return not imported.level and top in sys.stdlib_module_names


def _bound_in(node: ast.AST) -> frozenset[str]:
    """Return the names that a scope (a function, a lambda, a comprehension) binds."""
    if isinstance(node, Function):
        return local_names(node)
    if isinstance(node, ast.Lambda):
        return argument_names(node.args)
    return comprehension_names(node) if isinstance(node, Comprehension) else frozenset()


def _behaviour(found: Found) -> str:
    """Say in a phrase what a test is about; a single word is told with the name of its class."""
    node = found.node
    docstring = inspect.cleandoc(ast.get_docstring(node) or "")
    summary = summary_of(docstring).rstrip(".")
    phrase = _words(node.name) or node.name
    if " " not in phrase and found.parent is not None:
        phrase = f"{_words(found.parent.node.name)} {phrase}".strip()
    return f"{phrase}: {summary}" if summary and summary.lower() != phrase else phrase


def _words(name: str) -> str:
    """Return a test's or a test class's name as words."""
    bare = re.sub(r"^test(?=[A-Z0-9_]|$)|^Tests?(?=[A-Z0-9_]|$)|Tests?(Case)?$", "", name)
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", bare).replace("_", " ")
    return re.sub(r"^\d+ (?=.*[^\W\d])", "", " ".join(split.split())).lower()


def _messages(root: ast.AST) -> Iterator[str]:
    for node in ast.walk(root):
        if isinstance(node, ast.Call):
            yield from _expected_by_call(node)
        elif isinstance(node, ast.Compare):
            yield from _compared_with_exception(node)


def _expected_by_call(node: ast.Call) -> Iterator[str]:
    name = ast.unparse(node.func).rpartition(".")[2]
    if name in _ASSERTIONS:
        yield from _asserted_of_exception(node)
    if name in _RAISERS:
        values = [k.value for k in node.keywords if k.arg == "match"]
        values += node.args[1:2] if name.endswith("Regex") else []
        yield from (text for value in values for text in _texts(value))


def _asserted_of_exception(node: ast.Call) -> Iterator[str]:
    """Yield texts that ``self.assert…`` holds against the text of an exception."""
    if any(_is_exception_text(argument) for argument in node.args[:2]):
        yield from (text for argument in node.args[:2] for text in _texts(argument))


def _compared_with_exception(node: ast.Compare) -> Iterator[str]:
    """Yield texts compared with ``str(error)`` or with an argument of an exception."""
    sides = [node.left, *node.comparators]
    if any(_is_exception_text(side) for side in sides):
        yield from (text for side in sides for text in _texts(side))


def _is_exception_text(node: ast.expr) -> bool:
    return any(pattern.search(ast.unparse(node)) for pattern in _EXCEPTION_TEXTS)


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts of an expression; keys are names, not messages."""
    text = node.value if isinstance(node, ast.Constant) else None
    if isinstance(text, str) and any(character.isalnum() for character in text):
        yield text
    keys = [node.slice] if isinstance(node, ast.Subscript) else getattr(node, "keys", [])
    for child in ast.iter_child_nodes(node):
        if child not in keys:
            yield from _texts(child)

"""Small changes of functions that good tests notice.

Operators as in mutation testing (DeMillo, Lipton and Sayward, 1978): negated conditions and
comparisons, exchanged operators, constants off by one, lost results.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from codeenv.languages.base import Mutant
from codeenv.languages.python.definitions import find_definitions, suites
from codeenv.languages.python.syntax import Function, Source, parse_source
from codeenv.tree import Tree

_SWAPPED = {
    **{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"},
    **{"is": "is not", "is not": "is", "in": "not in", "not in": "in", "and": "or", "or": "and"},
    **{"+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "*", "**": "*"},
    **{"&": "|", "|": "&", "^": "&", "<<": ">>", ">>": "<<"},
}
_OPERATOR = re.compile(r"[)\s]*(?P<name>[^\s()]+(?:\s+(?:not|in))?)[(\s]*")
_TEXT = (ast.JoinedStr, ast.Constant)
_SAYS_WHY = ast.Raise | ast.Assert
_Change = tuple[int, int, str]


def find_mutants(
    tree: Tree, symbols: Sequence[tuple[str, str]], lines: Mapping[str, frozenset[int]], most: int
) -> tuple[Mutant, ...]:
    """Return up to ``most`` small changes, spread over what the functions do.

    Args:
        tree: The repository.
        symbols: Path and qualified name of each function.
        lines: Lines that tests execute, by path; nothing else is changed.
        most: How many changes to choose.
    """
    found = [mutant for path, name in symbols for mutant in _of_function(tree, path, name, lines)]
    count = min(most, len(found))
    return tuple(found[(2 * i + 1) * len(found) // (2 * count)] for i in range(count))


def _of_function(
    tree: Tree, path: str, name: str, lines: Mapping[str, frozenset[int]]
) -> Iterator[Mutant]:
    source = parse_source(tree[path].data)
    executed = lines.get(path, frozenset())
    for definition in find_definitions(source) if source else ():
        if source and definition.name == name and not definition.is_class:
            for start, end, new in sorted(_changes(source, definition.node, executed)):
                old = source.text[start:end]
                told = f"{path}:{source.line_of(start)}: {old} becomes {new}"
                yield Mutant(path, name, source.byte(start), source.byte(end), old, new, told)


def _changes(source: Source, owner: ast.AST, executed: frozenset[int]) -> Iterator[_Change]:
    """Yield span and new text of changes that keep every line where it is."""
    for block in suites(owner):
        for statement in block:
            if statement.lineno in executed and not isinstance(statement, _SAYS_WHY):
                for change in _of_statement(source, statement):
                    if "\n" not in source.text[change[0] : change[1]]:
                        yield change
            yield from _changes(source, statement, executed)


def _of_statement(source: Source, statement: ast.stmt) -> Iterator[_Change]:
    if isinstance(statement, Function | ast.ClassDef):
        return
    if isinstance(statement, ast.If):
        yield _negated(source, statement.test)
    if isinstance(statement, ast.Return) and statement.value and not _is_none(statement.value):
        yield *source.span(statement.value), "None"
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr) and child is not getattr(statement, "annotation", None):
            for node in _expressions(child):
                yield from _of_expression(source, node)


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is in it; the places of what is in a formatted string are not known."""
    yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from _expressions(child)


def _of_expression(source: Source, node: ast.AST) -> Iterator[_Change]:
    match node:
        case ast.IfExp():
            yield _negated(source, node.test)
        case ast.Compare(ops=[_]):
            yield from _exchanged(source, node.left, node.comparators[0])
        case ast.BoolOp():
            yield from _exchanged(source, node.values[0], node.values[1])
        case ast.BinOp() if not isinstance(node.left, _TEXT):
            yield from _exchanged(source, node.left, node.right)
        case ast.Constant(value=bool(value)):
            yield *source.span(node), str(not value)
        case ast.Constant(value=int(value)):
            yield *source.span(node), str(value + 1)


def _negated(source: Source, test: ast.expr) -> _Change:
    start, end = source.span(test)
    return start, end, f"(not ({source.text[start:end]}))"


def _exchanged(source: Source, left: ast.expr, right: ast.expr) -> Iterator[_Change]:
    start, end = source.span(left)[1], source.span(right)[0]
    found = _OPERATOR.fullmatch(source.text[start:end])
    name = re.sub(r"\s+", " ", found["name"]) if found else ""
    if found and name in _SWAPPED:
        yield start + found.start("name"), start + found.end("name"), _SWAPPED[name]


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None

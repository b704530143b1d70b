"""The functions, methods and classes that can be deleted from a source file."""

import ast
from collections.abc import Iterator

from codeenv.languages.base import Layout, Unit, UnitKind
from codeenv.languages.python.definitions import (
    Found,
    docstring_node,
    find_definitions,
    first_line,
    is_trivial,
    suites,
)
from codeenv.languages.python.remembering import NAMES, remember
from codeenv.languages.python.syntax import Function, parse_source
from codeenv.tree import Tree

PART = "part"
"""``Unit.protected`` of a definition that goes with the first one of its name."""
_ABSTRACT = ("abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod")
_NOT_CODE = ast.Global | ast.Nonlocal | ast.Pass
_TYPE_BASES = frozenset({"Protocol", "TypedDict"})


def list_units(tree: Tree, layout: Layout) -> tuple[Unit, ...]:
    """Return the units of the source files, in file order."""
    return tuple(unit for path in layout.source_files for unit in file_units(path, tree[path].data))


@remember(NAMES)
def file_units(path: str, data: bytes) -> tuple[Unit, ...]:
    """Return the units of one file; none if it is not editable Python.

    Definitions that share a qualified name (a property with its setter, overloads with their
    implementation, the arms of an ``if``) are deleted together: the main one carries the lines of
    all, the others are protected as a ``part``.
    """
    source = parse_source(data)
    return tuple(_units(path, find_definitions(source))) if source else ()


def _units(path: str, found: tuple[Found, ...]) -> Iterator[Unit]:
    groups: dict[str, list[Found]] = {}
    for definition in found:
        groups.setdefault(definition.name, []).append(definition)
    for definition in found:
        group = groups[definition.name]
        main = main_definition(group)
        whole = [d for d in group if not is_overload(d)] if definition is main else [definition]
        lines = {line for d in whole for line in _lines(d.node)}
        yield Unit(
            path=path,
            name=definition.name,
            kind=_kind(definition),
            start=definition.first,
            body=_body_line(definition),
            end=definition.last,
            lines=tuple(sorted(lines)),
            parent=definition.parent.name if definition.parent else "",
            public=not any(part.startswith("_") for part in definition.name.split(".")),
            protected=protection(definition) or ("" if definition is main else PART),
        )


def main_definition(group: list[Found]) -> Found:
    """Return which of the definitions of one name stands for all."""
    return next((d for d in group if not is_overload(d)), group[0])


def is_overload(found: Found) -> bool:
    """Return whether a definition is a ``typing.overload`` stub."""
    return "overload" in decorator_names(found)


def decorator_names(found: Found) -> tuple[str, ...]:
    """Return the last part of each decorator's name."""
    names = []
    for decorator in found.node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        names.append(ast.unparse(target).rpartition(".")[2])
    return tuple(names)


def protection(found: Found) -> str:
    """Return why a definition must not be deleted on its own, or ""."""
    name = found.node.name
    if found.typing_only:
        return "typing"
    if found.script_only:
        return "script"
    if name.startswith("__") and name.endswith("__"):
        return "dunder"
    if name == "_":
        return "anonymous"
    if is_overload(found):
        return "overload"
    if set(decorator_names(found)) & set(_ABSTRACT):
        return "abstract"
    if isinstance(found.node, ast.ClassDef):
        bases = {ast.unparse(b).partition("[")[0].rpartition(".")[2] for b in found.node.bases}
        return "interface" if bases & _TYPE_BASES else ""
    return "empty" if is_trivial(found.node) else ""


def _kind(found: Found) -> UnitKind:
    if found.is_class:
        return "class"
    return "method" if found.parent else "function"


def _body_line(found: Found) -> int:
    docstring = docstring_node(found.node)
    rest = [s for s in found.node.body if s is not docstring]
    return first_line(rest[0]) if rest else found.node.end_lineno or found.node.lineno


def _lines(node: Function | ast.ClassDef) -> Iterator[int]:
    """Yield the lines of executable statements, those of nested functions included."""
    docstring = docstring_node(node)
    for statement in node.body:
        if statement is not docstring:
            yield from executable_lines(statement, in_class=isinstance(node, ast.ClassDef))


def executable_lines(statement: ast.stmt, *, in_class: bool) -> Iterator[int]:
    """Yield the lines of executable statements, those inside and nested functions included."""
    if isinstance(statement, Function | ast.ClassDef):
        if in_class:
            return
        yield from (statement.lineno, *(d.lineno for d in statement.decorator_list))
        yield from _lines(statement)
        return
    if not isinstance(statement, _NOT_CODE) and not _does_nothing(statement):
        yield statement.lineno
    for handler in getattr(statement, "handlers", ()):
        yield handler.lineno
    for block in suites(statement):
        for inner in block:
            yield from executable_lines(inner, in_class=in_class)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.AnnAssign) and statement.value is None

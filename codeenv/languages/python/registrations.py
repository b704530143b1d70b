"""Registrations of a function or class: entries of literals and calls that hand it to a registry.

They are what a plug-in is known by.  A removal takes them along, and a statement tells them.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codeenv.languages.python.definitions import Found, import_time, last_name
from codeenv.languages.python.edits import Edit, Label
from codeenv.languages.python.literals import Literal, drop_from_literal, elements_of
from codeenv.languages.python.project import Project, Spread
from codeenv.languages.python.references import Use, dotted_name
from codeenv.languages.python.syntax import Source, parse_quietly, parse_source
from codeenv.languages.python.targets import Target
from codeenv.tasks.models import Operation
from codeenv.tree import Tree

_REGISTERS = re.compile(
    r"(?i)regist|hook|plugin|route|command|listener|subscrib|handler|receiver"
    r"|^(add|append|insert|include|connect|bind|set)(_|$)"
)
_DECORATORS = re.compile(r"(?i)regist|hook|plugin|route|command|listener|subscrib|handler|receiver")
_HARMLESS = frozenset({"setter", "getter", "deleter"})
_MAKERS = frozenset({"list", "tuple", "set", "frozenset", "dict", "OrderedDict"})
_ADDERS = frozenset({"extend", "update"})
_BUILTINS = frozenset(dir(builtins))
Goes = Callable[[str], bool]


@dataclass(frozen=True, eq=False)
class Registration:
    """One place where something is registered.

    Attributes:
        where: The registry as it is written, or what is called.
        names: What is registered, with the lines, once for each mention.
        statement: The statement that goes whole, or None.
        literal: The literal that loses elements, else.
        indices: Which ones.
    """

    where: str
    names: tuple[tuple[str, int], ...]
    statement: ast.stmt | None = None
    literal: Literal | None = None
    indices: frozenset[int] = frozenset()

    def edits(self, source: Source) -> Iterator[Edit | ast.stmt]:
        """Yield what takes it out: edits, or a statement to drop.

        Raises:
            ValueError: If the literal would not be one any more.
        """
        if self.statement is not None:
            yield self.statement
        if self.literal is not None:
            yield from drop_from_literal(source, self.literal, self.indices, self.label)

    @property
    def label(self) -> Label:
        """What its edits are said to be."""
        return Label(self.where, "export", "clean")


def registrations_in(source: Source, goes: Goes) -> Iterator[Registration]:
    """Yield the registrations at the top level of a file of the names that go."""
    for statement in import_time(source.module.body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield from _by_call(statement, statement.value, goes)
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            yield from _by_assignment(statement, goes)


def registrations_of(
    project: Project, path: str, spread: Spread, target: Target | None
) -> tuple[Registration, ...]:
    """Return the registrations in one file of symbols that go, those on lost lines left out."""
    names, aliases = spread.names(project.modules[path]), project.aliases(path)

    def goes(name: str) -> bool:
        return name in names or ("." in name and project.symbol(aliases, name) in spread.symbols)

    found = registrations_in(project.files[path].source, goes)
    return tuple(r for r in found if not (target and any(target.covers(n) for _, n in r.names)))


def is_registered(found: Sequence[Registration], uses: Sequence[Use]) -> Callable[[Use], bool]:
    """Return a function that tells whether a use is nothing but a registration."""
    registered = Counter(pair for registration in found for pair in registration.names)
    every = Counter((use.name, use.line) for use in uses)
    return lambda use: 0 < every[use.name, use.line] == registered[use.name, use.line]


def registering_decorators(project: Project, path: str, found: Found) -> Iterator[str]:
    """Yield the decorators of a definition by which something else comes to know it."""
    file = project.files[path]
    modules = {i.bound for i in file.imports if not i.name} | set(project.aliases(path))
    for decorator in found.node.decorator_list:
        name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        root, _, rest = name.partition(".")
        last = name.rpartition(".")[2]
        if last not in _HARMLESS and (
            _DECORATORS.search(last) or (rest and root not in modules and root.isidentifier())
        ):
            yield name


def read_registration(tree: Tree, operation: Operation) -> str:
    """Return what an operation takes out of a registry, "" if it takes nothing of the kind."""
    registers = operation.kind == "export" and operation.symbol not in ("", "__all__")
    source = parse_source(tree[operation.path].data) if registers else None
    if source is None:
        return ""
    text = source.data[operation.start : operation.end].decode(source.encoding).strip()
    for opening, closing in (("[", "\n]"), ("{", "\n}"), ("", "")):
        try:
            module = parse_quietly(f"{opening}{text.strip(', ')}{closing}")
        except SyntaxError:
            continue
        told = "; ".join(map(ast.unparse, module.body))
        return told[1:-1] if opening else told
    return ""


def _by_call(statement: ast.stmt, call: ast.Call, goes: Goes) -> Iterator[Registration]:
    maker = call.func.func if isinstance(call.func, ast.Call) else call.func
    where, values = ast.unparse(maker), [*call.args, *(k.value for k in call.keywords)]
    direct = [value for value in values if _speaks(value, goes)]
    if not direct or last_name(maker) in _ADDERS:
        for value in values:
            yield from _in_value(value, where, goes)
    elif _REGISTERS.search(last_name(maker)):
        others = {_name(value) for value in call.args if value not in direct} - _BUILTINS
        if not any(others):  # one of them may be registered as well
            yield Registration(where, tuple(_mentions(statement, goes)), statement)


def _by_assignment(
    statement: ast.Assign | ast.AnnAssign | ast.AugAssign, goes: Goes
) -> Iterator[Registration]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    where, value = ast.unparse(targets[0]), statement.value
    if value is None or where == "__all__":
        return
    if len(targets) == 1 and isinstance(targets[0], ast.Subscript) and _speaks(value, goes):
        name = ast.unparse(targets[0].value)
        yield Registration(name, tuple(_mentions(statement, goes)), statement)
    else:
        yield from _in_value(value, where, goes)


def _in_value(value: ast.expr, where: str, goes: Goes) -> Iterator[Registration]:
    """Yield what is registered by a literal, also where it is added to or made into another."""
    if isinstance(value, ast.BinOp):
        for side in (value.left, value.right):
            yield from _in_value(side, where, goes)
    elif isinstance(value, ast.Call) and last_name(value.func) in _MAKERS:
        for argument in value.args:
            yield from _in_value(argument, where, goes)
    elif isinstance(value, Literal):
        yield from _in_literal(value, where, goes)


def _in_literal(node: Literal, where: str, goes: Goes) -> Iterator[Registration]:
    """Yield the elements that go; one that is itself a tuple, a call or the like goes as a row."""
    lost: list[int] = []
    keys = node.keys if isinstance(node, ast.Dict) else []
    for index, element in enumerate(elements_of(node)):
        nested = isinstance(node, ast.Dict) and isinstance(element, ast.List | ast.Set | ast.Dict)
        if nested and isinstance(element, Literal):
            plain = all(dotted_name(inner) for inner in elements_of(element))
            yield from _in_literal(element, where, goes) if plain else ()
        elif _speaks(element, goes) or (keys and goes(_name(keys[index]))):
            lost.append(index)
    if not lost:
        return
    rows = [part[index] for index in lost for part in (keys, elements_of(node)) if part]
    names = tuple(pair for row in rows if row for pair in _mentions(row, goes))
    yield Registration(where, names, literal=node, indices=frozenset(lost))


def _name(node: ast.expr | None) -> str:
    return dotted_name(node) if node else ""


def _speaks(node: ast.expr, goes: Goes) -> bool:
    """Return whether an expression is a name that goes, or holds one directly."""
    held: list[ast.expr] = [node]
    if isinstance(node, Literal):
        held += elements_of(node)
    elif isinstance(node, ast.Call):
        held += [*node.args, *(k.value for k in node.keywords)]
    return any(goes(name) for name in map(dotted_name, held) if name)


def _mentions(node: ast.AST, goes: Goes) -> Iterator[tuple[str, int]]:
    """Yield the names that go below a node, with their lines."""
    name = dotted_name(node) if isinstance(node, ast.expr) else ""
    if name and isinstance(node, ast.expr):
        if goes(name):
            yield name, node.lineno
        return
    for child in ast.iter_child_nodes(node):
        yield from _mentions(child, goes)

"""What the names in a test function stand for, read from its code."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from codeenv.languages.python.helper_functions import Helpers
from codeenv.languages.python.perturbing import is_builder, is_made
from codeenv.languages.python.syntax import Definition, Function
from codeenv.languages.python.tables import Place

LITERALS = ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.JoinedStr | ast.UnaryOp
"""Syntax of values that are spelt out, at least on the outside."""
_CHANGING = frozenset(
    """append extend insert remove pop clear sort reverse add discard update setdefault
    popitem""".split()
)


def module_literals(module: ast.Module) -> Mapping[str, ast.expr]:
    """Return what module-level names stand for that are assigned once, to a literal."""
    found: dict[str, ast.expr] = {}
    for name, place in assigned(module).items():
        found[name] = place.get()
    for node in ast.walk(module):
        if isinstance(node, ast.Global):
            for name in node.names:
                found.pop(name, None)
    return found


def statements(block: Sequence[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int]]:
    """Yield list and position of statements that run in a function, not those of inner ones."""
    block = block if isinstance(block, list) else list(block)
    for index, statement in enumerate(block):
        yield block, index
        if isinstance(statement, Definition):
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list):
                yield from statements(inner)


def assigned(owner: Function | ast.Module) -> Mapping[str, Place]:
    """Return names that get a value which is spelt out, once and nothing else, with its place."""
    places: dict[str, Place] = {}
    for block, index in statements(owner.body):
        statement = block[index]
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        if isinstance(target, ast.Name) and (rooted(value) or is_builder(value) or is_made(value)):
            places[target.id] = Place(statement, "value")
    bound: dict[str, int] = {}
    for node in ast.walk(owner):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] = bound.get(node.id, 0) + (1 if isinstance(node.ctx, ast.Store) else 2)
        changed = _changed_in_place(node)
        if changed:
            bound[changed] = 2
    return {name: place for name, place in places.items() if bound[name] == 1}


def rooted(node: ast.expr) -> bool:
    """Return whether an expression is spelt out on the outside."""
    return isinstance(node, LITERALS | ast.BinOp)


def _changed_in_place(node: ast.AST) -> str:
    """Return the name of what a method call, an item or ``+=`` changes, or ""."""
    target: ast.expr | None = None
    if isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        target = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        target = node.func.value if node.func.attr in _CHANGING else None
    return target.id if isinstance(target, ast.Name) else ""


def looped(
    function: Function, module: Mapping[str, ast.expr], local: Mapping[str, Place]
) -> Iterator[tuple[str, Sequence[Place]]]:
    """Yield the targets of loops over tables, with the places of their values.

    A table of the module is copied into the loop.
    """
    bound, loads = bound_names(function), Counter(loaded(function))
    for block, index in statements(function.body):
        loop = block[index]
        if not isinstance(loop, ast.For):
            continue
        table = loop.iter
        name = table.id if isinstance(table, ast.Name) else ""
        if name in local and loads[name] == 1:
            table = local[name].get()
        elif name in module and name not in bound:
            table = loop.iter = copy.deepcopy(module[name])
        rows = _rows_of(table)
        targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
        names = [t.id if isinstance(t, ast.Name) else "" for t in targets]
        single = not isinstance(loop.target, ast.Tuple)
        for at, name in enumerate(names):
            places = [r[at] for r in rows if len(r) == len(names)] if not single else []
            if single and isinstance(table, ast.List | ast.Tuple):
                places = [Place(table, "elts", i) for i in range(len(table.elts))]
            if name and places:
                yield name, places


def _rows_of(table: ast.expr) -> list[tuple[Place, ...]]:
    """Return the rows of a literal table: of tuples, or the items of a dict."""
    if isinstance(table, ast.List | ast.Tuple):
        rows = [e for e in table.elts if isinstance(e, ast.List | ast.Tuple)]
        return [tuple(Place(row, "elts", i) for i in range(len(row.elts))) for row in rows]
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute):
        items = table.func.value
        if table.func.attr == "items" and isinstance(items, ast.Dict):
            places = range(len(items.keys))
            return [(Place(items, "keys", i), Place(items, "values", i)) for i in places]
    return []


def only_compared(function: Function, helpers: Helpers) -> Iterator[str]:
    """Yield names of which every use is one side of a comparison, or an argument of an assert."""
    sides = Counter(
        place.get().id  # type: ignore[attr-defined]
        for place in compared(function, helpers)
        if isinstance(place.get(), ast.Name)
    )
    return (n for n, count in Counter(loaded(function)).items() if sides[n] == count)


def compared(function: Function, helpers: Helpers) -> Iterator[Place]:
    """Yield the sides of comparisons by value, and what assert calls compare."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            if not any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
                yield Place(node, "left")
                yield from (Place(node, "comparators", i) for i in range(len(node.comparators)))
        elif isinstance(node, ast.Call):
            yield from helpers.compared(node)


def loaded(function: Function) -> Iterator[str]:
    """Yield the names that a function uses, as often as it does; in messages they do not count."""
    for node in _without_messages(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


def _without_messages(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for name, child in ast.iter_fields(node):
        if not (isinstance(node, ast.Assert) and name == "msg"):
            for inner in child if isinstance(child, list) else [child]:
                if isinstance(inner, ast.AST):
                    yield from _without_messages(inner)


def bound_names(function: Function) -> frozenset[str]:
    """Return what a function gives a meaning of its own: arguments and assigned names."""
    names = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
    return frozenset(names)

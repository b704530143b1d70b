"""Which names statements bind, by imports and otherwise."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codeenv.languages.python.definitions import last_name
from codeenv.languages.python.syntax import Definition, Function, parse_quietly

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True, slots=True)
class Import:
    """One name bound by an import statement.

    Attributes:
        module: As written, without the leading dots (``level``).
        level: Number of leading dots.
        name: The name imported from the module; "" for ``import module``; ``*`` for all.
        bound: The local name.
        index: Position in the statement.
        node: The statement.
        top: Whether it is outside functions.
        guarded: Whether it may fail: in a ``try`` with handlers, or under ``suppress``.
    """

    module: str
    level: int
    name: str
    bound: str
    index: int
    node: ast.Import | ast.ImportFrom
    top: bool
    guarded: bool


def imports_in(block: Sequence[ast.stmt], *, top: bool, guarded: bool) -> Iterator[Import]:
    """Yield the names that import statements bind, those in functions included."""
    for statement in block:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from _aliases(statement, top, guarded)
        elif isinstance(statement, Definition):
            inner = top and isinstance(statement, ast.ClassDef)
            yield from imports_in(statement.body, top=inner, guarded=False)
        else:
            caught = guarded or _catches(statement)
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.stmt):
                    yield from imports_in([child], top=top, guarded=caught)
                elif isinstance(child, ast.ExceptHandler | ast.match_case):
                    yield from imports_in(child.body, top=top, guarded=caught)


def _catches(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.With):
        calls = (item.context_expr for item in statement.items)
        return any(isinstance(c, ast.Call) and last_name(c.func) == "suppress" for c in calls)
    return bool(getattr(statement, "handlers", ()))


def _aliases(node: ast.Import | ast.ImportFrom, top: bool, guarded: bool) -> Iterator[Import]:
    for index, alias in enumerate(node.names):
        if isinstance(node, ast.ImportFrom):
            bound = alias.asname or alias.name
            module, level, name = node.module or "", node.level, alias.name
        else:
            bound = alias.asname or alias.name.partition(".")[0]
            module, level, name = alias.name, 0, ""
        yield Import(module, level, name, bound, index, node, top, guarded)


def bindings(block: Sequence[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Yield names (and lines) that statements bind in their own scope, imports excluded."""
    for statement in block:
        if isinstance(statement, Definition):
            yield statement.name, statement.lineno
        else:
            yield from _bindings_below(statement)


def argument_names(arguments: ast.arguments) -> frozenset[str]:
    """Return the names of parameters."""
    plain = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return frozenset(a.arg for a in (*plain, arguments.vararg, arguments.kwarg) if a)


def comprehension_names(node: Comprehension) -> frozenset[str]:
    """Return the names that a comprehension's ``for`` clauses bind."""
    targets = (t for g in node.generators for t in ast.walk(g.target))
    return frozenset(t.id for t in targets if isinstance(t, ast.Name))


def local_names(node: Function) -> frozenset[str]:
    """Return the names local to a function: parameters, and what its body binds or imports."""
    names = set(argument_names(node.args)) | {name for name, _ in bindings(node.body)}
    names |= {i.bound for i in imports_in(node.body, top=False, guarded=False)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global):
            names -= set(inner.names)
    return frozenset(names)


def _bindings_below(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, Comprehension):
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                yield inner.target.id, inner.lineno
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id, node.lineno
    if isinstance(node, ast.ExceptHandler) and node.name is not None:
        yield node.name, node.lineno
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield child.name, child.lineno
        else:
            yield from _bindings_below(child)


def quoted_types(node: ast.expr | None) -> Iterator[ast.expr]:
    """Yield what the quoted parts of an annotation stand for, each at the place of its string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            (statement,) = parse_quietly(f"({node.value})").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for inner in ast.walk(statement):
            if isinstance(inner, ast.expr):
                inner.lineno, inner.col_offset = node.lineno, node.col_offset
        if isinstance(statement, ast.Expr):
            yield statement.value
    elif isinstance(node, ast.Subscript) and last_name(node.value) == "Literal":
        return
    elif node is not None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from quoted_types(child)

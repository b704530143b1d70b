"""Why a parameter cannot go: code that stays may give it; each reason is a ``ValueError``."""

import ast
from collections.abc import Collection, Iterable, Iterator

from codeenv.languages.base import Layout
from codeenv.languages.python.definitions import Found, find_definitions, last_name
from codeenv.languages.python.hierarchy import ancestors, inherited_from, read_classes
from codeenv.languages.python.project import Project
from codeenv.languages.python.references import mentions
from codeenv.languages.python.signatures import parameter_names
from codeenv.languages.python.syntax import Definition, Function, parse_source
from codeenv.languages.python.units import decorator_names
from codeenv.tree import Tree

_PLAIN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "contextmanager", "asynccontextmanager", "cache"}
    | {"lru_cache", "final", "override"}
)
_INTROSPECTION = frozenset({"locals", "vars", "eval", "exec", "signature", "getargspec"})


def refuse_function(found: Found, name: str, gone: Collection[int]) -> None:
    """Raise ValueError where a function's own text makes of its parameters more than variables."""
    node = found.node
    if not isinstance(node, Function):
        raise ValueError(f"no function: {found.name}")
    if node.args.kwarg:
        raise ValueError(f"**{node.args.kwarg.arg} of {found.name} would take it in")
    if node.args.vararg and name not in {arg.arg for arg in node.args.kwonlyargs}:
        raise ValueError(f"*{node.args.vararg.arg} of {found.name} would take it in")
    if name in {arg.arg for arg in node.args.posonlyargs}:
        raise ValueError(f"given by position only: {name} of {found.name}")
    strange = [d for d in decorator_names(found) if d not in _PLAIN_DECORATORS]
    if strange:
        raise ValueError(f"its decorator may read the signature: @{strange[0]} of {found.name}")
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name | ast.Attribute) and last_name(inner) in _INTROSPECTION:
            raise ValueError(f"variables are looked up by name in {found.name}")
    _refuse_lost_names(node, gone)
    for inner in ast.walk(node):
        if isinstance(inner, Function) and id(inner) not in gone and _loses_yields(inner, gone):
            raise ValueError(f"would be no generator any more: {inner.name} of {found.name}")


def _loses_yields(node: Function, gone: Collection[int]) -> bool:
    yields = [id(n) for n in _own_nodes(node.body) if isinstance(n, ast.Yield | ast.YieldFrom)]
    return bool(yields) and all(place in gone for place in yields)


def _own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a function's own scope: not of functions and lambdas in it."""
    for node in nodes:
        if not isinstance(node, Definition | ast.Lambda):
            yield node
            yield from _own_nodes(ast.iter_child_nodes(node))


def _refuse_lost_names(node: Function, gone: Collection[int]) -> None:
    """Raise ValueError where what goes says what a name is that code which stays uses."""
    going = [inner for inner in ast.walk(node) if id(inner) in gone]
    staying = [inner for inner in ast.walk(node) if id(inner) not in gone]
    declared = {n for s in going if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
    lost = (set(_bound(going)) - set(_bound(staying))) | declared
    if missed := sorted(lost & {n.id for n in staying if isinstance(n, ast.Name)}):
        raise ValueError(f"set only where the parameter asks for it: {missed[0]}")


def _bound(nodes: Collection[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]


def refuse_relatives(tree: Tree, layout: Layout, found: Found, name: str) -> None:
    """Raise ValueError where a base class or a subclass has the method, with that parameter."""
    if found.parent is None or not isinstance(found.parent.node, ast.ClassDef):
        return
    classes, own = read_classes(tree, layout), found.parent.node.name
    base = inherited_from(classes, found.parent.node, found.node.name)
    if base and base not in classes:
        raise ValueError(f"overrides a base class: {found.name} of {base}")
    for path in layout.source_files:
        source = parse_source(tree[path].data)
        for other in find_definitions(source) if source else ():
            if other.node is found.node or other.node.name != found.node.name:
                continue
            owner = other.parent.node.name if other.parent else ""
            related = own in ancestors(classes, owner) or owner in ancestors(classes, own)
            if owner and related and _takes(other, name):
                raise ValueError(f"{other.name} in {path} has the parameter as well")


def refuse_callers(
    project: Project, where: str, found: Found, name: str, gone: Collection[int]
) -> None:
    """Raise ValueError where code that stays gives the parameter, or could.

    Args:
        project: How its files refer to each other.
        where: The function's file.
        found: The function.
        name: The parameter.
        gone: Syntax nodes that go with it, by ``id``.
    """
    named = found.node.name
    symbol = project.modules.get(where, ""), named
    passed_on = () if found.parent else project.exporters({symbol}).symbols
    known = {named, *(other for _, other in passed_on)}
    for path in project.sources:
        file = project.files[path]
        if path.endswith(".pyi") or known.isdisjoint(mentions(file)):
            continue
        if any(text.lookup and text.text in known for text in file.texts):
            raise ValueError(f"looked up by name: {named!r} in {path}")
        owner = found.parent.name if found.parent and path == where else ""
        if owner and any(use.scope == owner and use.root == named for use in file.uses):
            raise ValueError(f"passed on as a value: {named} in {path}")
        nodes = [n for n in ast.walk(file.source.module) if id(n) not in gone]
        names = known.union(_other_names(nodes, known))
        modules = None if found.parent else frozenset(project.aliases(path))
        called = set()
        for call in (n for n in nodes if isinstance(n, ast.Call)):
            if _speaks_of(call.func, names, modules):
                called.add(id(call.func))
                _refuse_call(call, found, name, path)
        for node in nodes:
            if id(node) not in called and _speaks_of(node, names, modules):
                raise ValueError(f"passed on as a value: {named} in {path}")


def _refuse_call(call: ast.Call, found: Found, name: str, path: str) -> None:
    where = f"{found.node.name}() in {path}, line {call.lineno}"
    for keyword in call.keywords:
        if keyword.arg == name:
            raise ValueError(f"given by {where}")
        if keyword.arg is None:
            raise ValueError(f"may be given by ** of {where}")
    place = _place(found, name)
    if place is not None:
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            raise ValueError(f"may be given by * of {where}")
        if len(call.args) > place:
            raise ValueError(f"given by position by {where}")


def _place(found: Found, name: str) -> int | None:
    """Return how many positional arguments a call can have without giving a parameter."""
    assert isinstance(found.node, Function)
    plain = [arg.arg for arg in (*found.node.args.posonlyargs, *found.node.args.args)]
    if name not in plain:
        return None
    bound = found.parent is not None and "staticmethod" not in decorator_names(found)
    return plain.index(name) - bound


def _other_names(nodes: Collection[ast.AST], known: Collection[str]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.alias) and node.name in known and node.asname:
            yield node.asname


def _speaks_of(node: ast.AST, names: Collection[str], modules: Collection[str] | None) -> bool:
    """Return whether an expression may be the function; of no ``modules``, a method."""
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return False
    if last_name(node) not in names:
        return False
    if isinstance(node, ast.Name):
        return modules is not None
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return modules is None or (isinstance(root, ast.Name) and root.id in modules)


def _takes(found: Found, name: str) -> bool:
    node = found.node
    if not isinstance(node, Function):
        return True
    return name in parameter_names(node) or node.args.kwarg is not None

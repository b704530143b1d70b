"""Calls with known results, as tests write them: what a statement may give as examples.

Only calls that need no set-up: literal arguments, a literal result.  Two thirds of them are kept
back, so that an implementation of the examples alone does not pass the tests.
"""

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from codeenv.languages.python.bound import bindings
from codeenv.languages.python.definitions import last_name
from codeenv.languages.python.syntax import Function

_ONE_IN, _MOST, _LONGEST = 3, 15, 160
_MOST_ROWS = 60
_USED_ONCE = 2  # where it is bound, and where it is used
_PASSIVE = (ast.Assign, ast.Import, ast.ImportFrom, ast.Pass)
_EQUAL = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual"})
_LOOKS = frozenset({"isinstance"})
Values = Mapping[str, ast.expr]


def examples_of(node: Function, outside: Values, helpers: frozenset[str]) -> Iterator[str]:
    """Yield what a test asserts of calls, e.g. ``join(["a"]) == "a"``, for all its parameters.

    Nothing is said of a test that takes fixtures or does anything before it asserts: what it says
    may hold only then.

    Args:
        node: The test.
        outside: Literals that the names of its module stand for.
        helpers: Names that its module defines, of which a reader knows nothing.
    """
    bound = {name for name, _ in bindings(node.body)} | helpers
    for row in _rows(node, outside):
        unknown = bound | ({a.arg for a in node.args.args} - {"self"} - row.keys())
        if unknown - bound:
            return
        values = _with_locals(node, row, unknown)
        yield from _examples(node.body, values, unknown)
        for loop in _before_it_acts(node.body):
            if isinstance(loop, ast.For):
                for inner in _turns(loop, {**outside, **values}):
                    known = _with_locals(loop, {**values, **inner}, unknown)
                    yield from _examples(loop.body, known, unknown)


def _with_locals(node: Function | ast.For, row: Values, unknown: set[str]) -> dict[str, ast.expr]:
    """Return the row, and what the names stand for that the block binds and leaves as they are."""
    values = dict(row)
    for name, value in bound_once(node.body):
        put = _Put(values).visit(copy.deepcopy(value))
        if _is_steady(node, name) and (is_literal(put) or _is_plain(put, unknown)):
            values[name] = put
    return values


def _examples(block: list[ast.stmt], values: Values, unknown: set[str]) -> Iterator[str]:
    for left, right in _equalities(block):
        text = _example(left, right, values, unknown)
        if text:
            yield text


def bound_once(block: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a block binds once, by an assignment, with the value."""
    times = Counter(name for name, _ in bindings(block))
    for statement in block:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and times[target.id] == 1:
                yield target.id, statement.value


def _is_steady(node: Function | ast.For, name: str) -> bool:
    """Return whether a local is only looked at: it is not called, changed or handed on twice."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    looked_at = {id(side) for pair in _equalities(node.body) for side in pair}
    for parent in ast.walk(node):
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.Name) and child.id == name and _is_load(child):
                seen = isinstance(parent, ast.Attribute | ast.Subscript) and _is_load(parent)
                seen = seen or (isinstance(parent, ast.Call) and last_name(parent.func) in _LOOKS)
                if not seen and id(child) not in looked_at and len(names) > _USED_ONCE:
                    return _is_immutable(node, name)
        if isinstance(parent, ast.Call) and root_of(parent.func) == name:
            return False
    return True


def _is_immutable(node: Function | ast.For, name: str) -> bool:
    value = dict(bound_once(node.body)).get(name)
    constant = ast.Constant | ast.UnaryOp | ast.BinOp | ast.JoinedStr
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return all(isinstance(part, constant) for part in parts)


def _is_load(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load)


def root_of(node: ast.expr) -> str:
    """Return the name that a dotted or indexed expression starts with, or ""."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def some_of(by_test: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return a third of the examples, from as many tests as possible, the same ones every time."""
    distinct = list(dict.fromkeys(text for examples in by_test for text in examples))
    turns: dict[str, int] = {}
    for examples in by_test:
        for turn, text in enumerate(sorted(dict.fromkeys(examples), key=_rank)):
            turns.setdefault(text, turn)
    ranked = sorted(distinct, key=lambda text: (turns[text], _rank(text)))
    chosen = set(ranked[: min(_MOST, (len(distinct) + 1) // _ONE_IN)])
    return tuple(text for text in distinct if text in chosen)


def _rank(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _rows(node: Function, outside: Values) -> Iterator[dict[str, ast.expr]]:
    """Yield the values of the test's parameters; one empty row if there are none."""
    tables = [d for d in node.decorator_list if _is_parametrize(d)]
    if not tables:
        yield {}
    if len(tables) != 1 or not isinstance(tables[0], ast.Call) or len(tables[0].args) < 2:
        return
    names, table = _names(tables[0].args[0]), tables[0].args[1]
    for row in list(_elements(table, outside))[:_MOST_ROWS]:
        parts = row.elts if isinstance(row, ast.Tuple | ast.List) and len(names) > 1 else [row]
        if len(parts) == len(names) and all(map(is_literal, parts)):
            yield dict(zip(names, parts, strict=True))


def _elements(table: ast.expr, outside: Values) -> Iterator[ast.expr]:
    """Yield the elements of a list, of a named list, or of a sum of them."""
    if isinstance(table, ast.Name):
        table = outside.get(table.id, table)
    if isinstance(table, ast.BinOp):
        yield from _elements(table.left, outside)
        yield from _elements(table.right, outside)
    elif isinstance(table, ast.List | ast.Tuple):
        yield from table.elts


def _is_parametrize(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "parametrize"


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [name.strip() for name in node.value.split(",") if name.strip()]
    names = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    return [str(n.value) for n in names if isinstance(n, ast.Constant)]


def _turns(loop: ast.For, known: Values) -> Iterator[dict[str, ast.expr]]:
    """Yield the values of a loop's names, for each row of the table that it goes through."""
    names = _targets(loop.target)
    if frozenset(names) & {name for name, _ in bindings(loop.body)}:
        return
    for row in list(_loop_rows(loop.iter, known))[:_MOST_ROWS]:
        parts = row.elts if isinstance(row, ast.Tuple | ast.List) and len(names) > 1 else [row]
        if len(parts) == len(names) and all(map(is_literal, parts)):
            yield dict(zip(names, parts, strict=True))


def _targets(node: ast.expr) -> list[str]:
    targets = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return [ast.unparse(target) for target in targets]


def _loop_rows(table: ast.expr, known: Values) -> Iterator[ast.expr]:
    """Yield the elements of a list, or of the items of a dictionary."""
    items = isinstance(table, ast.Call) and last_name(table.func) == "items"
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute) and items:
        held = table.func.value
        held = known.get(held.id, held) if isinstance(held, ast.Name) else held
        pairs = zip(held.keys, held.values, strict=True) if isinstance(held, ast.Dict) else ()
        yield from (ast.Tuple([key, value], ast.Load()) for key, value in pairs if key)
    else:
        yield from _elements(table, known)


def _before_it_acts(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block up to the first that does more than to bind and compare."""
    for statement in block:
        if not _is_passive(statement):
            return
        yield statement


def _is_passive(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.For):
        return all(map(_is_passive, (*statement.body, *statement.orelse)))
    if isinstance(statement, ast.With):
        opened = statement.items[0].context_expr
        sub_test = isinstance(opened, ast.Call) and last_name(opened.func) == "subTest"
        return sub_test and all(map(_is_passive, statement.body))
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or bool(_compared(statement))
    return isinstance(statement, (*_PASSIVE, ast.Assert))


def _equalities(block: list[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield both sides of what a block's own statements assert to be equal, until it acts."""
    for statement in _before_it_acts(block):
        if isinstance(statement, ast.With):
            yield from _equalities(statement.body)
        else:
            yield from _compared(statement)


def _compared(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and last_name(call.func) in _EQUAL and len(call.args) >= 2:
        return [(call.args[0], call.args[1])]
    compare = statement.test if isinstance(statement, ast.Assert) else None
    if isinstance(compare, ast.Compare) and isinstance(compare.ops[0], ast.Eq | ast.Is):
        return [(compare.left, compare.comparators[0])]
    return []


def _example(left: ast.expr, right: ast.expr, values: Values, unknown: set[str]) -> str:
    left, right = (_Put(values).visit(copy.deepcopy(side)) for side in (left, right))
    if is_literal(left):
        left, right = right, left
    if not _is_plain(left, unknown) or not (is_literal(right) or _is_plain(right, unknown)):
        return ""
    text = f"{ast.unparse(left)} == {ast.unparse(right)}"
    return text if len(text) <= _LONGEST and text.isprintable() else ""


class _Put(ast.NodeTransformer):
    """Puts literals in the place of names."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)


def _is_plain(node: ast.expr, unknown: set[str]) -> bool:
    """Return whether a node calls something of a module with literals, or looks at the result."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not is_literal(node.slice):
            return False
        node = node.value
    if not isinstance(node, ast.Call):
        return False
    root = root_of(node.func)
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    known = bool(root) and root not in unknown and root != "self"
    return known and all(is_literal(a) or _is_plain(a, unknown) for a in arguments)


def is_literal(node: ast.expr) -> bool:
    """Return whether an expression is made of constants alone."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True

"""Calls with known results, as tests write them: what a statement may give as examples.

Only calls that need no set-up: literal arguments, a literal result.  Two thirds of them are kept
back, so that an implementation of the examples alone does not pass the tests.
"""

import ast
import copy
import hashlib
from collections.abc import Iterator, Mapping, Sequence

from codeenv.languages.python.bound import bindings
from codeenv.languages.python.definitions import last_name
from codeenv.languages.python.syntax import Function

_ONE_IN, _MOST, _LONGEST = 3, 15, 160
_MOST_ROWS = 60
_EQUAL = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual"})
Values = Mapping[str, ast.expr]


def literals_in(block: list[ast.stmt]) -> dict[str, ast.expr]:
    """Return the names that a block binds once, to a literal."""
    times: dict[str, int] = {}
    for name, _ in bindings(block):
        times[name] = times.get(name, 0) + 1
    found = {}
    for statement in block:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            single = isinstance(target, ast.Name) and times.get(target.id) == 1
            if single and isinstance(target, ast.Name) and _is_literal(statement.value):
                found[target.id] = statement.value
    return found


def examples_of(node: Function, outside: Values) -> Iterator[str]:
    """Yield what a test asserts of calls, e.g. ``join(["a"]) == "a"``, for all its parameters.

    Args:
        node: The test.
        outside: Literals that the names of its module stand for.
    """
    inside = literals_in(node.body)
    bound = {name for name, _ in bindings(node.body)}
    for row in _rows(node, outside):
        unknown = (bound | {a.arg for a in node.args.args}) - inside.keys() - row.keys()
        values = {**inside, **row}
        for left, right in _equalities(node):
            text = _example(left, right, values, unknown)
            if text:
                yield text


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
        if len(parts) == len(names) and all(map(_is_literal, parts)):
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


def _equalities(node: Function) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield both sides of what the test's own statements assert to be equal."""
    for statement in node.body:
        if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
            compare = statement.test
            if len(compare.ops) == 1 and isinstance(compare.ops[0], ast.Eq | ast.Is):
                yield compare.left, compare.comparators[0]
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and last_name(call.func) in _EQUAL and len(call.args) >= 2:
            yield call.args[0], call.args[1]


def _example(left: ast.expr, right: ast.expr, values: Values, unknown: set[str]) -> str:
    left, right = (_Put(values).visit(copy.deepcopy(side)) for side in (left, right))
    if _is_literal(left):
        left, right = right, left
    if not _is_plain_call(left, unknown) or not _is_literal(right):
        return ""
    text = f"{ast.unparse(left)} == {ast.unparse(right)}"
    return text if len(text) <= _LONGEST and text.isprintable() else ""


class _Put(ast.NodeTransformer):
    """Puts literals in the place of names."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)


def _is_plain_call(node: ast.expr, unknown: set[str]) -> bool:
    """Return whether a node calls something of a module with literals alone."""
    if not isinstance(node, ast.Call):
        return False
    root = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    known = isinstance(root, ast.Name) and root.id not in unknown and root.id != "self"
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    return known and all(map(_is_literal, arguments))


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True

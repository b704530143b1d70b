"""What a condition says when a parameter has its default: true, false, or not to be told."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

_ORDER: Mapping[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, other: operator.contains(other, one),
    ast.NotIn: lambda one, other: not operator.contains(other, one),
}
_SAME = {ast.Is: True, ast.Eq: True, ast.IsNot: False, ast.NotEq: False}
_HARMLESS = (
    *(ast.Name, ast.Constant, ast.Attribute, ast.BoolOp, ast.UnaryOp, ast.Compare),
    *(ast.expr_context, ast.boolop, ast.Not, ast.Is, ast.IsNot, ast.Eq, ast.NotEq),
)


def mentions(node: ast.AST, name: str) -> bool:
    """Return whether code names a variable."""
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def holds(test: ast.expr, name: str, default: ast.expr) -> bool | None:
    """Return whether a condition holds when a variable is its default; None if unknown.

    What else the condition evaluates must do nothing: it goes with the condition.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            found = holds(inner, name, default)
            return None if found is None else not found
        case ast.BoolOp(op=joint, values=values):
            return _together(isinstance(joint, ast.Or), values, name, default)
        case ast.Compare(left=left, ops=[how], comparators=[right]):
            sides = [default if _is(side, name) else side for side in (left, right)]
            return _compared(how, sides[0], sides[1])
        case _:
            known, value = _literal(default if _is(test, name) else test)
            return bool(value) if known else None


def _together(ends: bool, values: list[ast.expr], name: str, default: ast.expr) -> bool | None:
    """Return what operands say of which the first that is ``ends`` decides."""
    unknown = False
    for value in values:
        found = holds(value, name, default)
        if found is ends:
            return ends
        if found is None:
            if not all(isinstance(node, _HARMLESS) for node in ast.walk(value)):
                return None
            unknown = True
    return None if unknown else not ends


def _compared(how: ast.cmpop, left: ast.expr, right: ast.expr) -> bool | None:
    (known, one), (also_known, other) = _literal(left), _literal(right)
    if not known and not also_known and _is_dotted(left) and ast.dump(left) == ast.dump(right):
        return _SAME.get(type(how))
    if not known or not also_known:
        return None
    if isinstance(how, ast.Is | ast.IsNot):
        single = any(value is None or isinstance(value, bool) for value in (one, other))
        return (one is other) is isinstance(how, ast.Is) if single else None
    try:
        return bool(_ORDER[type(how)](one, other))
    except TypeError:
        return None


def _literal(node: ast.expr) -> tuple[bool, object]:
    try:
        return True, ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False, None


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)

"""Numbers that tests expect nearly, and others that are out of reach of how nearly."""

import ast
import copy

_RELATIVE = frozenset({"rel", "rtol", "rel_tol"})
_MOST_RELATIVE = 0.4
_NO_TOLERANCES = ("msg", "err_msg", "nan_ok", "verbose", "equal_nan")


def tolerance(call: ast.Call, *, from_argument: int) -> float | None:
    """Return how far a value may be off, at most; None if that is not spelt out.

    Neither is it where a value may be off by half of itself: no other is out of its reach.

    Args:
        call: Of ``approx`` or an assert method.
        from_argument: Number of the first argument that tells a tolerance.
    """
    told = [(_value(each), from_argument == 1) for each in call.args[from_argument:]]
    named = [k for k in call.keywords if k.arg not in _NO_TOLERANCES]
    told += [(_value(k.value), k.arg in _RELATIVE) for k in named]
    total = 0.0
    for value, relative in told:
        if value is None or (relative and abs(value) > _MOST_RELATIVE):
            return None
        total += abs(value)
    return total


def moved(node: ast.expr, slack: float) -> ast.expr | None:
    """Return a number, or one of those in a container, moved out of the reach of tolerances.

    Args:
        node: The number.
        slack: What ``tolerance`` says: the absolute and the relative one added up.
    """
    value = _value(node)
    if value is not None:
        return ast.Constant(abs(value) + 1.0 + abs(value) / 4 + 4 * slack * (1 + abs(value)))
    new = copy.deepcopy(node)
    elements = new.elts if isinstance(new, ast.List | ast.Tuple) else []
    values = new.values if isinstance(new, ast.Dict) else elements
    for index, element in enumerate(values):
        further = moved(element, slack)
        if further is not None:
            values[index] = further
            return new
    return None


def _value(node: ast.expr) -> float | None:
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    inner = node.operand if isinstance(node, ast.UnaryOp) and sign < 0 else node
    plain = isinstance(inner, ast.Constant) and isinstance(inner.value, int | float)
    return sign * float(inner.value) if plain and isinstance(inner, ast.Constant) else None  # type: ignore[arg-type]

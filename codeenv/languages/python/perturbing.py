"""Expressions that give another value than they do: the expected side of a negative control.

A perturbed value looks like the original one, and is never equal to it: code that tells real tests
from controls by the looks of a value has to know the right one.
"""

import ast
import copy
import math
import string
from collections.abc import Callable, Sequence
from random import Random

from codeenv.languages.python.definitions import last_name
from codeenv.languages.python.tolerances import moved, tolerance

_TRIES = 8
_BUILDERS = frozenset(
    """Decimal Fraction set frozenset list tuple dict bytes bytearray OrderedDict Counter deque
    defaultdict datetime date time timedelta Path PurePath PosixPath PurePosixPath UUID range
    complex float int str dedent cleandoc array StringIO BytesIO namedtuple MappingProxyType
    ip_address ip_network IPv4Address IPv6Address IPv4Network IPv6Network sorted reversed""".split()
)
"""Callables whose results differ where their arguments do; none is a repository's own."""
_METHODS = frozenset(
    """encode decode format join replace split rsplit splitlines upper lower title capitalize
    strip lstrip rstrip expandtabs center ljust rjust zfill removeprefix removesuffix""".split()
)
_ALPHABETS = (string.ascii_lowercase, string.ascii_uppercase, string.digits)


def perturbed(node: ast.expr, order: Random) -> ast.expr | None:
    """Return an expression of another value, or None where that cannot be had.

    Nothing is evaluated; the node given is not changed.
    """
    make = _FORMS.get(type(node))
    new = make(node, order) if make else None
    return None if new is None or ast.dump(new) == ast.dump(node) else new


def is_literal(node: ast.expr) -> bool:
    """Return whether an expression is spelt out, with no name in it."""
    return not any(isinstance(inner, ast.Name | ast.Call) for inner in ast.walk(node))


def is_builder(node: ast.expr) -> bool:
    """Return whether an expression calls a constructor of the standard library, or a text method.

    Its arguments are what is expected, and not what the code under test is given.
    """
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
        return isinstance(node.func.value, ast.Constant | ast.JoinedStr)
    return last_name(node.func) in (*_BUILDERS, "approx")


def is_made(node: ast.expr) -> bool:
    """Return whether an expression calls a class of the repository, by its looks, with values.

    What it makes need not differ where its arguments do: the known-good solution has to show it.
    """
    if not isinstance(node, ast.Call) or is_builder(node):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    named = last_name(node.func).lstrip("_")[:1].isupper()
    return named and bool(given) and all(is_literal(each) or is_made(each) for each in given)


def altered(expected: str, order: Random) -> str:
    """Return a text with one character more, inside it where it has an inside."""
    at = order.randint(1, len(expected) - 1) if len(expected) > 1 else len(expected)
    beside = expected[max(0, at - 1) : at] or expected[:1]
    known = [letters for letters in _ALPHABETS if beside and beside in letters]
    letters = (known or [string.ascii_lowercase])[0]
    return expected[:at] + order.choice(letters) + expected[at:]


def apart(node: ast.expr, order: Random) -> ast.expr | None:
    """Return a value that is not only another one, but none that is likely to be near."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str | bytes):
            return perturbed(node, order) if len(node.value) > 1 else None
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return ast.Constant(node.value + order.randint(700, 9000))
        return None
    texts = isinstance(node, ast.JoinedStr) and len(node.values) > 1
    return perturbed(node, order) if texts or isinstance(node, ast.List | ast.Tuple) else None


def _constant(node: ast.expr, order: Random) -> ast.expr | None:
    assert isinstance(node, ast.Constant)
    value = node.value
    if isinstance(value, bool):
        return ast.Constant(not value)
    if isinstance(value, str):
        return ast.Constant(altered(value, order))
    if isinstance(value, bytes):
        return ast.Constant(altered(value.decode("latin-1"), order).encode("latin-1"))
    if isinstance(value, int):
        return _number(value + order.choice((1, 1, 2, -1)))
    if isinstance(value, float):
        moved = value + math.ulp(value) * 4 if abs(value) > 2**52 else value + 1.0
        return ast.Constant(moved) if math.isfinite(moved) and moved != value else None
    if isinstance(value, complex):
        return ast.Constant(complex(value.real, value.imag + 1))
    if value is None:
        return ast.Constant(order.choice((0, "", False)))
    return ast.Constant(None)


def _number(value: int) -> ast.expr:
    if value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _sequence(node: ast.expr, order: Random) -> ast.expr | None:
    """Change one element, or append one."""
    assert isinstance(node, ast.List | ast.Tuple)
    new = copy.deepcopy(node)
    at = order.randrange(len(new.elts)) if new.elts else 0
    if new.elts and order.random() < 0.5:
        other = perturbed(new.elts[at], order)
        if other is not None:
            new.elts[at] = other
            return new
    new.elts.append(_another(new.elts, order))
    return new


def _another(elements: Sequence[ast.expr], order: Random) -> ast.expr:
    """Return one more element of the kind of those that are there."""
    for element in reversed(elements):
        if not isinstance(element, ast.Starred):
            return perturbed(element, order) or copy.deepcopy(element)
    return ast.Constant(None)


def _set(node: ast.expr, order: Random) -> ast.expr | None:
    assert isinstance(node, ast.Set)
    known = {ast.dump(element) for element in node.elts}
    for _ in range(_TRIES):
        more = perturbed(order.choice(node.elts), order)
        if more is not None and ast.dump(more) not in known:
            return ast.Set([*copy.deepcopy(node.elts), more])
    return None


def _dict(node: ast.expr, order: Random) -> ast.expr | None:
    """Change one value, or add a key."""
    assert isinstance(node, ast.Dict)
    new = copy.deepcopy(node)
    if new.values and order.random() < 0.7:
        at = order.randrange(len(new.values))
        other = perturbed(new.values[at], order)
        if other is not None:
            new.values[at] = other
            return new
    known = {ast.dump(key) for key in new.keys if key is not None}
    texts = [k for k in new.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
    key = perturbed(order.choice(texts), order) if texts else ast.Constant(None)
    if key is None or ast.dump(key) in known:
        return None
    new.keys.append(key)
    new.values.append(copy.deepcopy(new.values[-1]) if new.values else ast.Constant(None))
    return new


def _formatted(node: ast.expr, order: Random) -> ast.expr | None:
    assert isinstance(node, ast.JoinedStr)
    new = copy.deepcopy(node)
    texts = [part for part in new.values if isinstance(part, ast.Constant)]
    if not texts:
        new.values.append(ast.Constant(order.choice(string.ascii_lowercase)))
        return new
    part = order.choice(texts)
    part.value = altered(str(part.value), order)
    return new


def _signed(node: ast.expr, order: Random) -> ast.expr | None:
    assert isinstance(node, ast.UnaryOp)
    if isinstance(node.op, ast.Not):
        return copy.deepcopy(node.operand)
    inner = perturbed(node.operand, order)
    return None if inner is None else ast.UnaryOp(node.op, inner)


def _joined(node: ast.expr, order: Random) -> ast.expr | None:
    """Change an operand; a text that is filled in by ``%`` gets its character behind it."""
    assert isinstance(node, ast.BinOp)
    new = copy.deepcopy(node)
    if isinstance(new.op, ast.Mod) and isinstance(new.left, ast.Constant | ast.JoinedStr):
        if not isinstance(new.left, ast.Constant) or isinstance(new.left.value, str):
            return ast.BinOp(new, ast.Add(), ast.Constant(order.choice(string.ascii_lowercase)))
        return None
    for side in ("left", "right"):
        other = perturbed(getattr(new, side), order)
        if other is not None:
            setattr(new, side, other)
            return new
    return None


def _built(node: ast.expr, order: Random) -> ast.expr | None:
    """Change an argument of a constructor, or the text whose method is called."""
    assert isinstance(node, ast.Call)
    if is_made(node):
        return _made(node, order)
    if not is_builder(node):
        return None
    if last_name(node.func) == "approx":
        return _approximate(node)
    new = copy.deepcopy(node)
    if isinstance(new.func, ast.Attribute) and new.func.attr in _METHODS:
        return _other_text(new, new.func, order)
    for index, argument in enumerate(new.args):
        other = perturbed(argument, order)
        if other is not None:
            new.args[index] = other
            return new
    for keyword in new.keywords:
        other = perturbed(keyword.value, order) if keyword.arg else None
        if other is not None:
            keyword.value = other
            return new
    return None


def _made(node: ast.Call, order: Random) -> ast.expr | None:
    """Change one of the arguments that are numbers or texts, or what they are made of."""
    new = copy.deepcopy(node)
    places: list[tuple[ast.Call | ast.keyword, int]] = [(new, n) for n in range(len(new.args))]
    places += [(keyword, -1) for keyword in new.keywords]
    order.shuffle(places)
    for owner, at in places:
        given = owner.args[at] if isinstance(owner, ast.Call) else owner.value
        other = None if _is_switch(given) else perturbed(given, order)
        if other is None:
            continue
        if isinstance(owner, ast.Call):
            owner.args[at] = other
        else:
            owner.value = other
        return new
    return None


def _is_switch(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _other_text(new: ast.Call, method: ast.Attribute, order: Random) -> ast.expr:
    """Change what a text's method joins or works on; behind it, where that could break it."""
    if method.attr == "join" and new.args:
        parts = perturbed(new.args[0], order)
        if parts is not None:
            new.args[0] = parts
            return new
    if method.attr not in ("join", "format"):
        text = perturbed(method.value, order)
        if text is not None:
            method.value = text
            return new
    is_bytes = isinstance(method.value, ast.Constant) and isinstance(method.value.value, bytes)
    letter = order.choice(string.ascii_lowercase)
    return ast.BinOp(new, ast.Add(), ast.Constant(letter.encode() if is_bytes else letter))


def _approximate(node: ast.Call) -> ast.expr | None:
    slack = tolerance(node, from_argument=1)
    further = moved(node.args[0], slack) if node.args and slack is not None else None
    if further is None:
        return None
    new = copy.deepcopy(node)
    new.args[0] = further
    return new


_Form = Callable[[ast.expr, Random], ast.expr | None]
_FORMS: dict[type[ast.expr], _Form] = {
    ast.Constant: _constant,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _formatted,
    ast.UnaryOp: _signed,
    ast.BinOp: _joined,
    ast.Call: _built,
}

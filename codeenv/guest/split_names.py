"""What both sides of a split know of Python's special methods."""

import inspect
from collections.abc import Callable
from typing import Any

_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
)
COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__")
ARITHMETIC = frozenset(f"__{prefix}{name}__" for name in _BINARY for prefix in ("", "r", "i"))
SPECIAL = frozenset(
    ARITHMETIC
    | {f"__{name}__" for name in ("neg", "pos", "abs", "invert", "index", "int", "float")}
    | {f"__{name}__" for name in ("complex", "round", "trunc", "floor", "ceil")}
    | {f"__{name}__" for name in ("len", "length_hint", "bool", "iter", "next", "reversed")}
    | {f"__{name}__" for name in ("enter", "exit", "call", "bytes", "format", "fspath")}
    | {f"__{name}__" for name in ("getitem", "setitem", "delitem", "contains", "missing")}
    | {f"__{name}__" for name in ("get", "set", "delete", "set_name", "prepare", "mro_entries")}
    | {f"__{name}__" for name in ("await", "aiter", "anext", "aenter", "aexit")}
    | {*COMPARISONS, "__eq__", "__ne__", "__hash__", "__repr__", "__str__"}
)
"""Methods that Python looks up on the class of an object."""
VALUES = (str, bytes, int, float, complex, tuple, frozenset)
"""Plain classes whose objects never change: an object below one of them is such a value, too."""
FILLED = (dict, list, set, str, bytes, int, float, tuple, frozenset)
"""Plain classes whose content goes along with an object of the tests that is below one of them."""
BUILT_IN: dict[str, Callable[[Any], Any]] = {
    "__iter__": iter,
    "__next__": next,
    "__reversed__": reversed,
    "__hash__": hash,
}
"""Special methods that a built-in function asks for, also where a class does without them."""


def specials(kind: type) -> list[str]:
    """Return the special methods that a class has, beyond those of every object."""
    found = []
    for name in sorted(SPECIAL):
        method = getattr(kind, name, None)
        if method is not None and method is not getattr(object, name, None):
            found.append(name)
    return found


def parameters(function: Any) -> list[list[Any]] | None:  # noqa: ANN401 - any callable
    """Return name, kind, whether there is a default and the default of each parameter."""
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except (ValueError, TypeError):
        return None
    empty = inspect.Parameter.empty
    return [
        [p.name, p.kind.value, p.default is not empty, None if p.default is empty else p.default]
        for p in signature.parameters.values()
    ]


def base_value(kind: type, value: Any) -> Any:  # noqa: ANN401 - of a class below kind
    """Return the plain value in an object of a subclass, whatever that overrides."""
    plain: Any = kind
    if kind in (tuple, frozenset):
        return plain(plain.__iter__(value))
    if kind in (str, bytes):
        return plain.__add__(plain(), value)
    return plain.__pos__(value)

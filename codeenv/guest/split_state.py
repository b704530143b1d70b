"""What an object is, as plain data: so that the tests' side compares values, and not opinions."""

import collections
import collections.abc
import types
from typing import Any

_MOST = 4000
_SCALARS = (bool, int, float, complex, str, bytes, bytearray)
_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
_UNTOLD = frozenset({"__dict__", "__weakref__"})


def content_of(value: Any) -> Any:  # noqa: ANN401 - any container
    """Return what a container shows, as a plain one.

    Raises:
        TypeError: If it is none.
    """
    if isinstance(value, collections.abc.Mapping | dict):
        return {key: value[key] for key in value.keys()}  # noqa: SIM118 - iteration may differ
    if isinstance(value, collections.abc.Set | set | frozenset):
        return set(value)
    if isinstance(value, collections.abc.Sequence | list | collections.deque):
        return list(value)
    raise TypeError("not a container")


def state_of(value: Any) -> Any:  # noqa: ANN401 - any object, plain data
    """Return what an object is made of, equal for equal ones; None if that cannot be told."""
    try:
        return _State().of(value)
    except (_TooMuchError, RecursionError):
        return None


class _TooMuchError(Exception):
    """Raised where an object is too large or has no state."""


class _State:
    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []

    def of(self, value: Any) -> Any:  # noqa: ANN401 - any object, plain data
        if value is None or type(value) in _SCALARS:
            return value
        if isinstance(value, _NAMED):
            return ("name", str(getattr(value, "__module__", "")), _name(value))
        if id(value) in self._seen:
            return ("seen", self._seen[id(value)])
        if len(self._seen) >= _MOST:
            raise _TooMuchError
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)  # no other object gets its identity meanwhile
        kind = type(value)
        return (f"{kind.__module__}.{kind.__qualname__}", *self._parts(value))

    def _parts(self, value: Any) -> list[Any]:  # noqa: ANN401 - any object, plain data
        parts: list[Any] = [
            self._members(base, value) for base in _CONTAINERS if isinstance(value, base)
        ]
        parts += [base.__repr__(value) for base in _SCALARS if isinstance(value, base)]
        attributes = dict(_attributes(value))
        if attributes or hasattr(value, "__dict__"):
            parts.append({name: self.of(item) for name, item in attributes.items()})
        return parts or [_text(value)]

    def _members(self, base: Any, value: Any) -> Any:  # noqa: ANN401 - a container, plain data
        if base is dict:
            pairs = [(self.of(key), self.of(item)) for key, item in dict.items(value)]
            return sorted(pairs, key=repr)
        members = [self.of(item) for item in base.__iter__(value)]
        return sorted(members, key=repr) if base in (set, frozenset) else members


def _attributes(value: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - any object
    found = list(getattr(value, "__dict__", {}).items())
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in _UNTOLD and hasattr(value, name):
                found.append((name, getattr(value, name)))
    return [(name, item) for name, item in found if isinstance(name, str)]


def _text(value: Any) -> str:  # noqa: ANN401 - an object of compiled code
    text = repr(value)
    if " at 0x" in text:
        raise _TooMuchError
    return text


def _name(value: Any) -> str:  # noqa: ANN401 - a class, function or module
    return str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))

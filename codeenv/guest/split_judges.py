"""Whether a function of the tests decides something itself, as far as its code tells.

A failure that is found while the code under test is calling could be lost on its way back, and
what is left to that code altogether is not found at all: such tests need negative controls.
"""

import dis
import inspect
import types
import unittest
from collections.abc import Iterator
from typing import Any

from codeenv.guest.split_modules import RemoteModule
from codeenv.guest.split_remote import Bound, Method, Remote
from codeenv.guest.split_types import RemoteType

_DEPTH = 4
_REMOTE = (Remote, Bound, Method, RemoteType, RemoteModule)
_KNOWN = frozenset(
    {name for name in dir(unittest.TestCase) if name.startswith("assert")}
    | {"assert_called", "assert_called_with", "assert_called_once", "assert_called_once_with"}
    | {"assert_any_call", "assert_has_calls", "assert_not_called", "assert_awaited_once_with"}
    | {"fail", "raises", "warns", "deprecated_call", "@pytest_ar", "AssertionError"}
)
_ABSENT = object()


def decides(function: Any, owner: Any = None) -> bool:  # noqa: ANN401 - any object
    """Return whether a function of the tests holds an assertion, itself or in what it calls.

    Args:
        function: A function, or anything else.
        owner: The class in which what it calls may be.
    """
    return _Reader(owner).finds(function, 0)


def relies(function: Any, owner: Any = None) -> bool:  # noqa: ANN401 - any object
    """Return whether a test leaves it to the code under test what it finds."""
    plain = inspect.unwrap(function) if isinstance(function, types.FunctionType) else function
    plain = getattr(plain, "__func__", plain)
    if isinstance(owner, RemoteType) or not isinstance(plain, types.FunctionType):
        return True
    reader = _Reader(owner)
    return not reader.finds(plain, 0) or reader.foreign


class _Reader:
    """Follows what functions call.

    Attributes:
        foreign: Whether something that calls itself an assertion is of the code under test.
    """

    def __init__(self, owner: Any) -> None:  # noqa: ANN401 - a class, or None
        self._owner = owner
        self._seen: set[types.CodeType] = set()
        self.foreign = False

    def finds(self, function: Any, depth: int) -> bool:  # noqa: ANN401 - any object
        function = getattr(function, "__func__", function)
        if not isinstance(function, types.FunctionType) or function.__code__ in self._seen:
            return False
        self._seen.add(function.__code__)
        found = [self._names(function, name, depth) for name in _names(function.__code__)]
        return any(found) or any(map(_asserts, _codes(function.__code__)))

    def _names(self, function: types.FunctionType, name: str, depth: int) -> bool:
        value = self._value(function, name)
        if isinstance(value, _REMOTE) or (value is _ABSENT and name not in _KNOWN):
            self.foreign |= name.lower().startswith("assert")
            return False
        return name in _KNOWN or (depth < _DEPTH and self.finds(value, depth + 1))

    def _value(self, function: types.FunctionType, name: str) -> Any:  # noqa: ANN401 - any object
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                return _ABSENT
        if name in function.__globals__:
            return function.__globals__[name]
        return _ABSENT if self._owner is None else _static(self._owner, name)


def _static(owner: Any, name: str) -> Any:  # noqa: ANN401 - any object
    found = inspect.getattr_static(owner, name, _ABSENT)
    return found.__func__ if isinstance(found, staticmethod | classmethod) else found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _names(code: types.CodeType) -> Iterator[str]:
    for each in _codes(code):
        yield from (*each.co_names, *each.co_freevars)


def _asserts(code: types.CodeType) -> bool:
    return any(
        step.opname == "LOAD_ASSERTION_ERROR" or step.argrepr == "AssertionError"
        for step in dis.get_instructions(code)
    )

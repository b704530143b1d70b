"""What calls in tests compare: the assert methods of unittest, and functions of the tests' own."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codeenv.languages.python import unittest_asserts as asserts
from codeenv.languages.python.definitions import last_name
from codeenv.languages.python.syntax import Function
from codeenv.languages.python.tables import Place

_SAYS_SO = re.compile(r"_*(assert|check|verify|expect|compare)", re.IGNORECASE)
_DEPTH = 3


@dataclass(frozen=True, eq=False)
class Helpers:
    """The functions and methods that a test file defines or imports, by their last name."""

    functions: Mapping[str, Function]
    _told: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, modules: Sequence[ast.Module]) -> "Helpers":
        """Read them from syntax trees; the first definition of a name counts."""
        found: dict[str, Function] = {}
        for module in modules:
            for node in ast.walk(module):
                if isinstance(node, Function) and not node.name.startswith("test"):
                    found.setdefault(node.name, node)
        return cls(found)

    def compared(self, call: ast.Call) -> Iterator[Place]:
        """Yield the arguments of a call that are only compared by value."""
        name = last_name(call.func)
        if name in asserts.TWO_SIDES or name in asserts.FLIPPED:
            yield from (Place(call, "args", i) for i in range(min(2, len(call.args))))
        elif name == "approx" and call.args:
            yield Place(call, "args", 0)
        else:
            expected = self.expected(call)
            if expected is not None:
                yield expected

    def checks(self, call: ast.Call) -> bool:
        """Return whether a call fails where something is not as it should be."""
        name = last_name(call.func)
        known = self.functions.get(name)
        if known is None:
            return bool(_SAYS_SO.match(name)) and name not in _NOT_CHECKS
        return self._asserts(known, _DEPTH)

    def expected(self, call: ast.Call) -> Place | None:
        """Return the argument of a helper's call that it expects, if that can be told."""
        function = self.functions.get(last_name(call.func))
        if function is None or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        for name in self._expected_of(function, _DEPTH):
            place = _argument(call, function, name)
            if place is not None:
                return place
        return None

    def _asserts(self, function: Function, depth: int) -> bool:
        for node in ast.walk(function):
            if isinstance(node, ast.Assert):
                return True
            if isinstance(node, ast.Call) and depth:
                name = last_name(node.func)
                inner = self.functions.get(name)
                if name.startswith("assert") or name in (*asserts.RAISES, *asserts.WARNS):
                    return True
                if inner is not None and inner is not function and self._asserts(inner, depth - 1):
                    return True
        return False

    def _expected_of(self, function: Function, depth: int) -> tuple[str, ...]:
        key = function.name, depth
        if key not in self._told:
            self._told[key] = tuple(self._expected_parameters(function, depth))
        return self._told[key]

    def _expected_parameters(self, function: Function, depth: int) -> Iterator[str]:
        """Yield parameters that are one side of a comparison and have no other use."""
        names = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
        uses = [n.id for n in ast.walk(function) if isinstance(n, ast.Name)]
        alone = {name for name in names if uses.count(name) == 1}
        for node in ast.walk(function):
            sides: list[ast.expr] = []
            if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
                if len(node.test.ops) == 1 and isinstance(node.test.ops[0], ast.Eq):
                    sides = [node.test.comparators[0], node.test.left]
            elif isinstance(node, ast.Call) and last_name(node.func) in asserts.EQUAL:
                sides = list(reversed(node.args[:2]))
            elif isinstance(node, ast.Call) and depth and last_name(node.func) in self.functions:
                sides = self._handed_on(node, function, depth)
            for side in sides:
                if isinstance(side, ast.Name) and side.id in alone:
                    yield side.id

    def _handed_on(self, call: ast.Call, function: Function, depth: int) -> list[ast.expr]:
        inner = self.functions[last_name(call.func)]
        if inner is function or any(isinstance(a, ast.Starred) for a in call.args):
            return []
        places = (_argument(call, inner, n) for n in self._expected_of(inner, depth - 1))
        return [place.get() for place in places if place is not None]


_NOT_CHECKS = frozenset({"check_call", "check_output", "expectedFailure", "compare_digest"})


def _argument(call: ast.Call, function: Function, name: str) -> Place | None:
    """Return what a call gives for a parameter."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return Place(keyword, "value")
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    is_method = names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute)
    at = names.index(name) - is_method if name in names else -1
    return Place(call, "args", at) if 0 <= at < len(call.args) else None

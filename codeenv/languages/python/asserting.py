"""The ways in which a test can be made to expect something else, statement by statement.

Each is sound: where the real test passes, the changed one fails, whatever code is tested.  What
only might fail (an order, an inequality of other constants) is no way for perturbed constants.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from codeenv.languages.python import unittest_asserts as asserts
from codeenv.languages.python.definitions import docstring_node, last_name
from codeenv.languages.python.expected import Change, Scope
from codeenv.languages.python.expected_raises import (
    is_plain,
    other_class,
    other_match,
    places_of_raises,
)
from codeenv.languages.python.named_values import statements
from codeenv.languages.python.perturbing import apart
from codeenv.languages.python.syntax import Function
from codeenv.languages.python.tables import Place
from codeenv.languages.python.tolerances import moved, tolerance

_SINGLETONS = (True, False, None)
_UNLIKELY = "bytearray"


@dataclass(eq=False)
class Ways:
    """The changes of one test function, found without making any."""

    scope: Scope

    def constants(self) -> Iterator[Change]:
        """Yield changes of expected values."""
        for block, index in statements(self.scope.function.body):
            statement = block[index]
            if isinstance(statement, ast.Assert):
                yield from self._expression(Place(statement, "test"))
            elif (call := _call_of(statement)) is not None:
                yield from self._call(call)
            for place in places_of_raises(statement):
                yield other_match(place, self.scope.order) or other_class(place, self.scope.order)

    def negations(self) -> Iterator[Change]:
        """Yield assertions turned round; a test without one must fail as a whole."""
        whole = True
        for change in self._negated():
            whole = False
            yield change
        if whole:
            yield from _whole(self.scope.function)

    def _negated(self) -> Iterator[Change]:
        for block, index in statements(self.scope.function.body):
            statement = block[index]
            if isinstance(statement, ast.Assert):
                yield Change([(Place(statement, "test"), opposite(statement.test))])
            elif (call := _call_of(statement)) is not None:
                yield from self._turned(call, block, index)
            for place in places_of_raises(statement):
                yield other_class(place, self.scope.order)

    def _expression(self, place: Place) -> Iterator[Change]:
        """Yield changes of what must be true."""
        node = place.get()
        if isinstance(node, ast.BoolOp):
            if isinstance(node.op, ast.And):
                for index in range(len(node.values)):
                    yield from self._expression(Place(node, "values", index))
        elif isinstance(node, ast.Compare):
            yield from self._compare(node)
        elif _is_instance_check(node) and isinstance(node, ast.Call):
            yield Change([(Place(node, "args", 1), ast.Name(_UNLIKELY, ast.Load()))])
        elif not isinstance(node, ast.UnaryOp) or not isinstance(node.operand, ast.Compare):
            yield Change([(place, opposite(node))])

    def _compare(self, node: ast.Compare) -> Iterator[Change]:
        if len(node.ops) != 1:
            found = self.scope.change(Place(node, "comparators", len(node.ops) - 1), wrap=False)
            if found is not None and all(isinstance(op, ast.Eq) for op in node.ops):
                yield found
            return
        left, right = Place(node, "left"), Place(node, "comparators", 0)
        operator = node.ops[0]
        found = None
        if isinstance(operator, ast.Eq):
            found = self._equal(left, right)
        elif isinstance(operator, ast.Is):
            found = _singleton(right)
        elif isinstance(operator, ast.In):
            found = self._member(left, right)
        if found is not None:
            yield found

    def _equal(self, left: Place, right: Place) -> Change | None:
        """Change the side that looks more like what is expected."""
        rank = self.scope.rank
        first, second = (right, left) if rank(right.get()) <= rank(left.get()) else (left, right)
        if rank(second.get()) > 0:
            return self.scope.change(first, wrap=True)
        return self.scope.change(first, wrap=False)

    def _member(self, left: Place, right: Place) -> Change | None:
        """Change what must be found, or everything among which it must be.

        A container may hold more than what is asked for, so no new value may be a likely one.
        """
        if self.scope.rank(left.get()) <= self.scope.rank(right.get()):
            other = apart(left.get(), self.scope.order)
            return None if other is None else Change([(left, other)])
        among = right.get()
        if not isinstance(among, ast.List | ast.Tuple | ast.Set) or not among.elts:
            return None
        edits = []
        for index, element in enumerate(among.elts):
            other = apart(element, self.scope.order)
            if other is None:
                return None
            edits.append((Place(among, "elts", index), other))
        return Change(edits)

    def _call(self, call: ast.Call) -> Iterator[Change]:
        """Yield changes of what an assert call expects."""
        name = last_name(call.func)
        if name in ("assertTrue", "assert_") and call.args and _tells(call.args[0]):
            yield from self._expression(Place(call, "args", 0))
            return
        found: Change | None = None
        if len(call.args) >= 2 and name in asserts.TWO_SIDES:
            found = self._two_sides(call, name)
        elif name in asserts.FLIPPED:
            found = _renamed(call, asserts.OPPOSITE[name])
        elif name in asserts.CALLED_WITH:
            changes = (self.scope.change(place, wrap=False) for place in _arguments(call))
            found = next((change for change in changes if change is not None), None)
        elif (place := self.scope.helpers.expected(call)) is not None:
            found = self.scope.change(place, wrap=self.scope.rank(place.get()) > 0)
        if found is not None:
            yield found

    def _two_sides(self, call: ast.Call, name: str) -> Change | None:
        first, second = Place(call, "args", 0), Place(call, "args", 1)
        if name in asserts.EQUAL:
            return self._equal(first, second)
        if name in asserts.NEAR:
            return self._near(call)
        if name in asserts.MEMBER:
            return self._member(first, second)
        if name in asserts.INSTANCE:
            return Change([(second, ast.Name(_UNLIKELY, ast.Load()))])
        if name == "assertIs":
            return _singleton(second)
        node = second.get()
        plain = isinstance(node, ast.Constant) and is_plain(node.value)
        other = apart(node, self.scope.order) if plain else None
        return None if other is None else Change([(second, other)])

    def _near(self, call: ast.Call) -> Change | None:
        """Move the expected number by more than the call lets it be off."""
        slack = tolerance(call, from_argument=2)
        rank = self.scope.rank
        at = 1 if rank(call.args[1]) <= rank(call.args[0]) else 0
        further = moved(call.args[at], slack) if slack is not None else None
        return None if further is None else Change([(Place(call, "args", at), further)])

    def _turned(self, call: ast.Call, block: list[ast.stmt], index: int) -> Iterator[Change]:
        """Yield an assert call turned round: by its opposite, or by expecting that it fails."""
        name = last_name(call.func)
        if name in asserts.RAISES or name in asserts.WARNS:
            return
        turned = _renamed(call, asserts.OPPOSITE[name]) if name in asserts.OPPOSITE else None
        if turned is not None:
            yield turned
        elif self.scope.helpers.checks(call):
            holder = ast.Module(block, [])
            yield Change([(Place(holder, "body", index), _fails([block[index]]))])


def opposite(node: ast.expr) -> ast.expr:
    """Return an expression that is true exactly where the given one is false."""
    exact: dict[type[ast.cmpop], ast.cmpop] = {
        ast.Is: ast.IsNot(),
        ast.IsNot: ast.Is(),
        ast.In: ast.NotIn(),
        ast.NotIn: ast.In(),
    }
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return copy.deepcopy(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in exact:
        new = copy.deepcopy(node)
        new.ops = [exact[type(node.ops[0])]]
        return new
    return ast.UnaryOp(ast.Not(), copy.deepcopy(node))


def _fails(block: list[ast.stmt]) -> ast.stmt:
    """Return a statement that passes where some others fail."""
    raises = ast.Attribute(ast.Name("pytest", ast.Load()), "raises", ast.Load())
    context = ast.Call(raises, [ast.Name("AssertionError", ast.Load())], [])
    return ast.With([ast.withitem(context)], copy.deepcopy(block))


def _whole(function: Function) -> Iterator[Change]:
    """Yield a test that passes where the given one fails, if it is no generator."""
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)):
        return
    first = 0 if docstring_node(function) is None else 1
    block = function.body[first:]
    if block:
        rest = range(first + 1, len(function.body))
        edits: list[tuple[Place, ast.AST]] = [(Place(function, "body", first), _fails(block))]
        yield Change([*edits, *((Place(function, "body", at), ast.Pass()) for at in rest)])


def _arguments(call: ast.Call) -> Iterator[Place]:
    yield from (Place(call, "args", i) for i in range(len(call.args)))
    yield from (Place(keyword, "value") for keyword in call.keywords if keyword.arg)


def _renamed(call: ast.Call, name: str) -> Change | None:
    if not isinstance(call.func, ast.Attribute):
        return None
    return Change([(Place(call, "func"), ast.Attribute(call.func.value, name, ast.Load()))])


def _singleton(place: Place) -> Change | None:
    node = place.get()
    if not isinstance(node, ast.Constant) or node.value not in _SINGLETONS:
        return None
    return Change([(place, ast.Constant(not node.value))])


def _tells(node: ast.expr) -> bool:
    """Return whether an expression says itself what is expected."""
    return isinstance(node, ast.Compare | ast.BoolOp) or _is_instance_check(node)


def _is_instance_check(node: ast.expr) -> bool:
    named = isinstance(node, ast.Call) and last_name(node.func) in ("isinstance", "issubclass")
    return named and isinstance(node, ast.Call) and len(node.args) == 2


def _call_of(statement: ast.stmt) -> ast.Call | None:
    """Return the call that a statement consists of, awaited or not."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.Await):
        value = value.value
    return value if isinstance(value, ast.Call) else None

"""What a test expects: which side of a comparison it is, and where its value comes from."""

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from codeenv.languages.python.helper_functions import Helpers
from codeenv.languages.python.named_values import (
    LITERALS,
    assigned,
    bound_names,
    compared,
    looped,
    only_compared,
)
from codeenv.languages.python.perturbing import is_builder, is_literal, is_made, perturbed
from codeenv.languages.python.syntax import Function
from codeenv.languages.python.tables import Place, Table, shows_value


@dataclass(eq=False)
class Change:
    """One way to make a test expect something else.

    Attributes:
        edits: What to put where.
        rows: Numbers of the rows of ``table`` that it changes; every case of the test, if None.
        table: Position of the table among the function's.
        raising: Whether a right solution fails it by the exception that it should raise.
    """

    edits: Sequence[tuple[Place, ast.AST]]
    rows: frozenset[int] | None = None
    table: int = 0
    raising: bool = False

    def make(self) -> None:
        """Do it."""
        for place, node in self.edits:
            place.put(node)


@dataclass(eq=False)
class Scope:
    """What the names in a test function stand for.

    Attributes:
        function: The test.
        module: Names of the module that stand for one literal.
        tables: Of the function.
        order: Chooses among perturbed values.
        helpers: The functions that tests compare with.
        free: Names that are only compared with, so that their value may change where it is made.
    """

    function: Function
    module: Mapping[str, ast.expr]
    tables: Sequence[Table]
    order: Random
    helpers: Helpers
    free: frozenset[str] = field(init=False)
    _local: Mapping[str, Place] = field(init=False)
    _loops: Mapping[str, Sequence[Place]] = field(init=False)

    def __post_init__(self) -> None:
        """Read the function once, before anything in it changes."""
        self.free = frozenset(only_compared(self.function, self.helpers))
        self._local = assigned(self.function)
        self._loops = dict(looped(self.function, self.module, self._local))
        self._spell_out()

    def rank(self, node: ast.expr) -> int:
        """Return how little an expression looks like what is expected: 0 is a literal."""
        if isinstance(node, ast.Name):
            if self._table_of(node.id) or node.id in (*self._local, *self._loops):
                return 1
            return 6
        if is_literal(node) and isinstance(node, LITERALS | ast.BinOp):
            return 0
        if is_builder(node):
            return 3
        if isinstance(node, LITERALS | ast.BinOp) and not _calls(node):
            return 4
        return 5 if not _calls(node) or _is_of_made(node) else 7 + _calls(node)

    def change(self, place: Place, *, wrap: bool) -> Change | None:
        """Return how to make what is at a place give another value.

        Args:
            place: The expected side.
            wrap: Whether a value of which nothing is known may be put in a list.
        """
        node = place.get()
        if isinstance(node, ast.Name):
            named = self._named(node.id)
            if named is not None:
                return named
        other = perturbed(node, self.order)
        if other is None and wrap:
            other = ast.List([copy.deepcopy(node)], ast.Load())
        return None if other is None else Change([(place, other)])

    def _named(self, name: str) -> Change | None:
        at = self._table_of(name)
        if at is not None:
            return self._column(at[0], name) if name in self.free else None
        if name in self._loops:
            return self._looped(name) if name in self.free else None
        if name in self._local and name in self.free:
            other = perturbed(self._local[name].get(), self.order)
            return Change([(self._local[name], other)]) if other is not None else None
        return None

    def _spell_out(self) -> None:
        """Put literals where names are compared whose value cannot change where it is made."""
        fixed = {n: p.get() for n, p in self._local.items() if n not in self.free}
        values = {**self.module, **fixed}
        shadowed = {n for table in self.tables for n in table.names} | self._loops.keys()
        for name in shadowed | (bound_names(self.function) - fixed.keys()):
            values.pop(name, None)
        for place in compared(self.function, self.helpers):
            node = place.get()
            value = values.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(value, ast.Constant) or (value is not None and is_literal(value)):
                place.put(copy.deepcopy(value))

    def _table_of(self, name: str) -> tuple[int, Table] | None:
        for index, table in enumerate(self.tables):
            if name in table.names:
                return index, table
        return None

    def _column(self, at: int, name: str) -> Change | None:
        """Change one argument in every row where it can be."""
        table = self.tables[at]
        edits: list[tuple[Place, ast.AST]] = []
        rows = set()
        for index, place in enumerate(table.column(name)):
            if place is None or shows_value(table, place):
                continue
            other = perturbed(place.get(), self.order)
            if other is None:
                other = ast.List([copy.deepcopy(place.get())], ast.Load())
            edits.append((place, other))
            rows.add(index)
        return Change(edits, frozenset(rows), at) if edits else None

    def _looped(self, name: str) -> Change | None:
        places = list(self._loops[name])
        self.order.shuffle(places)
        for place in places:
            other = perturbed(place.get(), self.order)
            if other is not None:
                return Change([(place, other)])
        return None


def _is_of_made(node: ast.expr) -> bool:
    """Return whether an expression is an object with its values, or a display of such objects."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and node.elts:
        return all(_is_of_made(each) or is_literal(each) for each in node.elts)
    return is_made(node)


def _calls(node: ast.expr) -> int:
    return sum(isinstance(inner, ast.Call) for inner in ast.walk(node))

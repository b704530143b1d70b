"""The tables that tests are multiplied by: their rows, and the ids that pytest gives them."""

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from codeenv.languages.python.definitions import last_name
from codeenv.languages.python.node_ids import split_id
from codeenv.languages.python.syntax import Function

_USES_IDS = frozenset({"request", "snapshot", "data_regression", "file_regression", "datadir"})
_OPAQUE_TO_IDS = ast.List | ast.Tuple | ast.Dict | ast.Set | ast.Call | ast.JoinedStr


@dataclass(eq=False)
class Place:
    """Where an expression hangs in its tree, so that another can be put there."""

    owner: ast.AST
    field: str
    index: int | None = None

    def get(self) -> ast.expr:
        """Return what is there."""
        value = getattr(self.owner, self.field)
        found: ast.expr = value if self.index is None else value[self.index]
        return found

    def put(self, node: ast.AST) -> None:
        """Put something else there."""
        if self.index is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.index] = node


@dataclass(eq=False)
class Row:
    """One row: a place for each argument, by position; none where they cannot be told apart."""

    values: tuple[Place, ...]


@dataclass(eq=False)
class Table:
    """One ``parametrize`` decorator of a function.

    Attributes:
        call: The decorator.
        names: Arguments it gives.
        rows: Its rows.
        pinned: Whether the ids of its rows are given, so that values do not show in them.
    """

    call: ast.Call
    names: tuple[str, ...]
    rows: tuple[Row, ...]
    pinned: bool = False

    def column(self, name: str) -> tuple[Place | None, ...]:
        """Return the places of one argument, row by row."""
        at = self.names.index(name)
        return tuple(row.values[at] if row.values else None for row in self.rows)

    def pin(self) -> tuple[str, ...]:
        """Give the rows ids that tell nothing of their values, and return them."""
        ids = tuple(f"row{index}" for index in range(len(self.rows)))
        listed = ast.List([ast.Constant(each) for each in ids], ast.Load())
        keywords = [k for k in self.call.keywords if k.arg != "ids"]
        self.call.keywords = [*keywords, ast.keyword("ids", listed)]
        del self.call.args[3:]
        for row in _elements(self.call.args[1]):
            if _is_param(row) and isinstance(row, ast.Call):
                row.keywords = [k for k in row.keywords if k.arg != "id"]
        self.pinned = True
        return ids


def read_tables(function: Function, module: Mapping[str, ast.expr]) -> tuple[Table, ...] | None:
    """Return a function's tables, nearest first; None if one of them is not spelt out.

    A table that has a name in the module is copied to where it is used.

    Args:
        function: A test function, of a tree that may be changed.
        module: The literals that have one name in the module.
    """
    tables = []
    for decorator in reversed(function.decorator_list):
        if last_name(decorator.func if isinstance(decorator, ast.Call) else decorator) != (
            "parametrize"
        ):
            continue
        table = _read(decorator, module)
        if table is None:
            return None
        tables.append(table)
    return tuple(tables)


def match_cases(
    tables: Sequence[Table], known: Sequence[str]
) -> Mapping[str, tuple[int, ...]] | None:
    """Return the row of each table that an id stands for; None if that cannot be told.

    Args:
        tables: All tables of a function.
        known: All ids of the function in one class, in the order pytest collects them.
    """
    combinations = list(product(*(range(len(table.rows)) for table in tables)))
    if len(combinations) != len(known) or not _in_order(tables, combinations, known):
        return None
    return dict(zip(known, combinations, strict=True))


def pin_tables(
    function: Function, tables: Sequence[Table], cases: Mapping[str, tuple[int, ...]]
) -> Mapping[str, str]:
    """Give all rows of a function opaque ids, and return old id -> new id.

    A test that reads its own id keeps it, and the result is empty.
    """
    arguments = {argument.arg for argument in _arguments(function)}
    if not tables or arguments & _USES_IDS:
        return {}
    ids = [table.pin() for table in tables]
    return {
        old: f"{old.partition('[')[0]}[{'-'.join(ids[t][row] for t, row in enumerate(rows))}]"
        for old, rows in cases.items()
    }


def shows_value(table: Table, place: Place) -> bool:
    """Return whether the id of a row tells the value at a place, so that it must not change."""
    return not table.pinned and not isinstance(place.get(), _OPAQUE_TO_IDS)


def _in_order(
    tables: Sequence[Table], combinations: Sequence[tuple[int, ...]], known: Sequence[str]
) -> bool:
    """Return whether ids speak of the rows that they would be taken for, as far as can be told."""
    for rows, test in zip(combinations, known, strict=True):
        spelt = split_id(test).parameters[1:-1]
        for table, index in zip(tables, rows, strict=True):
            if any(text not in spelt for text in _words(table, table.rows[index])):
                return False
    return True


def _words(table: Table, row: Row) -> Iterator[str]:
    """Yield what must be in the id of a row that has none of its own."""
    if any(k.arg == "ids" for k in table.call.keywords) or len(table.call.args) > 3:
        return
    for place in row.values:
        if any(k.arg == "id" for k in getattr(place.owner, "keywords", ())):
            return
        node = place.get()
        if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | str):
            text = str(node.value)
            if text.isascii() and text.isprintable() and "\\" not in text:
                yield text


def _read(decorator: ast.expr, module: Mapping[str, ast.expr]) -> Table | None:
    if not isinstance(decorator, ast.Call) or not 2 <= len(decorator.args) <= 4:
        return None
    told = {keyword.arg for keyword in decorator.keywords}
    if len(decorator.args) > 2 or not told <= {"ids"}:
        return None
    names = _names(decorator.args[0])
    values = decorator.args[1]
    if isinstance(values, ast.Name) and values.id in module:
        values = decorator.args[1] = copy.deepcopy(module[values.id])
    if names is None or not isinstance(values, ast.List | ast.Tuple):
        return None
    if any(isinstance(element, ast.Starred) for element in values.elts):
        return None
    rows = tuple(_row(values, index, len(names)) for index in range(len(values.elts)))
    return Table(decorator, names, rows)


def _names(node: ast.expr) -> tuple[str, ...] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(name.strip() for name in node.value.split(",") if name.strip())
    if isinstance(node, ast.List | ast.Tuple):
        texts = [e.value for e in node.elts if isinstance(e, ast.Constant)]
        if len(texts) == len(node.elts):
            return tuple(str(text) for text in texts)
    return None


def _row(values: ast.List | ast.Tuple, index: int, count: int) -> Row:
    element = values.elts[index]
    if _is_param(element) and isinstance(element, ast.Call):
        plain = len(element.args) == count
        return Row(tuple(Place(element, "args", i) for i in range(count)) if plain else ())
    if count == 1:
        return Row((Place(values, "elts", index),))
    if isinstance(element, ast.List | ast.Tuple) and len(element.elts) == count:
        return Row(tuple(Place(element, "elts", i) for i in range(count)))
    return Row(())


def _elements(node: ast.expr) -> Sequence[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else ()


def _is_param(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "param"


def _arguments(function: Function) -> Iterator[ast.arg]:
    given = function.args
    yield from (*given.posonlyargs, *given.args, *given.kwonlyargs)

"""Negative controls: test files in which chosen tests expect what no right solution gives.

The real tests go through the same rewriting, so that nothing but what is expected tells one from
the other: comments are gone, tables have opaque ids, and named constants are spelt out where they
are compared.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

from codeenv.languages.python.asserting import Ways
from codeenv.languages.python.definitions import suites
from codeenv.languages.python.expected import Change, Scope
from codeenv.languages.python.helper_functions import Helpers
from codeenv.languages.python.named_values import module_literals
from codeenv.languages.python.node_ids import definitions_of, split_id
from codeenv.languages.python.support_modules import find_inherited, modules_for
from codeenv.languages.python.syntax import (
    Function,
    compiles,
    parse_quietly,
    parse_source,
)
from codeenv.languages.python.tables import Table, match_cases, pin_tables, read_tables
from codeenv.languages.python.tidying import (
    drop_functions,
    drop_unused,
    import_pytest,
    loaded_names,
)
from codeenv.languages.values import ControlKind, Controls
from codeenv.tree import Delta, Entry, Tree

_Ids = dict[str, list[str]]
"""Qualified name of a function -> its ids."""


@lru_cache(maxsize=64)
def make_controls(
    tree: Tree,
    test_ids: tuple[str, ...],
    kind: ControlKind,
    *,
    stable: tuple[str, ...] = (),
    variant: int = 0,
    without: tuple[str, ...] = (),
) -> Controls:
    """Return the files of some tests, rewritten; remembered, since every rollout asks for them.

    One assertion of each test changes: the ``variant``-th in an order of its own, round and round,
    so that code which is right about one assertion and cheats in another is caught by some variant.

    Args:
        tree: A tree with the pristine tests.
        test_ids: Tests to rewrite.
        kind: ``same`` changes nothing but spelling and ids.
        stable: All known ids in collection order, to match tables with the ids of their rows.
        variant: From 0; each has expected values of its own.
        without: Tests to take out of the rewritten files, where nothing else needs them.
    """
    wanted = tuple(dict.fromkeys(test_ids))
    files = {split_id(test).path for test in wanted}
    beside = (test for test in (*stable, *without) if split_id(test).path in files)
    known = definitions_of(tree, tuple(dict.fromkeys((*beside, *wanted))))
    every: dict[str, _Ids] = {}
    for test, found in known.items():
        place = found or find_inherited(tree, split_id(test))
        if place is not None and not place.name.startswith("*"):
            every.setdefault(place.path, {}).setdefault(place.name, []).append(test)
    chosen = frozenset(wanted)
    write: dict[str, Entry] = {}
    ids: set[str] = set()
    raising: set[str] = set()
    names: dict[str, str] = {}
    for path, functions in sorted(every.items()):
        if not any(chosen.intersection(tests) for tests in functions.values()):
            continue
        file = _File(tree, path, functions, chosen, frozenset(without))
        data = file.rewritten(kind, variant)
        if data is not None:
            write[path] = Entry(data, tree[path].mode)
            ids |= file.ids & chosen
            names |= {old: new for old, new in file.names.items() if old in chosen}
            raising |= file.raising & chosen
    return Controls(Delta(write), frozenset(ids), names, frozenset(raising))


@dataclass(eq=False)
class _File:
    """One test file on its way."""

    tree: Tree
    path: str
    functions: _Ids
    chosen: frozenset[str]
    without: frozenset[str]
    ids: set[str] = field(default_factory=set)
    raising: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)

    def rewritten(self, kind: ControlKind, variant: int) -> bytes | None:
        """Return the new bytes, or None if the file cannot be rewritten."""
        source = parse_source(self.tree[self.path].data)
        if source is None:
            return None
        module = parse_quietly(source.text)
        gone = {n for n, tests in self.functions.items() if self.without.issuperset(tests)}
        drop_functions(module, {n: f for n, f in _functions(module) if n in gone})
        literals = module_literals(module)
        used = loaded_names(module)
        helpers = Helpers.of((module, *modules_for(self.tree, self.path, module)))
        found = list(_functions(module))
        times = Counter(name for name, _ in found)
        for name, function in found:
            if times[name] == 1 and self.chosen.intersection(self.functions.get(name, ())):
                scope_of = _Rewriting(f"{self.path}::{name}", function, literals, helpers)
                self._note(scope_of.rewrite(self.functions[name], kind, variant))
        drop_unused(module, used & literals.keys(), self.tree, self.path)
        import_pytest(module)
        return _spelt(module)

    def _note(self, result: "_Result") -> None:
        self.ids |= result.ids
        self.raising |= result.ids if result.raising else set()
        self.names |= result.names


@dataclass(eq=False)
class _Result:
    ids: frozenset[str]
    names: Mapping[str, str]
    raising: bool = False


@dataclass(eq=False)
class _Rewriting:
    """One test function on its way."""

    place: str
    function: Function
    literals: Mapping[str, ast.expr]
    helpers: Helpers

    def rewrite(self, ids: Sequence[str], kind: ControlKind, variant: int) -> _Result:
        """Change the function and return which ids that changes, and their new names."""
        tables = read_tables(self.function, self.literals) or ()
        groups: _Ids = {}
        for test in ids:
            groups.setdefault(test.partition("[")[0], []).append(test)
        matched = [match_cases(tables, group) for group in groups.values()]
        cases: dict[str, tuple[int, ...]] = {}
        names: Mapping[str, str] = {}
        if tables and all(match is not None for match in matched):
            for match in matched:
                cases |= match or {}
            names = pin_tables(self.function, tables, cases)
        order = Random(f"{self.place} {kind} {variant}")
        scope = Scope(self.function, self.literals, tables, order, self.helpers)
        change = self._change(Ways(scope), kind, variant)
        if kind == "same":
            return _Result(frozenset(ids), names)
        if change is None:
            return _Result(frozenset(), names)
        change.make()
        return _Result(_changed_ids(change, ids, cases, tables), names, change.raising)

    def _change(self, ways: Ways, kind: ControlKind, variant: int) -> Change | None:
        if kind == "same":
            return None
        found = list(ways.constants() if kind == "constants" else ways.negations())
        Random(f"{self.place} {kind}").shuffle(found)
        return found[variant % len(found)] if found else None


def _changed_ids(
    change: Change,
    ids: Iterable[str],
    cases: Mapping[str, tuple[int, ...]],
    tables: Sequence[Table],
) -> frozenset[str]:
    """Return the ids of the cases that a change reaches."""
    if change.rows is None or len(change.rows) == len(tables[change.table].rows):
        return frozenset(ids)
    return frozenset(t for t in ids if t in cases and cases[t][change.table] in change.rows)


def _functions(module: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the functions at module and class level with their qualified names."""

    def walk(block: Sequence[ast.stmt], before: str) -> Iterator[tuple[str, Function]]:
        for statement in block:
            if isinstance(statement, ast.ClassDef):
                yield from walk(statement.body, f"{before}{statement.name}.")
            elif isinstance(statement, Function):
                yield before + statement.name, statement
            else:
                for inner in suites(statement):
                    yield from walk(inner, before)

    return walk(module.body, "")


def _spelt(module: ast.Module) -> bytes | None:
    """Return the text of a syntax tree, or None where Python cannot write one."""
    try:
        data = (ast.unparse(ast.fix_missing_locations(module)) + "\n").encode()
    except (ValueError, RecursionError):
        return None
    return data if compiles(data) else None

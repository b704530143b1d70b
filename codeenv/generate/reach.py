"""Which tests run which units: the coverage map, seen from the code."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from codeenv.languages.base import CoverageMap, Unit


@dataclass(frozen=True)
class Reach:
    """Which stable tests run each unit, and which units run outside any test.

    Attributes:
        tests: Unit -> indices into ``stable``; for a class, of all its methods together.
        at_import: Units with lines that run while modules are imported.
        stable: The stable ids.
        known: Units whose code can be read elsewhere.
    """

    tests: Mapping[Unit, frozenset[int]]
    at_import: frozenset[Unit]
    stable: tuple[str, ...]
    known: frozenset[Unit] = frozenset()

    def is_free(self, unit: Unit) -> bool:
        """Return whether a unit may go at all.

        Some test runs it, no import does, and it could not be copied from elsewhere.
        """
        stays = unit.protected or unit in self.at_import or unit in self.known
        return not stays and bool(self.tests[unit])

    def of(self, units: Sequence[Unit]) -> frozenset[int]:
        """Return the tests that run any of the units."""
        return frozenset[int]().union(*(self.tests[unit] for unit in units))

    def joint(self, units: Sequence[Unit]) -> frozenset[int]:
        """Return the tests that run more than one function of the units."""
        within = [u for unit in units for u in self._functions(unit)]
        counts = Counter(test for unit in within for test in self.tests[unit])
        return frozenset(test for test, count in counts.items() if count > 1)

    def _functions(self, unit: Unit) -> list[Unit]:
        if unit.kind != "class":
            return [unit]
        return [u for u in self._in_file[unit.path] if u.kind != "class" and contains(unit, u)]

    @cached_property
    def _in_file(self) -> Mapping[str, list[Unit]]:
        found: dict[str, list[Unit]] = {}
        for unit in self.tests:
            found.setdefault(unit.path, []).append(unit)
        return found

    def ids(self, tests: frozenset[int]) -> tuple[str, ...]:
        """Return test ids in stable order."""
        return tuple(self.stable[index] for index in sorted(tests))


def map_reach(units: Sequence[Unit], coverage: CoverageMap, stable: Sequence[str]) -> Reach:
    """Turn line coverage into the tests that reach each unit."""
    position = {test: index for index, test in enumerate(stable)}
    translate = {i: position[t] for i, t in enumerate(coverage.tests) if t in position}
    tests: dict[Unit, frozenset[int]] = {}
    at_import = set()
    for unit in units:
        lines = coverage.lines.get(unit.path, {})
        hits = (index for line in unit.lines for index in lines.get(line, ()))
        tests[unit] = frozenset(translate[i] for i in hits if i in translate)
        if unit.kind != "class" and not coverage.imported.get(unit.path, frozenset()).isdisjoint(
            unit.lines
        ):
            at_import.add(unit)
    for unit in units:
        if unit.kind == "class":
            inner = inside(unit, units)
            tests[unit] = frozenset().union(*(tests[u] for u in inner))
            if any(u in at_import for u in inner):
                at_import.add(unit)
    return Reach(tests, frozenset(at_import), tuple(stable))


def known_units(units: Sequence[Unit], twins: Iterable[tuple[str, int]]) -> frozenset[Unit]:
    """Return the units that hold a function which can be read elsewhere, given by path and line."""
    lines: dict[str, list[int]] = {}
    for path, line in twins:
        lines.setdefault(path, []).append(line)
    return frozenset(
        unit
        for unit in units
        if any(unit.start <= line <= unit.end for line in lines.get(unit.path, ()))
    )


def inside(owner: Unit, units: Sequence[Unit]) -> list[Unit]:
    """Return the units in a class."""
    return [u for u in units if u != owner and contains(owner, u)]


def contains(owner: Unit, unit: Unit) -> bool:
    """Return whether a class holds a unit (or is it)."""
    same = owner.kind == "class" and owner.path == unit.path
    return same and owner.start <= unit.start and unit.end <= owner.end

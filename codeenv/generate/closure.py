"""Closures of units over the tests that reach them.

A closure holds the seed and every unit that only the seed's tests run and that is tied to it by
name, in either direction.  Code that any other test runs stays, so that all else keeps working.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from codeenv.generate.models import Feature, Origin
from codeenv.generate.reach import Reach, contains, inside
from codeenv.languages.base import Unit
from codeenv.tree import Tree

_WORD = re.compile(rb"(\.\s*)?([A-Za-z_][A-Za-z0-9_]*)")
_LINES_ANYWAY, _LINES_PER_TEST = 60, 15
"""A closure grows no further than its tests can tell right from wrong."""
_MOST_FILES = 5
_FEW_UNITS = 2
"""A name that more units have (``parse``, ``render``) ties none of them to its users."""


class Closures:
    """Makes features of a repository's units."""

    def __init__(self, tree: Tree, units: Sequence[Unit], reach: Reach, max_lines: int) -> None:
        """Keep what is known of the units; closures have at most ``max_lines`` lines."""
        self.units, self.reach = units, reach
        self._tree, self._max_lines = tree, max_lines

    def close(self, seed: Unit) -> Feature:
        """Grow a seed by units tied to it that only its tests run, nearest first, in its budget."""
        tests = self.reach.tests[seed]
        budget = min(self._max_lines, max(_LINES_ANYWAY, _LINES_PER_TEST * len(tests)))
        budget -= self.size(seed)
        pool = [u for u in self.units if u != seed and self._may_join(u, tests)]
        members, frontier, files = [seed], [seed], {seed.path}
        while frontier:
            current = frontier.pop(0)
            for unit in [u for u in pool if self.tied(current, u)]:
                cost = self.size(unit)
                if cost <= budget and (unit.path in files or len(files) < _MOST_FILES):
                    files.add(unit.path)
                    pool.remove(unit)
                    members.append(unit)
                    frontier.append(unit)
                    budget -= cost
        return self.feature(seed, members, seed.kind)

    def feature(self, seed: Unit, members: Iterable[Unit], kind: Origin) -> Feature:
        """Return the feature of some units; ones inside others are not named again."""
        every = set(members)
        outer = [u for u in every if not any(o != u and contains(o, u) for o in every)]
        outer.sort(key=lambda u: (u.path, u.start))
        reached = self.reach.of(outer)
        joint = frozenset(self.reach.ids(reached & self.reach.joint(outer)))
        lines = sum(map(self.size, outer))
        return Feature(seed, tuple(outer), self.reach.ids(reached), lines, kind, joint)

    def size(self, unit: Unit) -> int:
        """Return the executable lines of a unit, nested ones included."""
        return self._sizes[unit]

    def tied(self, one: Unit, other: Unit) -> bool:
        """Return whether one names the other; in a class, a name is that class's own.

        A method is named by an attribute: ``next(lines)`` says nothing of a method ``next``.
        """
        own = one.path == other.path and one.parent == other.parent != ""
        return any(
            _called(named) in self._words[user] and (own or _simple(named) not in self._shared)
            for user, named in ((one, other), (other, one))
        )

    def _may_join(self, unit: Unit, tests: frozenset[int]) -> bool:
        return self.reach.is_free(unit) and self.reach.tests[unit] <= tests

    @cached_property
    def _sizes(self) -> Mapping[Unit, int]:
        return {
            unit: len(unit.lines)
            + sum(len(u.lines) for u in inside(unit, self.units) if unit.kind == "class")
            for unit in self.units
        }

    @cached_property
    def _words(self) -> Mapping[Unit, frozenset[str]]:
        lines = {path: self._tree[path].data.splitlines() for path in {u.path for u in self.units}}
        return {
            unit: frozenset(
                word
                for line in lines[unit.path][unit.start - 1 : unit.end]
                for dot, name in _WORD.findall(line)
                for word in ({name.decode(), f".{name.decode()}"} if dot else {name.decode()})
            )
            for unit in self.units
        }

    @cached_property
    def _shared(self) -> frozenset[str]:
        counts = Counter(map(_simple, self.units))
        return frozenset(name for name, count in counts.items() if count > _FEW_UNITS)


def _called(unit: Unit) -> str:
    return f".{_simple(unit)}" if unit.parent else _simple(unit)


def _simple(unit: Unit) -> str:
    return unit.name.rsplit(".", 1)[-1]

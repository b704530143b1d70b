"""Which features a repository has: closures of units over the tests that reach them.

A closure holds the seed and every unit that only the seed's tests run and that is tied to it by
name, in either direction.  Code that any other test runs stays, so that all else keeps working.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codeenv.generate.models import Feature, GenerateOptions
from codeenv.languages.base import CoverageMap, Unit
from codeenv.tree import Tree

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_FEW_TESTS = 3
_ENOUGH = 20
"""With fewer features than this, less good seeds are tried as well."""
_WIDER_SHARES = (0.5, 0.8)
_LINES_ANYWAY, _LINES_PER_TEST = 60, 15
"""A closure grows no further than its tests can tell right from wrong."""
_MOST_FILES = 5
_FEW_UNITS = 2
"""A name that more units have (``parse``, ``render``) ties none of them to its users."""


@dataclass(frozen=True)
class Reach:
    """Which stable tests run each unit, and which units run outside any test.

    Attributes:
        tests: Unit -> indices into ``stable``; for a class, of all its methods together.
        at_import: Units with lines that run while modules are imported.
        stable: The stable ids.
    """

    tests: Mapping[Unit, frozenset[int]]
    at_import: frozenset[Unit]
    stable: tuple[str, ...]


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
            inner = _inside(unit, units)
            tests[unit] = frozenset().union(*(tests[u] for u in inner))
            if any(u in at_import for u in inner):
                at_import.add(unit)
    return Reach(tests, frozenset(at_import), tuple(stable))


def propose_features(
    tree: Tree, units: Sequence[Unit], reach: Reach, options: GenerateOptions
) -> tuple[Feature, ...]:
    """Return distinct features in the order they are to be tried: seeded, spread over the files.

    Public units that a small share of the tests runs come first.  Only a repository with few of
    them gives private units and ones that more of its tests run.
    """
    words = {unit: _words(tree, unit) for unit in units}
    features: dict[str, Feature] = {}
    for tier in _tiers(units, reach, options):
        fresh: dict[str, Feature] = {}
        for seed in tier:
            feature = _close(seed, units, reach, words, options.max_lines)
            if options.min_lines <= feature.line_count <= options.max_lines:
                fresh.setdefault(feature.key, feature)
        for feature in _spread(fresh.values(), options.seed):
            features.setdefault(feature.key, feature)
        if len(features) >= _ENOUGH:
            break
    return tuple(features.values())


def overlap(one: Feature, other: Feature) -> float:
    """Return the Jaccard similarity of two features' code, in lines."""
    shared = len(one.lines & other.lines)
    return shared / (len(one.lines) + len(other.lines) - shared or 1)


def _tiers(units: Sequence[Unit], reach: Reach, options: GenerateOptions) -> Iterator[list[Unit]]:
    """Yield eligible seeds, the best kind first."""
    free = [
        unit
        for unit in units
        if unit.kind in options.kinds and not unit.protected and unit not in reach.at_import
    ]
    total, least = len(reach.stable), 1
    for share in (options.max_share, *(s for s in _WIDER_SHARES if s > options.max_share)):
        most = max(_FEW_TESTS, int(share * total))
        within = [unit for unit in free if least <= len(reach.tests[unit]) <= most]
        yield [unit for unit in within if unit.public]
        yield [unit for unit in within if not unit.public]
        least = most + 1


def _close(
    seed: Unit,
    units: Sequence[Unit],
    reach: Reach,
    words: Mapping[Unit, frozenset[str]],
    max_lines: int,
) -> Feature:
    """Grow the seed by units tied to it that only its tests run, nearest first, within budget."""
    tests = reach.tests[seed]
    most = min(max_lines, max(_LINES_ANYWAY, _LINES_PER_TEST * len(tests)))
    pool = [u for u in units if u != seed and _may_join(u, tests, reach)]
    members, frontier, files = [seed], [seed], {seed.path}
    budget = most - _size(seed, units)
    shared = {n for n, count in Counter(map(_simple, units)).items() if count > _FEW_UNITS}
    while frontier:
        current = frontier.pop(0)
        for unit in [u for u in pool if _tied(current, u, words, shared)]:
            cost = _size(unit, units)
            if cost <= budget and (unit.path in files or len(files) < _MOST_FILES):
                files.add(unit.path)
                pool.remove(unit)
                members.append(unit)
                frontier.append(unit)
                budget -= cost
    outer = [u for u in members if not any(o != u and _contains(o, u) for o in members)]
    outer.sort(key=lambda u: (u.path, u.start))
    ids = tuple(reach.stable[i] for i in sorted(tests))
    return Feature(seed, tuple(outer), ids, sum(_size(u, units) for u in outer))


def _may_join(unit: Unit, tests: frozenset[int], reach: Reach) -> bool:
    reached = reach.tests[unit]
    free = not unit.protected and unit not in reach.at_import
    return free and bool(reached) and reached <= tests


def _tied(one: Unit, other: Unit, words: Mapping[Unit, frozenset[str]], shared: set[str]) -> bool:
    """Return whether one names the other; in a class, a name is that class's own."""
    own = one.path == other.path and one.parent == other.parent != ""
    return any(
        _simple(named) in words[user] and (own or _simple(named) not in shared)
        for user, named in ((one, other), (other, one))
    )


def _simple(unit: Unit) -> str:
    return unit.name.rsplit(".", 1)[-1]


def _size(unit: Unit, units: Sequence[Unit]) -> int:
    inner = _inside(unit, units) if unit.kind == "class" else ()
    return len(unit.lines) + sum(len(u.lines) for u in inner)


def _inside(owner: Unit, units: Sequence[Unit]) -> list[Unit]:
    return [u for u in units if u != owner and _contains(owner, u)]


def _contains(owner: Unit, unit: Unit) -> bool:
    same = owner.kind == "class" and owner.path == unit.path
    return same and owner.start <= unit.start and unit.end <= owner.end


def _words(tree: Tree, unit: Unit) -> frozenset[str]:
    lines = tree[unit.path].data.splitlines()[unit.start - 1 : unit.end]
    return frozenset(word.decode() for line in lines for word in _WORD.findall(line))


def _spread(features: Iterable[Feature], seed: int) -> list[Feature]:
    """Shuffle within each file, then take one file after the other."""
    by_path: dict[str, list[Feature]] = {}
    for feature in sorted(features, key=lambda f: (f.seed.path, f.seed.start, f.key)):
        by_path.setdefault(feature.seed.path, []).append(feature)
    random_source = random.Random(seed)
    queues = list(by_path.values())
    random_source.shuffle(queues)
    for queue in queues:
        random_source.shuffle(queue)
    longest = max((len(queue) for queue in queues), default=0)
    return [queue[i] for i in range(longest) for queue in queues if i < len(queue)]

"""Which features a repository has, and in which order they are tried."""

import random
from collections.abc import Iterable, Iterator, Sequence

from codeenv.generate.closure import Closures
from codeenv.generate.clusters import cluster_features
from codeenv.generate.merging import merged_features
from codeenv.generate.models import Feature, GenerateOptions
from codeenv.generate.modules import Seeds, module_features, plugin_features
from codeenv.generate.reach import Reach
from codeenv.languages.base import Unit
from codeenv.tree import Tree

_FEW_TESTS = 3
_ENOUGH = 20
"""With fewer features than this, less good seeds are tried as well."""
_WIDER_SHARES = (0.5, 0.8)
_NO_SEEDS = Seeds()


def propose_features(
    tree: Tree,
    units: Sequence[Unit],
    reach: Reach,
    options: GenerateOptions,
    seeds: Seeds = _NO_SEEDS,
    parameters: Iterable[Feature] = (),
) -> tuple[Feature, ...]:
    """Return distinct features in the order they are to be tried, all kinds mixed."""
    closures = Closures(tree, units, reach, options.max_lines)
    wanted = frozenset(options.kinds)
    single = single_features(closures, options)
    modules = _fitting(module_features(seeds, closures, options), options)
    plugins = _fitting(plugin_features(seeds, closures, options), options)
    named = {feature.key for feature in plugins}
    asked_for = [f for f in single if f.kind in wanted and f.key not in named]
    tests = _fitting(cluster_features(closures, options), options) if "tests" in wanted else []
    merged = merged_features(single, closures, options) if "merged" in wanted else ()
    features: dict[str, Feature] = {}
    chosen = parameters if "parameter" in wanted else ()
    more = [_spread(found, options.seed) for found in (plugins, modules, tests)]
    last = _spread(chosen, options.seed)
    for feature in _mixed(asked_for, *more, list(merged), last):
        features.setdefault(feature.key, feature)
    return tuple(features.values())


def overlap(one: Feature, other: Feature) -> float:
    """Return the Jaccard similarity of two features' code, in lines.

    Tasks that tell their agents different things of the same code are not alike.
    """
    if one.level != other.level:
        return 0.0
    shared = len(one.lines & other.lines)
    return shared / (len(one.lines) + len(other.lines) - shared or 1)


def single_features(closures: Closures, options: GenerateOptions) -> list[Feature]:
    """Return the closures of single units, seeded, spread over the files.

    Public units that a small share of the tests runs come first.  Only a repository with few of
    them gives private units and ones that more of its tests run.
    """
    features: dict[str, Feature] = {}
    for tier in _tiers(closures, options):
        fresh: dict[str, Feature] = {}
        for feature in _fitting(map(closures.close, tier), options):
            fresh.setdefault(feature.key, feature)
        for feature in _spread(fresh.values(), options.seed):
            features.setdefault(feature.key, feature)
        if sum(feature.kind in options.kinds for feature in features.values()) >= _ENOUGH:
            break
    return list(features.values())


def _tiers(closures: Closures, options: GenerateOptions) -> Iterator[list[Unit]]:
    """Yield eligible seeds, the best kind first."""
    reach = closures.reach
    free = [unit for unit in closures.units if reach.is_free(unit)]
    total, least = len(reach.stable), 1
    for share in (options.max_share, *(s for s in _WIDER_SHARES if s > options.max_share)):
        most = max(_FEW_TESTS, int(share * total))
        within = [unit for unit in free if least <= len(reach.tests[unit]) <= most]
        yield [unit for unit in within if unit.public]
        yield [unit for unit in within if not unit.public]
        least = most + 1


def _fitting(features: Iterable[Feature], options: GenerateOptions) -> list[Feature]:
    return [f for f in features if options.min_lines <= f.line_count <= options.max_lines]


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


def _mixed(*kinds: Sequence[Feature]) -> list[Feature]:
    """Return the features of all kinds, so that any beginning holds them in proportion."""
    places = [
        ((index + 0.5) / len(features), kind, feature)
        for kind, features in enumerate(kinds)
        for index, feature in enumerate(features)
    ]
    return [feature for _, _, feature in sorted(places, key=lambda place: place[:2])]

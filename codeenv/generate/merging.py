"""Harder features: two neighbours in one, across files where the code is tied."""

import random
from collections.abc import Iterator, Sequence

from codeenv.generate.closure import Closures
from codeenv.generate.models import Feature, GenerateOptions

_MOST_SHARE = 0.5


def merged_features(
    features: Sequence[Feature], closures: Closures, options: GenerateOptions
) -> Iterator[Feature]:
    """Yield unions of two features each, no feature in two of them.

    Partners name one another, share tests, a class or a file; a partner in another file comes
    before an equally near one in the same.
    """
    order = list(features)
    random.Random(options.seed).shuffle(order)
    used: set[str] = set()
    for one in order:
        if one.key in used:
            continue
        free = [f for f in order if f.key not in used and f.key != one.key]
        for other, both in unions(one, free, closures, options):
            used |= {one.key, other.key}
            yield both
            break


def unions(
    one: Feature, others: Sequence[Feature], closures: Closures, options: GenerateOptions
) -> Iterator[tuple[Feature, Feature]]:
    """Yield its kin with the union of both, the nearest first, as far as they fit."""
    near = [(_kinship(one, f, closures), -i, f) for i, f in enumerate(others)]
    for kinship, _, other in sorted(near, key=lambda n: n[:2], reverse=True):
        if kinship <= 0:
            break
        both = closures.feature(one.seed, (*one.members, *other.members), "merged")
        if _fits(both, closures, options):
            yield other, both


def _kinship(one: Feature, other: Feature, closures: Closures) -> float:
    if one.lines & other.lines:
        return 0.0
    shared = len(one.test_set & other.test_set)
    common = shared / (len(one.tests) + len(other.tests) - shared or 1)
    tied = any(closures.tied(u, v) for u in one.members for v in other.members)
    same_file = one.seed.path == other.seed.path
    same_class = same_file and one.seed.parent == other.seed.parent != ""
    apart = not same_file and (tied or common > 0)
    return 2 * tied + common + 0.5 * same_class + 0.25 * same_file + 0.75 * apart


def _fits(both: Feature, closures: Closures, options: GenerateOptions) -> bool:
    most = max(options.max_share, _MOST_SHARE) * len(closures.reach.stable)
    return both.line_count <= options.max_lines and len(both.tests) <= most

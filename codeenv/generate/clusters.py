"""Features named by tests: code that only the tests of one class, file or name prefix run."""

from collections.abc import Iterator, Mapping, Sequence

from codeenv.generate.closure import Closures
from codeenv.generate.models import Feature, GenerateOptions
from codeenv.languages.base import Unit

_LEAST_TESTS, _LEAST_MEMBERS = 2, 2
_PREFIX_WORDS = 2
"""``test_color_names`` and ``test_color_codes`` are about the same."""


def cluster_features(closures: Closures, options: GenerateOptions) -> Iterator[Feature]:
    """Yield a feature per group of tests that share code of their own, in the order of the tests.

    The seed, by which the feature is named, is the public unit that most of the tests run.
    """
    reach = closures.reach
    most = int(options.max_share * len(reach.stable))
    for group in _groups(reach.stable).values():
        if not _LEAST_TESTS <= len(group) <= most:
            continue
        members = _members(closures, frozenset(group))
        if len(members) < _LEAST_MEMBERS:
            continue
        seed = max(members, key=lambda u: (u.public, len(reach.tests[u]), closures.size(u)))
        yield closures.feature(seed, members, "tests")


def _groups(stable: Sequence[str]) -> Mapping[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for index, test in enumerate(stable):
        for label in _labels(test):
            groups.setdefault(label, []).append(index)
    return groups


def _labels(test: str) -> Iterator[str]:
    """Yield what a test belongs to: its file, its classes, the first words of its name."""
    *owners, name = test.partition("[")[0].split("::")
    for depth in range(1, len(owners) + 1):
        yield "::".join(owners[:depth])
    words = name.split("_")
    if len(words) > _PREFIX_WORDS:
        yield "::".join((*owners, "_".join(words[:_PREFIX_WORDS]) + "_"))


def _members(closures: Closures, tests: frozenset[int]) -> list[Unit]:
    """Return the units that only these tests run; a class that goes whole stands for its methods.

    A class goes whole only if nothing else uses any of it: its methods are then all members.
    """
    reach = closures.reach
    return [u for u in closures.units if reach.is_free(u) and reach.tests[u] <= tests]

"""The order in which the tests of a feature tell most of it."""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from codeenv.generate.models import Feature, lines_in
from codeenv.languages.base import CoverageMap

_STEPS = 16


def ranked_tests(feature: Feature, coverage: CoverageMap) -> tuple[str, ...]:
    """Return a feature's tests so that any first ones run as many of its parts as they can.

    Every part has its turn, with tests from the whole length of the suite.
    """
    running = [coverage.running(lines_in(unit)) for unit in feature.members]
    turns = [list(_spread([t for t in feature.tests if t in its])) for its in running]
    taken = chain.from_iterable(zip_longest(*turns))
    return tuple(dict.fromkeys(t for t in (*taken, *feature.tests) if t is not None))


def _spread(tests: Sequence[str]) -> Iterator[str]:
    """Yield every sixteenth of many tests, then the ones behind these, and so on."""
    step = max(1, len(tests) // _STEPS)
    for start in range(step):
        yield from tests[start::step]

"""The order in which the tests of a feature tell most of it."""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from codeenv.generate.models import Feature
from codeenv.languages.base import CoverageMap, Unit

_STEPS = 16


def ranked_tests(feature: Feature, coverage: CoverageMap) -> tuple[str, ...]:
    """Return a feature's tests so that any first ones run as many of its parts as they can.

    Every part has its turn, with tests from the whole length of the suite.
    """
    turns = [list(_spread(_tests_of(unit, feature, coverage))) for unit in feature.members]
    taken = chain.from_iterable(zip_longest(*turns))
    return tuple(dict.fromkeys(t for t in (*taken, *feature.tests) if t is not None))


def _tests_of(unit: Unit, feature: Feature, coverage: CoverageMap) -> list[str]:
    lines = coverage.lines.get(unit.path, {})
    run = {index for line in range(unit.start, unit.end + 1) for index in lines.get(line, ())}
    names = {coverage.tests[index] for index in run}
    return [test for test in feature.tests if test in names]


def _spread(tests: Sequence[str]) -> Iterator[str]:
    """Yield every sixteenth of many tests, then the ones behind these, and so on."""
    step = max(1, len(tests) // _STEPS)
    for start in range(step):
        yield from tests[start::step]

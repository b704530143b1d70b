"""Which of very many tests are tried with every version of a feature."""

from codeenv.generate.models import Feature
from codeenv.generate.ranking import ranked_tests
from codeenv.languages.base import CoverageMap, Unit

LARGE = Unit("m.py", "large", "function", 1, 2, 4, (2, 3, 4))
SMALL = Unit("m.py", "small", "function", 6, 7, 7, (7,))
TESTS = tuple(f"t.py::test_{n:03}" for n in range(200))
FEW = frozenset({150, 151})
COVERAGE = CoverageMap(TESTS, {"m.py": {3: frozenset(range(200)) - FEW, 7: FEW}}, {})


def ranked(*members, tests=TESTS):
    return ranked_tests(Feature(members[0], members, tests, 4, "merged"), COVERAGE)


def test_every_test_is_there_once():
    assert sorted(ranked(LARGE, SMALL)) == sorted(TESTS)


def test_the_tests_of_a_small_part_are_among_the_first():
    first = ranked(LARGE, SMALL)[:6]
    assert {TESTS[n] for n in FEW} <= {*first}


def test_the_first_come_from_the_whole_length_of_the_suite():
    first = sorted(ranked(LARGE)[:16])
    assert first[0] < TESTS[20]
    assert first[-1] > TESTS[170]


def test_tests_that_run_no_line_come_last():
    alone = Feature(SMALL, (SMALL,), (TESTS[3], TESTS[150]), 1, "function")
    assert ranked_tests(alone, COVERAGE) == (TESTS[150], TESTS[3])

"""Whether the tests that reward speak of the whole feature."""

import pytest

from codeenv.generate.decided import demand_decided
from codeenv.generate.models import Deletion, Feature, Proof, Reason, Rejected
from codeenv.languages.base import CoverageMap, Unit
from codeenv.tree import Tree

ONE = Unit("m.py", "one", "function", 1, 2, 2, (2,))
OTHER = Unit("m.py", "other", "function", 4, 5, 5, (5,))
TESTS = ("t.py::test_one", "m.py::m.other")


def proof(*rewarding: str) -> Proof:
    feature = Feature(ONE, (ONE, OTHER), TESTS, 2, "merged")
    weak = tuple(test for test in TESTS if test not in rewarding)
    return Proof(Deletion(feature, "stub", (), Tree({})), rewarding, weak)


def coverage(*, other: frozenset[int]) -> CoverageMap:
    return CoverageMap(TESTS, {"m.py": {2: frozenset({0}), 5: other}}, {})


def test_a_part_that_only_a_weak_test_runs_makes_no_task():
    with pytest.raises(Rejected, match="other") as error:
        demand_decided(proof(TESTS[0]), coverage(other=frozenset({1})))
    assert error.value.reason == Reason.WEAK_TESTS


def test_a_part_that_a_rewarding_test_runs_or_none_at_all_is_fine():
    demand_decided(proof(TESTS[0]), coverage(other=frozenset({0, 1})))
    demand_decided(proof(TESTS[0]), coverage(other=frozenset()))
    demand_decided(proof(*TESTS), coverage(other=frozenset({1})))

"""Whether the tests that reward speak of the whole feature."""

import pytest

from codeenv.generate.decided import demand_decided
from codeenv.generate.models import Deletion, Feature, Proof, Reason, Rejected
from codeenv.languages.base import CoverageMap, Unit
from codeenv.tree import Tree

SEED = Unit("m.py", "seed", "function", 1, 2, 4, (2, 3, 4))
OTHER = Unit("m.py", "other", "function", 6, 7, 7, (7,))
LONG = Unit("m.py", "long", "function", 6, 7, 8, (7, 8))
TESTS = ("t.py::test_one", "m.py::m.other")


def proof(*rewarding: str, seed: Unit = SEED, other: Unit = OTHER) -> Proof:
    count = len(seed.lines) + len(other.lines)
    feature = Feature(seed, (seed, other), TESTS, count, "merged")
    weak = tuple(test for test in TESTS if test not in rewarding)
    return Proof(Deletion(feature, "stub", (), Tree({})), rewarding, weak)


def coverage(*, other: frozenset[int]) -> CoverageMap:
    return CoverageMap(TESTS, {"m.py": {2: frozenset({0}), 7: other}}, {})


def test_a_good_part_that_only_a_weak_test_runs_makes_no_task():
    with pytest.raises(Rejected, match="long") as error:
        demand_decided(proof(TESTS[0], other=LONG), coverage(other=frozenset({1})))
    assert error.value.reason == Reason.WEAK_TESTS


def test_nor_does_a_seed_that_only_a_weak_test_runs():
    with pytest.raises(Rejected, match="other"):
        demand_decided(proof(TESTS[0], seed=OTHER, other=SEED), coverage(other=frozenset({1})))


def test_a_small_part_that_only_a_weak_test_runs_is_fine():
    demand_decided(proof(TESTS[0]), coverage(other=frozenset({1})))


def test_a_part_that_a_rewarding_test_runs_or_none_at_all_is_fine():
    demand_decided(proof(TESTS[0], other=LONG), coverage(other=frozenset({0, 1})))
    demand_decided(proof(TESTS[0], other=LONG), coverage(other=frozenset()))
    demand_decided(proof(*TESTS, other=LONG), coverage(other=frozenset({1})))

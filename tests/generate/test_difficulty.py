"""The prior, and what a range of it keeps out."""

import pytest

from codeenv.generate.difficulty import demand_reachable, demand_within, rate
from codeenv.generate.models import Deletion, Feature, Reason, Rejected
from codeenv.generate.workbench import Workbench
from codeenv.images import bundled_environment
from codeenv.languages import detect_language
from codeenv.materialise.operations import apply_operations
from codeenv.tree import Entry, Tree

CODE = b"""\
def small(x):
    return x + 1


def large(x, y):
    total = 0
    for n in range(x):
        if n % 2 and y:
            total += n if y > 1 else small(n)
    while total > 10:
        total -= 3
    return total


def user():
    return large(1, 2) + large(3, 4) + 5
"""
TREE = Tree(
    {"m.py": Entry(CODE), "test_m.py": Entry(b"import m\n\n\ndef test_m():\n    m.user()\n")}
)
TESTS = tuple(f"test_m.py::test_{n}" for n in range(8))


@pytest.fixture(scope="module")
def bench(local_backend):
    language = detect_language(TREE)
    environment = bundled_environment(local_backend)
    return Workbench(TREE, language, language.layout(TREE), environment, local_backend)


@pytest.fixture(scope="module")
def deletion(bench):
    def of(*names, mode="stub", joint=()):
        units = bench.language.units(TREE, bench.layout)
        members = tuple(u for u in units if u.name in names)
        lines = sum(len(u.lines) for u in members)
        feature = Feature(members[0], members, TESTS, lines, "function", frozenset(joint))
        edits = bench.language.delete(TREE, bench.layout, members, "stub")
        return Deletion(feature, mode, edits, apply_operations(TREE, edits))

    return of


def test_decisions_and_call_sites_are_counted(bench, deletion):
    found = rate(bench, deletion("large"), TESTS[:2], "L3")
    assert (found.branches, found.call_sites, found.tests) == (5, 2, 2)
    assert rate(bench, deletion("small", "large"), TESTS, "L3").call_sites == 2


def test_the_share_of_tests_that_need_more_than_one_function_is_of_those_that_reward(
    bench, deletion
):
    found = rate(bench, deletion("small", "large", joint=TESTS[:3]), TESTS[2:6], "L3")
    assert found.joint == 0.25


def test_more_code_less_told_and_signatures_gone_look_harder(bench, deletion):
    def prior(*names, level="L3", mode="stub"):
        return rate(bench, deletion(*names, mode=mode), TESTS, level).prior

    assert prior("small") < prior("large") < prior("small", "large")
    levels = [prior("large", level=level) for level in ("L5", "L4", "L3", "L2", "L1")]
    assert levels == sorted(set(levels))
    assert prior("large") < prior("large", mode="remove")


def test_a_task_outside_the_range_is_refused_with_its_prior(bench, deletion):
    found = rate(bench, deletion("large"), TESTS, "L3")
    demand_within(found, (found.prior, found.prior))
    with pytest.raises(Rejected) as refused:
        demand_within(found, (0.9, 1.0))
    assert refused.value.reason == Reason.DIFFICULTY
    assert f"{found.prior:.3f}" in refused.value.detail


def test_what_cannot_come_into_the_range_is_not_tried(bench, deletion):
    modes = [deletion("large", mode="remove"), deletion("large")]
    with pytest.raises(Rejected, match="difficulty"):
        demand_reachable(bench, modes, "L3", (0.9, 1.0))
    easy, hard = (rate(bench, d, TESTS, "L3").prior for d in reversed(modes))
    assert demand_reachable(bench, modes, "L3", (0.0, 1.0)) == modes
    for prior in (easy, hard):
        assert demand_reachable(bench, modes, "L3", (prior, prior))


@pytest.mark.parametrize("count", range(1, 9))
def test_whatever_tests_reward_the_task_was_within_reach(bench, deletion, count):
    one = deletion("small", "large", joint=TESTS[:4])
    for tests in (TESTS[:count], TESTS[-count:]):
        prior = rate(bench, one, tests, "L2").prior
        assert demand_reachable(bench, [one], "L2", (prior, prior)) == [one]

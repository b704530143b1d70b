"""What the suite says about a deletion, with a real runner on a small repository of our own."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from codeenv.generate.deletion import deletions
from codeenv.generate.models import Deletion, Feature, Proof, Reason, Rejected
from codeenv.generate.proof import Prover
from codeenv.generate.sieve import Sieve
from codeenv.generate.workbench import Workbench
from codeenv.images import bundled_environment
from codeenv.languages import detect_language
from codeenv.languages.base import CoverageMap
from codeenv.materialise.operations import apply_operations
from codeenv.tasks.models import Baseline, SourcePin
from codeenv.tree import Entry, Tree

CODE = b"""\
import os

LOG = []


def double(x):
    y = x + x
    LOG.append(y)
    return y


def note(x):
    LOG.append("note")
    LOG.append(x)
    return None


def drain(items):
    while items:
        pop(items)
    return items


def pop(items):
    if items:
        return items.pop()
    return None


def hidden_user(x):
    a = double(x)
    return a


def alone(x):
    x += 1
    return x


def price(size):
    prices = (10, 20, 30, 40, 50, 60, 70)
    return prices[size]


def fuse(x):
    y = x + 1
    return y


def guarded(x):
    try:
        return fuse(x)
    except NotImplementedError:
        os._exit(0)
"""
TESTS = b"""\
from shop import double, drain, guarded, hidden_user, note, pop, price


def test_double():
    assert double(2) == 4


def test_double_grows():
    assert double(3) > 3


def test_note():
    assert note(1) is None


def test_drain():
    assert drain([1, 2]) == []


def test_hidden_user():
    assert hidden_user(2) == 4


def test_constant():
    assert True


def test_price():
    assert price(0) == 10


def test_guarded():
    assert guarded(1) == 2
"""
ALONE = b"from shop import alone\n\n\ndef test_alone():\n    assert alone(1) == 2\n"
TREE = Tree(
    {
        "shop.py": Entry(CODE),
        "tests/test_alone.py": Entry(ALONE),
        "tests/test_shop.py": Entry(TESTS),
        "pyproject.toml": Entry(b'[project]\nname = "shop"\nversion = "1"\n'),
    }
)
ALL = ("double", "double_grows", "note", "drain", "hidden_user", "constant", "price", "guarded")


ALONE_ID = "tests/test_alone.py::test_alone"


def test_id(name):
    return f"tests/test_shop.py::test_{name}"


test_id.__test__ = False


@pytest.fixture(scope="module")
def bench(local_backend):
    language = detect_language(TREE)
    environment = bundled_environment(local_backend)
    return Workbench(TREE, language, language.layout(TREE), environment, local_backend)


@pytest.fixture(scope="module")
def baseline(bench):
    pin = SourcePin(kind="path", location="/shop", sha256=TREE.digest, tree=TREE.digest)
    return Baseline(
        source=pin,
        environment=bench.environment.digest,
        runs=1,
        stable=(*(test_id(name) for name in ALL), ALONE_ID),
        quarantined={},
        timeout=60,
        test_timeout=5,
    )


def feature(bench, symbol, *tests):
    units = bench.language.units(TREE, bench.layout)
    unit = next(u for u in units if u.name == symbol)
    return Feature(unit, (unit,), tuple(test_id(t) for t in tests), len(unit.lines), unit.kind)


def delete(bench, wanted, mode):
    edits = bench.language.delete(TREE, bench.layout, wanted.members, mode)
    return Deletion(wanted, mode, edits, apply_operations(TREE, edits))


def prove_all(bench, baseline, *wanted, mode="stub"):
    with ThreadPoolExecutor(2) as pool:
        every = dict.fromkeys(range(99), frozenset({0}))
        sieve = Sieve(bench, baseline, pool, CoverageMap(("t",), {"shop.py": every}, {}))
        prover = Prover(bench, baseline, pool, sieve)
        return prover.prove([delete(bench, w, mode) for w in wanted])


def prove(bench, baseline, wanted):
    (proof,) = prove_all(bench, baseline, wanted)
    assert isinstance(proof, Proof)
    return proof


def rejected(bench, baseline, wanted):
    (found,) = prove_all(bench, baseline, wanted)
    assert isinstance(found, Rejected)
    return found


def test_tests_that_fail_without_the_feature_become_fail_to_pass(bench, baseline):
    wanted = feature(bench, "double", "double", "double_grows", "hidden_user")
    proof = prove(bench, baseline, wanted)
    assert proof.fail_to_pass == wanted.tests
    assert proof.excluded == ()


def test_a_deletion_that_breaks_a_test_it_was_not_predicted_to_is_refused(bench, baseline):
    found = rejected(bench, baseline, feature(bench, "double", "double", "double_grows"))
    assert found.reason == Reason.BREAKS_OTHERS
    assert "test_hidden_user" in found.detail


def test_a_test_that_code_returning_nothing_passes_is_no_reward(bench, baseline):
    found = rejected(bench, baseline, feature(bench, "note", "note"))
    assert found.reason == Reason.WEAK_TESTS


def test_a_feature_whose_tests_miss_most_small_changes_is_refused(bench, baseline):
    found = rejected(bench, baseline, feature(bench, "price", "price"))
    assert found.reason == Reason.WEAK_TESTS
    assert "4 of 6 small changes go unnoticed: shop.py:" in found.detail


def test_a_deletion_that_no_test_notices_is_refused(bench, baseline):
    found = rejected(bench, baseline, feature(bench, "double", "constant"))
    assert found.reason == Reason.NO_FAILURE


def test_code_that_returns_nothing_and_makes_a_caller_loop_does_not_hang(bench, baseline):
    proof = prove(bench, baseline, feature(bench, "pop", "drain"))
    assert proof.fail_to_pass == (test_id("drain"),)


def test_a_deletion_without_which_the_suite_ends_early_is_refused(bench, baseline):
    """Also where the process says that all is well."""
    found = rejected(bench, baseline, feature(bench, "fuse", "guarded"))
    assert found.reason == Reason.CRASHES


def test_removing_is_not_tried_where_the_name_is_still_used(bench):
    wanted = feature(bench, "pop", "drain")
    assert [d.mode for d in deletions(bench, wanted)] == ["stub"]


def test_a_deletion_that_breaks_others_does_not_spoil_the_runs_it_shares(bench, baseline):
    bad = feature(bench, "double", "double", "double_grows")
    good = [feature(bench, "pop", "drain"), feature(bench, "hidden_user", "hidden_user")]
    found = prove_all(bench, baseline, bad, *good)
    assert isinstance(found[0], Rejected)
    assert found[0].reason == Reason.BREAKS_OTHERS
    assert [p.fail_to_pass for p in found[1:]] == [(test_id("drain"),), (test_id("hidden_user"),)]


def test_a_test_file_of_the_feature_alone_may_miss_what_was_removed(bench, baseline):
    wanted = replace(feature(bench, "alone"), tests=(ALONE_ID,))
    (proof,) = prove_all(bench, baseline, wanted, mode="remove")
    assert proof.fail_to_pass == (ALONE_ID,)


def test_a_test_file_with_other_tests_may_not(bench, baseline):
    wanted = feature(bench, "hidden_user", "hidden_user")
    (found,) = prove_all(bench, baseline, wanted, mode="remove")
    assert found.reason == Reason.BREAKS_COLLECTION
    assert "cannot import name 'hidden_user'" in found.detail


def test_every_other_test_is_seen_to_pass_without_each_deletion(bench, baseline):
    """Also the tests of the deletions that share a run."""
    seen = []

    class Watched(Workbench):
        def run(self, request, tree=None, **more):
            run = super().run(request, tree, **more)
            seen.append((tree, run.passed))
            return run

    watched = Watched(**vars(bench))
    wanted = [feature(bench, "pop", "drain"), feature(bench, "hidden_user", "hidden_user")]
    proofs = prove_all(watched, baseline, *wanted)
    for proof in proofs:
        others = set(baseline.stable) - {*proof.fail_to_pass, *proof.excluded}
        lost = proof.deletion.damaged["shop.py"].data
        assert others <= {
            test for tree, passed in seen if _misses(tree, proof, lost) for test in passed
        }


def _misses(tree, proof, lost):
    """Whether a tree lacks what a deletion takes out."""
    name = proof.deletion.feature.seed.name.encode()
    stub = lost[lost.index(b"def " + name) :].split(b"\n\n")[0]
    return stub in tree["shop.py"].data

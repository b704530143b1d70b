"""What the suite says about a deletion, with a real runner on a small repository of our own."""

import pytest

from codeenv.generate.deletion import deletions
from codeenv.generate.models import Deletion, Feature, Reason, Rejected
from codeenv.generate.proof import prove
from codeenv.generate.workbench import Workbench
from codeenv.images import bundled_environment
from codeenv.languages import detect_language
from codeenv.materialise.operations import apply_operations
from codeenv.tasks.models import Baseline, SourcePin
from codeenv.tree import Entry, Tree

CODE = b"""\
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
"""
TESTS = b"""\
from shop import double, drain, hidden_user, note, pop


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
"""
TREE = Tree(
    {
        "shop.py": Entry(CODE),
        "tests/test_shop.py": Entry(TESTS),
        "pyproject.toml": Entry(b'[project]\nname = "shop"\nversion = "1"\n'),
    }
)
ALL = ("double", "double_grows", "note", "drain", "hidden_user", "constant")


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
        stable=tuple(test_id(name) for name in ALL),
        quarantined={},
        timeout=60,
        test_timeout=5,
    )


def feature(bench, symbol, *tests):
    units = bench.language.units(TREE, bench.layout)
    unit = next(u for u in units if u.name == symbol)
    return Feature(unit, (unit,), tuple(test_id(t) for t in tests), len(unit.lines), unit.kind)


def stub(bench, wanted):
    edits = bench.language.delete(TREE, bench.layout, wanted.members, "stub")
    return Deletion(wanted, "stub", edits, apply_operations(TREE, edits))


def rejected(bench, baseline, wanted):
    with pytest.raises(Rejected) as caught:
        prove(bench, stub(bench, wanted), baseline)
    return caught.value


def test_tests_that_fail_without_the_feature_become_fail_to_pass(bench, baseline):
    wanted = feature(bench, "double", "double", "double_grows", "hidden_user")
    proof = prove(bench, stub(bench, wanted), baseline)
    assert proof.fail_to_pass == wanted.tests
    assert proof.excluded == ()


def test_a_deletion_that_breaks_a_test_it_was_not_predicted_to_is_refused(bench, baseline):
    found = rejected(bench, baseline, feature(bench, "double", "double", "double_grows"))
    assert found.reason == Reason.BREAKS_OTHERS
    assert "test_hidden_user" in found.detail


def test_a_test_that_code_returning_nothing_passes_is_no_reward(bench, baseline):
    found = rejected(bench, baseline, feature(bench, "note", "note"))
    assert found.reason == Reason.WEAK_TESTS


def test_a_deletion_that_no_test_notices_is_refused(bench, baseline):
    found = rejected(bench, baseline, feature(bench, "double", "constant"))
    assert found.reason == Reason.NO_FAILURE


def test_code_that_returns_nothing_and_makes_a_caller_loop_does_not_hang(bench, baseline):
    proof = prove(bench, stub(bench, feature(bench, "pop", "drain")), baseline)
    assert proof.fail_to_pass == (test_id("drain"),)


def test_removing_is_not_tried_where_the_name_is_still_used(bench):
    wanted = feature(bench, "pop", "drain")
    assert [d.mode for d in deletions(bench, wanted)] == ["stub"]

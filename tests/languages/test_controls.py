"""Negative controls, run for real: what is right passes the real tests and fails every control."""

import ast

import pytest

from codeenv.languages.base import TestRequest
from codeenv.languages.python.controls import make_controls
from codeenv.tree import Delta, Tree
from tests.languages.control_forms import METHODS, NEGATION_ONLY, PATH, PLAIN, TREE, spelt


@pytest.fixture(scope="module")
def runs(python, local_backend, host_python):
    """Runs the tests of the tree with a delta applied."""

    def go(delta: Delta = Delta(), ids=None):  # noqa: B008 - a frozen value
        with local_backend.open(host_python, TREE, role="grader") as box:
            box.apply(delta)
            return python.run_tests(box, host_python, TestRequest(ids, shuffle_seed=None))

    return go


@pytest.fixture(scope="module")
def stable(runs):
    """All tests, which pass."""
    found = runs()
    assert found.passed == frozenset(found.collected)
    return found.collected


@pytest.fixture(scope="module")
def same_run(runs, stable):
    """A run of the real tests after rewriting."""
    return runs(rewritten(stable, "same").delta)


def rewritten(stable, kind, variant=0):
    return make_controls(TREE, tuple(stable), kind, stable=tuple(stable), variant=variant)


def test_the_real_tests_pass_after_the_same_rewriting(same_run, stable):
    same, found = rewritten(stable, "same"), same_run
    assert same.ids == frozenset(stable)
    assert found.passed == {same.name_of(test) for test in stable}
    assert found.collected == tuple(same.name_of(test) for test in stable)


@pytest.mark.parametrize("kind", ["constants", "negation"])
@pytest.mark.parametrize("variant", [0, 1])
def test_what_is_right_fails_every_control_under_the_same_ids(
    runs, same_run, stable, kind, variant
):
    controls = rewritten(stable, kind, variant)
    found = runs(controls.delta)
    renamed = {controls.name_of(test) for test in controls.ids}
    assert found.collected == same_run.collected
    assert not {test for test in renamed if found.results[test].outcome == "passed"}
    for test in controls.ids - controls.raising:
        message = found.results[controls.name_of(test)].message
        assert message.startswith(("AssertionError", "Failed")), (test, message)


@pytest.mark.parametrize("name", [*map(spelt, PLAIN), *map(spelt, METHODS)])
@pytest.mark.parametrize("kind", ["constants", "negation"])
def test_every_form_of_assertion_has_both_controls(stable, name, kind):
    wanted = {test for test in stable if test.split("::")[-1] == name}
    assert wanted
    assert wanted <= rewritten(stable, kind).ids


@pytest.mark.parametrize("name", [spelt(n) for n in NEGATION_ONLY])
def test_what_another_right_solution_could_pass_is_no_control(stable, name):
    wanted = f"{PATH}::{name}"
    assert wanted in rewritten(stable, "negation").ids
    assert wanted not in rewritten(stable, "constants").ids


def test_every_row_of_a_table_is_controlled(stable):
    constants = rewritten(stable, "constants")
    rows = [test for test in stable if "[" in test]
    assert len(rows) == 15
    alone = {test for test in rows if "reads_its_id" in test}
    assert not set(rows) - constants.ids - alone


def test_ids_do_not_tell_what_is_expected(stable):
    names = rewritten(stable, "same").names
    assert names[f"{PATH}::test_rows[A B-a-b]"] == f"{PATH}::test_rows[row0]"
    assert names[f"{PATH}::test_stacked[upper-+]"] == f"{PATH}::test_stacked[row1-row0]"
    assert not [test for test in names if "reads_its_id" in test]
    assert len(set(names.values())) == len(names)


def test_one_assertion_of_a_test_changes_and_the_variants_take_turns(tree_of):
    text = 'def test_it():\n    assert f(1) == "one"\n    assert f(2) == "two"\n'
    tree = tree_of({"test_it.py": text})
    found = [_constants(tree, ("test_it.py::test_it",), v) for v in range(4)]
    assert all(("'one'" in each) != ("'two'" in each) for each in found)
    assert ("'one'" in found[0]) != ("'one'" in found[1])
    assert found[0] != found[2]


def test_only_the_wanted_tests_change(tree_of):
    text = 'def test_a():\n    assert f() == "a"\n\n\ndef test_b():\n    assert f() == "b"\n'
    found = _constants(tree_of({"test_it.py": text}), ("test_it.py::test_a",))
    assert "'b'" in found
    assert "'a'" not in found


def test_what_is_known_of_a_file_stays(stable):
    text = rewritten(stable, "negation").delta.write[PATH].data.decode()
    module = ast.parse(text)
    assert ast.get_docstring(module) == "Tests of the words."
    assert "from __future__ import annotations" in text
    assert "def check(text, expected):" in text


def test_the_same_request_gives_the_same_bytes(stable):
    first = rewritten(stable, "constants")
    make_controls.cache_clear()
    assert rewritten(stable, "constants") == first


def test_a_table_that_nothing_uses_any_more_is_gone(tree_of):
    text = (
        "import pytest\n\nCASES = [(1, 'one'), (2, 'two')]\nKEPT = 3\n\n\n"
        '@pytest.mark.parametrize("n, text", CASES)\ndef test_it(n, text):\n'
        "    assert f(n, KEPT + n) == text\n"
    )
    ids = ("test_it.py::test_it[1-one]", "test_it.py::test_it[2-two]")
    found = _constants(tree_of({"test_it.py": text}), ids)
    assert "CASES" not in found
    assert "KEPT = 3" in found
    assert "'one'" not in found


def test_tests_of_the_other_process_are_taken_out(tree_of):
    text = 'def test_a():\n    assert f() == "a"\n\n\ndef test_b():\n    assert f() == "b"\n'
    ids = ("test_it.py::test_a", "test_it.py::test_b")
    tree = tree_of({"test_it.py": text})
    found = make_controls(tree, ids[:1], "same", stable=ids, without=ids[1:])
    assert b"test_b" not in found.delta.write["test_it.py"].data
    both = make_controls(tree, ids[:1], "same", stable=ids)
    assert b"test_b" in both.delta.write["test_it.py"].data


def test_a_table_that_does_not_fit_the_known_ids_is_left_alone(tree_of):
    text = (
        'import pytest\n\n\n@pytest.mark.parametrize("n, text", [(1, "one"), (2, "two")])\n'
        "def test_it(n, text):\n    assert f(n) == text\n"
    )
    tree = tree_of({"test_it.py": text})
    found = make_controls(tree, ("test_it.py::test_it[1-one]",), "constants")
    assert found.names == {}
    text = found.delta.write["test_it.py"].data.decode()
    assert "[(1, 'one'), (2, 'two')]" in text
    assert "assert f(n) == [text]" in text


@pytest.mark.parametrize("data", [b"def test_it(:\n", b"\xff", b"def test_it(): pass\n"])
def test_a_test_with_nothing_to_change_has_no_control(tree_of, data):
    tree, ids = tree_of({"test_it.py": data}), ("test_it.py::test_it",)
    assert not make_controls(tree, ids, "constants").ids


def test_inherited_tests_change_where_they_are_written(tree_of):
    files = {
        "tests/__init__.py": "class Mixin:\n    def test_it(self):\n        assert f() == 1\n",
        "tests/test_it.py": "from . import Mixin\n\n\nclass TestIt(Mixin):\n    pass\n",
    }
    found = make_controls(tree_of(files), ("tests/test_it.py::TestIt::test_it",), "negation")
    assert found.ids == {"tests/test_it.py::TestIt::test_it"}
    assert b"assert not f() == 1" in found.delta.write["tests/__init__.py"].data


def test_another_encoding_is_read_and_utf8_written(tree_of):
    data = b'# coding: latin-1\ndef test_it():\n    assert f() == "\xe9"\n'
    found = make_controls(tree_of({"test_it.py": data}), ("test_it.py::test_it",), "same")
    assert "'\u00e9'" in found.delta.write["test_it.py"].data.decode()


def _constants(tree: Tree, ids: tuple[str, ...], variant: int = 0) -> str:
    found = make_controls(tree, ids, "constants", stable=ids, variant=variant)
    (entry,) = found.delta.write.values()
    return entry.data.decode()

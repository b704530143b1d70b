import pytest

from codeenv.materialise.operations import apply_operations

TESTS = '''\
"""Tests."""

import os
import pytest
from pkg.code import gone, kept

LIMIT = 3


def helper(x):
    return gone(x)


@pytest.fixture
def thing():
    return helper(1)


@pytest.mark.parametrize("x", ["a::b", "[1]"])
def test_gone(thing, x):
    assert gone(x) < LIMIT


def test_kept():
    assert kept()


class TestBoth:
    def setup_method(self):
        self.x = 1

    def test_gone(self):
        assert gone(os.name)

    def test_kept(self):
        assert kept()


class TestGone:
    def setup_method(self):
        self.x = 1

    def test_one(self):
        assert gone(1)
'''
PATH = "tests/test_it.py"
STABLE = (
    f"{PATH}::test_gone[a::b]",
    f"{PATH}::test_gone[[1]]",
    f"{PATH}::test_kept",
    f"{PATH}::TestBoth::test_gone",
    f"{PATH}::TestBoth::test_kept",
    f"{PATH}::TestGone::test_one",
)


@pytest.fixture
def hidden(python, package):
    """Hides tests of one file and returns what is left of it ("" if nothing)."""

    def run(text, ids, stable=STABLE, others=None):
        tree = package(
            "def kept(): return 1\ndef gone(x): return x\n", {PATH: text, **(others or {})}
        )
        operations = python.hide(tree, ids, stable)
        left = apply_operations(tree, operations)
        for operation in operations:
            assert operation.mode == "hide"
            if operation.path in left:
                compile(left[operation.path].data, operation.path, "exec")
        return left[PATH].data.decode() if PATH in left else ""

    return run


def test_hidden_tests_take_their_helpers_fixtures_and_imports_along(hidden):
    ids = [i for i in STABLE if "kept" not in i]
    assert hidden(TESTS, ids) == (
        '"""Tests."""\n\nfrom pkg.code import kept\n\n\ndef test_kept():\n    assert kept()\n\n\n'
        "class TestBoth:\n    def setup_method(self):\n        self.x = 1\n\n"
        "    def test_kept(self):\n        assert kept()\n"
    )


def test_a_function_stays_while_one_of_its_tests_stays(hidden):
    assert hidden(TESTS, STABLE[:1]).count("def test_gone(thing, x)") == 1
    assert "def test_gone(thing, x)" not in hidden(TESTS, STABLE[:2])


def test_nothing_else_changes(hidden):
    assert hidden(TESTS, []) == TESTS
    assert hidden(TESTS, STABLE[5:]) == TESTS[: TESTS.index("\n\nclass TestGone")]


def test_a_file_of_hidden_tests_goes_as_a_whole(hidden):
    assert hidden("import os\n\n\ndef test_kept():\n    assert os\n", [f"{PATH}::test_kept"]) == ""


def test_a_quarantined_test_stays(hidden):
    text = "def test_a():\n    assert 1\n\n\ndef test_skipped():\n    assert 0\n"
    stable = (f"{PATH}::test_a",)
    assert hidden(text, stable, stable) == "def test_skipped():\n    assert 0\n"


def test_a_test_that_is_inherited_goes_from_its_base_class_when_all_its_ids_go(hidden):
    base = (
        "class Base:\n    def test_one(self):\n        assert 1\n\n"
        "    def test_two(self):\n        assert 1\n"
    )
    text = (
        "from base import Base\n\n\nclass TestA(Base):\n    x = 1\n\n"
        "\nclass TestB(Base):\n    x = 2\n"
    )
    stable = tuple(f"{PATH}::Test{c}::test_{n}" for c in "AB" for n in ("one", "two"))
    others = {"tests/base.py": base}
    assert hidden(text, [i for i in stable if "one" in i], stable, others) == text
    assert hidden(text, stable[:1], stable, others) == text


def test_a_test_made_by_a_function_goes_by_its_assignment(hidden):
    text = (
        "def make():\n    def inner():\n        assert 1\n"
        "    return inner\n\n\ntest_a = make()\ntest_b = make()\n"
    )
    stable = (f"{PATH}::test_a", f"{PATH}::test_b")
    assert hidden(text, stable, stable) == ""
    assert hidden(text, stable[:1], stable) == text.replace("test_a = make()\n", "")


def test_a_test_in_a_class_that_a_function_makes_goes_with_all_its_classes(hidden):
    text = (
        "def make(x):\n    class Made:\n        def test_one(self):\n            assert x\n\n"
        "        def test_two(self):\n            assert x\n\n    return Made\n\n\n"
        "TestA = make(1)\nTestB = make(2)\n"
    )
    stable = tuple(f"{PATH}::Test{c}::test_{n}" for c in "AB" for n in ("one", "two"))
    gone = "        def test_one(self):\n            assert x\n\n"
    assert hidden(text, [i for i in stable if "one" in i], stable) == text.replace(gone, "")
    assert hidden(text, stable[:1], stable) == text


def test_a_test_that_a_decorator_multiplies_goes_with_all_its_cases(hidden):
    text = "@expand([1, 2])\ndef test_a(x):\n    assert x\n\n\ndef test_b():\n    assert 1\n"
    stable = (f"{PATH}::test_a_0_one", f"{PATH}::test_a_1", f"{PATH}::test_b")
    assert hidden(text, stable[:2], stable) == "def test_b():\n    assert 1\n"
    assert hidden(text, stable[:1], stable) == text


def test_a_test_made_from_data_stays_unless_the_file_goes(hidden):
    text = "globals().update(load())\n\n\ndef test_b():\n    assert 1\n"
    stable = (f"{PATH}::test_of_data", f"{PATH}::test_b")
    assert hidden(text, stable[:1], stable) == text
    assert hidden(text, stable, stable) == ""


def test_a_doctest_of_a_source_goes_with_the_source(hidden):
    stable = ("pkg/code.py::pkg.code.kept", f"{PATH}::test_kept")
    assert hidden(TESTS, stable[:1], stable) == TESTS


def test_imports_of_vanished_names_go_with_tests_that_cannot_be_collected(hidden):
    text = (
        "import pytest\nfrom pkg.code import kept, vanished\n\n\n"
        "@pytest.mark.skip\n"
        "@pytest.mark.parametrize('f', [vanished])\ndef test_a(f):\n    f()\n\n\n"
        "@pytest.mark.skip\ndef test_b():\n    vanished()\n\n\ndef test_c():\n    kept()\n"
    )
    assert hidden(text, [], (f"{PATH}::test_c",)) == (
        "import pytest\nfrom pkg.code import kept\n\n\n"
        "@pytest.mark.skip\ndef test_b():\n    vanished()\n\n\ndef test_c():\n    kept()\n"
    )


@pytest.mark.parametrize(
    "use",
    [
        "def test_a():\n    assert vanished(1)\n",
        "@pytest.mark.parametrize('f', [vanished])\ndef test_a(f):\n    assert f(1)\n",
        "def both(x):\n    return vanished(x)\n\n\ndef test_a():\n    assert both(1)\n",
    ],
)
def test_a_vanished_name_stays_imported_for_a_visible_test_of_the_feature(hidden, use):
    head = f"import pytest\nfrom pkg.code import vanished\n\n\n{use}    assert pytest\n"
    text = f"{head}\n\ndef test_b():\n    assert vanished(2)\n"
    stable = (f"{PATH}::test_a", f"{PATH}::test_b")
    assert hidden(text, stable[1:], stable) == head


def test_a_vanished_name_that_staying_code_needs_is_refused(hidden):
    text = (
        "from pkg.code import vanished\n\nCASES = [vanished]\n\n\ndef test_a():\n    assert CASES\n"
    )
    with pytest.raises(ValueError, match="needed by tests that stay"):
        hidden(text, [], (f"{PATH}::test_a",))


def test_async_tests_and_tabs_and_carriage_returns_are_hidden_too(hidden):
    text = (
        "class TestA:\r\n\tasync def test_a(self):\r\n"
        "\t\tassert 1\r\n\r\n\tdef test_b(self):\r\n\t\tassert 1\r\n"
    )
    stable = (f"{PATH}::TestA::test_a", f"{PATH}::TestA::test_b")
    expected = "class TestA:\r\n\tdef test_b(self):\r\n\t\tassert 1\r\n"
    assert hidden(text, stable[:1], stable) == expected


def test_what_is_set_on_a_hidden_test_goes_with_it(hidden):
    text = "def test_a():\n    assert 1\n\n\ntest_a.slow = True\n\n\n"
    kept = "def test_b():\n    assert 1\n\n\ntest_b.slow = True\n"
    stable = (f"{PATH}::test_a", f"{PATH}::test_b")
    assert hidden(text + kept, stable[:1], stable) == kept


def test_a_constant_that_is_added_to_is_no_constant_of_the_hidden_tests_alone(hidden):
    text = "X = 1\nX += 1\n\n\ndef test_b():\n    assert 1\n"
    test = "\n\ndef test_a():\n    assert X\n"
    stable = (f"{PATH}::test_a", f"{PATH}::test_b")
    assert hidden(text + test, stable[:1], stable) == text


@pytest.mark.parametrize(("gone", "left"), [("ab", False), ("a", True), ("b", True)])
def test_a_file_of_type_checks_goes_with_the_last_of_its_tests(python, package, gone, left):
    path = "tests/typing/t.yml"
    checks = "".join(f"- case: {n}\n  main: |\n    reveal_type({n})\n" for n in "ab")
    tree = package("", {path: checks})
    stable = (f"{path}::a", f"{path}::b")
    ids = [test for test in stable if test[-1] in gone]
    hidden = apply_operations(tree, python.hide(tree, ids, stable))
    assert (path in hidden) is left
    assert python.visible_tests(tree, hidden, stable) == (stable if left else ())

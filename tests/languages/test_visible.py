"""Which of the feature's tests a statement may call unseen."""

import pytest

from codeenv.materialise.operations import apply_operations

PATH = "tests/test_it.py"
TESTS = """\
class TestBox:
    def test_opens(self):
        assert True

    def test_shuts(self):
        assert True


class TestLid(TestBox):
    pass


class TestData:
    pass


for line in open("cases.txt"):
    setattr(TestData, f"test_{line.strip()}", lambda self: None)


def test_alone(x=1):
    assert x
"""
OPENS, SHUTS, LID, DATA, ALONE = (
    f"{PATH}::{name}"
    for name in (
        "TestBox::test_opens", "TestBox::test_shuts", "TestLid::test_opens", "TestData::test_one",
        "test_alone[a::b]",
    )
)  # fmt: skip
ALL = (OPENS, SHUTS, LID, DATA, ALONE)


def test_every_test_of_an_untouched_tree_is_visible(python, package):
    tree = package("", {PATH: TESTS})
    assert python.visible_tests(tree, tree, ALL) == ALL


def test_a_function_taken_out_hides_it_in_every_class_that_inherits_it(python, package):
    tree = package("", {PATH: TESTS})
    gone = TESTS.replace("    def test_opens(self):\n        assert True\n\n", "")
    left = package("", {PATH: gone})
    assert python.visible_tests(tree, left, ALL) == (SHUTS, DATA, ALONE)


def test_tests_made_from_data_are_visible_as_long_as_their_file_is(python, package):
    tree = package("", {PATH: TESTS})
    assert python.visible_tests(tree, package(), (DATA,)) == (DATA,)
    empty = type(tree)({p: e for p, e in tree.items() if p != PATH})
    assert python.visible_tests(tree, empty, ALL) == ()


@pytest.mark.parametrize(
    ("left", "seen"),
    [
        ('def add():\n    """Add.\n\n    >>> add()\n    """\n', True),
        ('def add():\n    """Add."""\n', False),
        ("def other():\n    '''>>> other()'''\n", False),
        ("", False),
    ],
)
def test_a_doctest_is_visible_while_its_example_is(python, package, left, seen):
    tree = package('def add():\n    """Add.\n\n    >>> add()\n    """\n    return 1\n')
    test = "pkg/code.py::pkg.code.add"
    assert python.visible_tests(tree, package(left), (test,)) == ((test,) if seen else ())


def test_a_modules_own_doctest_is_known_by_the_modules_name(python, package):
    tree = package('"""Code.\n\n>>> 1\n1\n"""\n')
    test = "pkg/code.py::pkg.code"
    assert python.visible_tests(tree, tree, (test,)) == (test,)
    assert python.visible_tests(tree, package("x = 1\n"), (test,)) == ()


def test_what_hide_leaves_is_what_is_visible(python, package):
    tree = package("", {PATH: TESTS, "tests/test_other.py": "def test_x():\n    pass\n"})
    hidden = python.hide(tree, (OPENS, LID, DATA), (*ALL, "tests/test_other.py::test_x"))
    left = apply_operations(tree, hidden)
    assert python.visible_tests(tree, left, (OPENS, LID, DATA)) == (DATA,)

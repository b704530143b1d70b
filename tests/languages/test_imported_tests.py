"""Tests that one file imports from others are found where they are written."""

import pytest

from codeenv.languages.python.node_ids import Definition, definitions_of

FILES = {
    "pkg.py": "def double(x):\n    return 2 * x\n",
    "tests/__init__.py": "",
    "tests/__main__.py": "from .test_named import TestNamed\nfrom .test_all import *\n",
    "tests/test_named.py": (
        "import unittest\nfrom pkg import double\n\n"
        "class TestNamed(unittest.TestCase):\n"
        "    def test_one(self):\n        self.assertEqual(double(1), 2)\n"
        "    def test_two(self):\n        self.assertEqual(double(2), 4)\n"
    ),
    "tests/test_all.py": (
        "import unittest\nfrom pkg import double\n\n"
        "def _make(name, value):\n"
        "    class _Made(unittest.TestCase):\n"
        "        def test_made(self):\n            self.assertEqual(double(value), 6)\n"
        "    globals()[name] = _Made\n\n"
        "_make('TestThree', 3)\n"
    ),
    "pyproject.toml": '[tool.pytest.ini_options]\npython_files = "__main__.py"\n',
}
ONE, TWO = (f"tests/__main__.py::TestNamed::test_{name}" for name in ("one", "two"))
MADE = "tests/__main__.py::TestThree::test_made"


@pytest.fixture
def tree(tree_of):
    return tree_of(FILES)


def test_a_class_is_found_in_the_file_that_it_is_imported_from(tree):
    assert definitions_of(tree, [ONE, MADE]) == {
        ONE: Definition("tests/test_named.py", "TestNamed.test_one"),
        MADE: Definition("tests/test_all.py", "*.test_made"),
    }


def test_a_name_that_nobody_defines_is_found_nowhere(tree):
    missing = "tests/__main__.py::TestNone::test_none"
    assert definitions_of(tree, [missing]) == {missing: None}


def test_such_a_test_is_hidden(python, tree):
    hidden = python.hide(tree, [ONE], [ONE, TWO, MADE])
    assert {edit.path for edit in hidden} == {"tests/test_named.py"}


@pytest.mark.parametrize("kind", ["constants", "negation"])
def test_such_a_test_has_negative_controls(python, tree, kind):
    controls = python.controls(tree, [ONE], kind, stable=[ONE, TWO, MADE])
    assert ONE in controls.ids

"""One test for every form of assertion, and the right code for all of them."""

from codeenv.tree import Entry, Tree

CODE = """\
import warnings


class Empty(ValueError):
    pass


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)


def slug(text, joiner="-"):
    if not text.strip():
        raise Empty("at least one word")
    return joiner.join(text.lower().split())


def pairs(text):
    return [(word, len(word)) for word in text.split()]


def count(text):
    return {word: text.split().count(word) for word in text.split()}


def ratio(a, b):
    return a / b


def nothing(text):
    return None


def is_short(text):
    return len(text) < 4


def old():
    warnings.warn("old", DeprecationWarning, stacklevel=2)
"""
PLAIN = {
    "equal": 'assert slug("A B") == "a-b"',
    "equal reversed": 'assert "a-b" == slug("A B")',
    "number": 'assert len(slug("A B")) == 3',
    "negative number": 'assert int("-3") == -3',
    "float": "assert ratio(1, 2) == 0.5",
    "bool": 'assert is_short("a") == True',
    "is true": 'assert is_short("a") is True',
    "is none": 'assert nothing("") is None',
    "equals none": 'assert nothing("") == None',
    "list": 'assert pairs("a bc") == [("a", 1), ("bc", 2)]',
    "empty list": 'assert pairs("") == []',
    "dict": 'assert count("a a b") == {"a": 2, "b": 1}',
    "empty dict": 'assert count("") == {}',
    "set": 'assert set(count("a b")) == {"a", "b"}',
    "builder": 'assert frozenset(count("a b")) == frozenset(["a", "b"])',
    "bytes": 'assert slug("A B").encode() == b"a-b"',
    "formatted": 'w = "a"\n    assert slug("A B") == f"{w}-b"',
    "filled in": 'assert slug("A B") == "%s-b" % "a"',
    "joined": 'assert slug("A B") == "-".join(["a", "b"])',
    "added": 'assert slug("A B") == "a" + "-b"',
    "in": 'assert "a-b" in slug("x A B")',
    "among": 'assert slug("A B") in ("a-b", "a_b")',
    "truth": 'assert is_short("a")',
    "not": 'assert not is_short("long word")',
    "and": 'assert is_short("a") and slug("A B") == "a-b"',
    "assertion with a message": 'assert slug("A B") == "a-b", "slug is wrong"',
    "instance": 'assert isinstance(slug("A"), str)',
    "named": 'expected = "a-b"\n    assert slug("A B") == expected',
    "named with a type": 'expected: str = "a-b"\n    assert slug("A B") == expected',
    "named and used elsewhere": 'word = "abc"\n    assert slug(word) == word',
    "of the module": 'assert slug("A B") == EXPECTED',
    "unknown": 'expected = slug("a b")\n    assert slug("A B") == expected',
    "object": "assert Point(1, 2) == Point(1, 2)",
    "chain": 'assert slug("A B") == slug("a b") == "a-b"',
    "approx": "assert ratio(1, 3) == pytest.approx(0.333, abs=0.01)",
    "approx list": "assert [ratio(1, 3)] == pytest.approx([0.3333], rel=0.1)",
    "raises": 'with pytest.raises(Empty):\n        slug("")',
    "raises with a message": 'with pytest.raises(Empty, match="one word"):\n        slug("")',
    "raises any": 'with pytest.raises(Exception):\n        slug("")',
    "raises some": 'with pytest.raises((KeyError, Empty)):\n        slug("")',
    "raises called": 'pytest.raises(Empty, slug, "")',
    "raises and says": 'with pytest.raises(Empty) as e:\n        slug("")\n'
    '    assert str(e.value) == "at least one word"',
    "warns": "with pytest.warns(DeprecationWarning):\n        old()",
    "loop": 'for text, want in [("A", "a"), ("A B", "a-b")]:\n        assert slug(text) == want',
    "loop over items": 'for t, want in {"A": "a"}.items():\n        assert slug(t) == want',
    "loop over a name": "for text, want in CASES:\n        assert slug(text) == want",
    "loop over a local name": 'cases = [("A", "a"), ("B", "b")]\n'
    "    for text, want in cases:\n        assert slug(text) == want",
    "helper": 'check("A B", "a-b")',
    "helper by keyword": 'check("A B", expected="a-b")',
    "helper of a helper": 'check_again("A B", "a-b")',
    "imported helper": 'check_elsewhere("a-b", "A B")',
    "mock": 'from unittest.mock import Mock\n\n    seen = Mock()\n    seen(slug("A B"))\n'
    '    seen.assert_called_once_with("a-b")',
    "nested": 'if True:\n        try:\n            assert slug("A") == "a"\n        finally:\n'
    "            pass",
}
METHODS = {
    "assertEqual": 'self.assertEqual(slug("A B"), "a-b")',
    "assertEqual_reversed": 'self.assertEqual("a-b", slug("A B"))',
    "assertEqual_message": 'self.assertEqual(slug("A B"), "a-b", "slug is wrong")',
    "assertListEqual": 'self.assertListEqual(pairs("a"), [("a", 1)])',
    "assertTupleEqual": 'self.assertTupleEqual(tuple(pairs("a")), (("a", 1),))',
    "assertDictEqual": 'self.assertDictEqual(count("a"), {"a": 1})',
    "assertSetEqual": 'self.assertSetEqual(set(count("a")), {"a"})',
    "assertSequenceEqual": 'self.assertSequenceEqual(pairs("a"), [("a", 1)])',
    "assertMultiLineEqual": 'self.assertMultiLineEqual(slug("A B"), "a-b")',
    "assertCountEqual": 'self.assertCountEqual(pairs("a b"), [("b", 1), ("a", 1)])',
    "assertAlmostEqual": "self.assertAlmostEqual(ratio(1, 3), 0.3333333, places=4)",
    "assertAlmostEqual_delta": "self.assertAlmostEqual(ratio(1, 3), 0.3, delta=2)",
    "assertTrue": 'self.assertTrue(is_short("a"))',
    "assertTrue_compared": 'self.assertTrue(slug("A B") == "a-b")',
    "assertFalse": 'self.assertFalse(is_short("long word"))',
    "assertIs": 'self.assertIs(is_short("a"), True)',
    "assertIsNone": 'self.assertIsNone(nothing(""))',
    "assertIn": 'self.assertIn("a-b", slug("A B C"))',
    "assertIsInstance": 'self.assertIsInstance(slug("A"), str)',
    "assertRegex": 'self.assertRegex(slug("A B"), "a-b")',
    "assertRaises": 'with self.assertRaises(Empty):\n            slug("")',
    "assertRaises_called": 'self.assertRaises(Empty, slug, "")',
    "assertRaisesRegex": 'with self.assertRaisesRegex(Empty, "one word"):\n            slug("")',
    "assertWarns": "with self.assertWarns(DeprecationWarning):\n            old()",
    "subTest": 'for text, want in (("A", "a"),):\n            with self.subTest(text):\n'
    "                self.assertEqual(slug(text), want)",
    "own_check": 'self.check("A B", "a-b")',
}
NEGATION_ONLY = {
    "unequal": 'assert slug("A B") != "x"',
    "less": 'assert len(slug("A B")) < 9',
    "not_in": 'assert "x" not in slug("A B")',
    "is_not": 'assert slug("A B") is not None',
    "or": 'assert slug("A B") == "a-b" or False',
    "not_equal": 'assert not slug("A B") == "x"',
    "no_assertion": '"""It does not raise."""\n    found = slug("A B")\n    slug(found)',
}
TABLES = """\
@pytest.mark.parametrize("text, expected", [("A B", "a-b"), ("C", "c"), ("D", "d")])
def test_rows(text, expected):
    assert slug(text) == expected


@pytest.mark.parametrize(("text", "expected"), CASES, ids=["first", "second"])
def speltd_rows_with_ids(text, expected):
    assert slug(text) == expected


@pytest.mark.parametrize("joiner", ["+", "_"])
@pytest.mark.parametrize("text", ["a b", pytest.param("A B", id="upper")])
def test_stacked(text, joiner):
    assert slug(text, joiner) == f"a{joiner}b"


@pytest.mark.parametrize("text,expected", [("a", [("a", 1)]), ("", [])])
def test_lists(text, expected):
    assert pairs(text) == expected


@pytest.mark.parametrize("word", ["a", "b"])
def test_identity(word):
    assert slug(word) == word


@pytest.mark.parametrize("text,count", [("a", 1), pytest.param("b c", 2, marks=pytest.mark.slow)])
def test_numbers(text, count):
    assert len(pairs(text)) == count


@pytest.mark.parametrize("text,expected", [("A", "a"), ("B", "b")])
def test_reads_its_id(request, text, expected):
    assert request.node.name == f"test_reads_its_id[{text}-{expected}]"
    assert slug(text) == expected
"""
HEAD = '''\
"""Tests of the words."""

from __future__ import annotations

import unittest

import pytest

from pkg.code import *
from tests.support import check_elsewhere

EXPECTED = "a-b"
CASES = [("A B", "a-b"), ("C", "c")]


def check(text, expected):
    found = slug(text)
    assert found == expected


def check_again(text, want):
    check(text, want)


'''
CLASS = """

class WordsTest(unittest.TestCase):
    def check(self, text, expected):
        self.assertEqual(slug(text), expected)
"""
SUPPORT = """\
def check_elsewhere(wanted, text):
    from pkg.code import slug

    assert slug(text) == wanted
"""


def spelt(text: str) -> str:
    return "test_" + text.replace(" ", "_")


def _file() -> str:
    plain = {**PLAIN, **NEGATION_ONLY}
    functions = [f"def {spelt(n)}():\n    {body}\n\n\n" for n, body in plain.items()]
    methods = [f"\n    def {spelt(n)}(self):\n        {body}\n" for n, body in METHODS.items()]
    return HEAD + "".join(functions) + TABLES + CLASS + "".join(methods)


FILES = {
    "pkg/__init__.py": "",
    "pkg/code.py": CODE,
    "tests/__init__.py": "",
    "tests/support.py": SUPPORT,
    "tests/test_words.py": _file(),
    "pytest.ini": "[pytest]\nmarkers = slow\n",
}
PATH = "tests/test_words.py"
TREE = Tree({path: Entry(text.encode()) for path, text in FILES.items()})

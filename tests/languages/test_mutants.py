"""Small changes of functions, and whether tests notice them."""

from pathlib import Path

import pytest

import codeenv
from codeenv.languages.base import Layout, Swap, TestRequest
from codeenv.tree import Entry, Tree

PATH = "pkg/code.py"
CODE = """\
def area(width, height=1, *, half=False):
    if width < 0 or height < 0:
        raise ValueError(f"{width + 1} is too small")
    whole = width * height
    return whole / 2 if half else whole


class Box:
    def fits(self, other):
        assert other == other
        # ünïcode before what is changed
        return "ü" in other and (
            len(other)
            not in (7, 9)
        )

    def nothing(self):
        return None
"""
LINES = {PATH: frozenset(range(1, 30))}


def changes(python, tree, *names, lines=LINES, most=50):
    found = python.mutants(tree, tuple((PATH, name) for name in names), lines, most)
    data = tree[PATH].data
    for mutant in found:
        assert data[mutant.start : mutant.end].decode() == mutant.old
    return found


def test_conditions_operators_constants_and_results_are_changed(python, package):
    found = changes(python, package(CODE), "area")
    assert [f"{m.old} -> {m.new}" for m in found] == [
        "width < 0 or height < 0 -> (not (width < 0 or height < 0))",
        "< -> >=",
        "0 -> 1",
        "or -> and",
        "< -> >=",
        "0 -> 1",
        "* -> +",
        "whole / 2 if half else whole -> None",
        "/ -> *",
        "2 -> 3",
        "half -> (not (half))",
    ]


def test_what_says_why_stays_and_no_line_moves(python, package):
    found = changes(python, package(CODE), "Box.fits", "Box.nothing")
    assert [f"{m.old} -> {m.new}" for m in found] == [
        "in -> not in",
        "and -> or",
        "not in -> in",
        "7 -> 8",
        "9 -> 10",
    ]


def test_only_executed_lines_are_changed(python, package):
    found = changes(python, package(CODE), "area", lines={PATH: frozenset({4})})
    assert [m.told for m in found] == ["pkg/code.py:4: * becomes +"]


def test_a_few_are_spread_over_all(python, package):
    every = changes(python, package(CODE), "area", "Box.fits")
    few = changes(python, package(CODE), "area", "Box.fits", most=3)
    assert [every.index(m) for m in few] == [2, 8, 13]
    assert changes(python, package(CODE), "Box.nothing", most=3) == ()


TESTS = """\
from pkg.code import Box, area


def test_area():
    assert area(2, 2) == 4


def test_half():
    assert area(3, 5, half=True) == 7.5


def test_fits():
    assert Box().fits("ü") and not Box().fits("x")
"""


@pytest.fixture
def tried(python, package, local_backend, host_python):
    """Tries all changes of a function with some tests."""

    def go(name, *tests, **changed):
        tree = package(CODE, {"tests/test_it.py": TESTS})
        mutants = changes(python, tree, name, **changed)
        swap = Swap(((PATH, name),), tuple(f"tests/test_it.py::test_{t}" for t in tests), mutants)
        with local_backend.open(host_python, tree, role="build") as box:
            (found,) = python.try_swaps(box, host_python, TestRequest(), [swap])
        assert found.problem == ""
        assert found.mutants == len(mutants)
        return [told.partition(": ")[2] for told in found.survivors]

    return go


def test_changes_that_no_test_notices_are_told(tried):
    unnoticed = ["0 becomes 1", "or becomes and", "0 becomes 1", "* becomes +"]
    assert tried("area", "area") == [*unnoticed, "/ becomes *", "2 becomes 3"]


def test_one_test_that_notices_a_change_is_enough(tried):
    assert tried("area", "area", "half") == ["0 becomes 1", "or becomes and", "0 becomes 1"]


def test_bytes_before_a_change_may_be_more_than_its_characters(tried):
    assert tried("Box.fits", "fits") == ["7 becomes 8", "9 becomes 10"]


def test_every_change_of_our_own_library_compiles(python):
    """Whatever syntax is changed."""
    folder = Path(codeenv.__file__).parent
    files = sorted(folder.rglob("*.py"))
    tree = Tree({str(f.relative_to(folder)): Entry(f.read_bytes()) for f in files})
    tried = 0
    for path, entry in tree.items():
        lines = {path: frozenset(range(1, entry.data.count(b"\n") + 2))}
        units = [
            u
            for u in python.units(Tree({path: entry}), Layout((".",), (), (path,), ()))
            if u.kind != "class"
        ]
        symbols = [(path, unit.name) for unit in units]
        for mutant in python.mutants(tree, symbols, lines, 20):
            data = entry.data
            text = data[: mutant.start] + mutant.new.encode() + data[mutant.end :]
            compile(text, path, "exec", dont_inherit=True)
            assert text.count(b"\n") == data.count(b"\n")
            tried += 1
    assert tried > 1000

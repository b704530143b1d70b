"""Numbers that only the deleted code knew."""

import pytest

from codeenv.languages.python.language import PythonLanguage
from codeenv.materialise.brief import numbers_to_tell
from codeenv.materialise.git import without_git
from codeenv.materialise.numbers import expected_numbers, untold_numbers
from codeenv.tree import Entry, Tree
from tests.toytask import CUT, make_task

PYTHON = PythonLanguage()
DAMAGED = Tree(
    {
        "a.py": Entry(b'"""Of 5001."""\nLIMIT = 7001  # not 5002\n'),
        "test_a.py": Entry(b"def test_a():\n    assert f(-7002.0)\n"),
        "data.csv": Entry(b"5003\n"),
        "bad.py": Entry(b"print 5004\n"),
    }
)


def told(deleted, tested):
    return expected_numbers(deleted, tested, DAMAGED, PYTHON)


def test_a_number_of_deleted_code_and_tests_is_told_as_tests_write_it():
    assert told([4731, 0.25, 6j], [-4731, 3000, 0.25, 6j]) == (-4731, 0.25, 6j)
    assert repr(told([2000], [2000.0])) == "(2000.0,)"


def test_a_number_of_one_side_alone_needs_no_telling():
    assert told([4731], [4732]) == told([], [4731]) == told([4731], []) == ()


@pytest.mark.parametrize("number", [-10, 0, 100, 1000, 256, 4096, 0.5, 0.1, 64.0])
def test_a_number_that_anybody_would_try_needs_no_telling(number):
    assert told([number], [number]) == ()


@pytest.mark.parametrize("number", [-11, 101, 8192, 0.25, 1.5, 4j])
def test_other_numbers_are_told(number):
    assert told([number], [number]) == (number,)


@pytest.mark.parametrize("number", [7001, -7001, 7002])
def test_a_number_that_code_still_spells_out_needs_no_telling(number):
    assert told([number], [number]) == ()


@pytest.mark.parametrize("number", [5001, 5002, 5003, 5004])
def test_comments_docstrings_and_data_make_no_number_known(number):
    assert told([number], [number]) == (number,)


def test_what_the_statement_says_of_a_number_is_enough():
    statement = "At most `4731`, 2.5, `def f(x=-1e-09)`, 4j.  Not 17.25.3, x300 or 400px."
    said = [4731, -4731, 2.5, 1e-9, 4j, -4j]
    untold = [17.3, 25, 3, 300, 400, 473]
    assert untold_numbers([*said, *untold], statement) == untold


def test_the_statement_tells_numbers_from_level_2_on():
    task = make_task(CUT)
    damaged = without_git(task.workspace)
    assert numbers_to_tell(task.recipe, CUT, damaged, PYTHON) == (4731,)
    sentence = "use these numbers, which the code that is left does not have: `4731`."
    assert sentence in task.instruction
    assert sentence in make_task(CUT, level="L2").instruction
    assert "4731" not in make_task(CUT, level="L1").instruction

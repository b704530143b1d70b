"""Whether a statement says enough: the gate in front of every task."""

from dataclasses import replace

import pytest

from codeenv.generate.lint import check_sufficient
from codeenv.generate.models import Reason, Rejected
from codeenv.languages.python.language import PythonLanguage
from tests.toytask import CUT, SOURCE, make_task

PYTHON = PythonLanguage()


def test_a_statement_of_ours_says_enough():
    check_sufficient(make_task(), SOURCE, PYTHON)


@pytest.mark.parametrize(
    ("lost", "needed"), [("joiner", "tests use joiner"), ("at least one word", "expects the text")]
)
def test_a_task_that_needs_what_nobody_tells_is_refused(lost, needed):
    task = make_task()
    less = replace(task, instruction=task.instruction.replace(lost, "…"))
    with pytest.raises(Rejected, match=needed) as caught:
        check_sufficient(less, SOURCE, PYTHON)
    assert caught.value.reason == Reason.UNDERSPECIFIED


def test_a_task_that_needs_a_number_that_nobody_tells_is_refused():
    task = make_task(CUT)
    check_sufficient(task, CUT, PYTHON)
    less = replace(task, instruction=task.instruction.replace("4731", "…"))
    with pytest.raises(Rejected, match="a test expects the number 4731") as caught:
        check_sufficient(less, CUT, PYTHON)
    assert caught.value.reason == Reason.UNDERSPECIFIED


def test_low_levels_leave_things_to_be_found_out():
    check_sufficient(replace(make_task(level="L2"), instruction=""), SOURCE, PYTHON)

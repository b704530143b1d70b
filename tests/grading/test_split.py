"""Unmodified tests run without the code that they test, which is in another box."""

import pytest

from codeenv.guest.split_finder import ELSEWHERE
from tests.grading.split_bench import FILE, LAYOUT, NAMES, PYTHON, TREE


@pytest.mark.parametrize("name", NAMES)
def test_a_test_passes_as_it_is_written(learnt, name):
    found = {i: r for i, r in learnt.run.results.items() if i.split("::")[-1].split("[")[0] == name}

    assert found
    assert {i: r.message for i, r in found.items() if r.outcome != "passed"} == {}


def test_a_run_ends_as_it_should(learnt):
    assert (learnt.run.complete, learnt.run.exit_code) == (True, 0)


def test_what_was_learnt_is_enough(bench, learnt):
    again = bench.run(licences=learnt.licences)

    assert again.run.passed == learnt.run.passed


def test_who_asks_for_an_opinion_is_known(learnt):
    asking = {test.rpartition("::")[2] for test in learnt.opinionated}

    assert {"test_data_classes", "test_objects"} <= asking
    assert not {"test_calls", "test_values", "test_raises", "test_mappings"} & asking


def test_no_code_is_with_the_tests_and_no_test_with_the_code():
    verdict, subject = PYTHON.split(TREE, LAYOUT)

    assert verdict["shelf/__init__.py"].data == ELSEWHERE
    assert FILE in verdict
    assert [path for path in subject if path.startswith("tests/")] == []
    assert subject["shelf/__init__.py"] == TREE["shelf/__init__.py"]

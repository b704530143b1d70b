"""What is found of a function, whatever else is tried beside it and whatever the tests do."""

import pytest

from codeenv.languages.base import Swap, TestRequest

CODE = """\
def double(x):
    return x + x


def late(x):
    return x + 1


def note(file, text):
    file.write(text)
"""
PATH, OTHER = "tests/test_it.py", "tests/test_other.py"
CONFTEST = """\
import os

import pytest


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    if item.name == "test_begins_with_the_code":
        from pkg.code import double

        try:
            double(1)
        except NotImplementedError:
            os._exit(1)
    yield
    if item.name == "test_ends_behind_its_report":
        os._exit(1)
"""
TESTS = """\
import os
import signal

import pytest


def test_late():
    from pkg.code import late

    assert late(1) == 2


def test_kills():
    os.kill(os.getppid(), signal.SIGKILL)


def test_begins_with_the_code():
    assert True


def test_ends_behind_its_report():
    from pkg.code import double

    assert double(1) == 2


@pytest.mark.parametrize("line", ['5', '["start"]', '{"start":[]}', '{"id":1,"outcome":2}'])
def test_writes_to_every_file(line):
    from pkg.code import double

    told = '{"swap": 1, "problem": "", "failing": [], "weak": {}, "survivors": [], "mutants": 0}'
    for number in range(3, 300):
        try:
            os.write(number, f"{line}\\n{told}\\n".encode())
        except OSError:
            continue
    assert double(1) == 2


def test_leaves_a_file_where_it_fails():
    from pkg.code import note

    with open("made", "x") as file:
        note(file, "a")
    os.mkdir("folder")
    os.unlink("made")
    os.rmdir("folder")


def test_takes_a_file_away():
    from pkg.code import double

    os.unlink("pkg/data")
    assert double(1) == 2


def test_has_its_own_folder(tmp_path):
    from pkg.code import double

    assert len(list(tmp_path.parent.parent.iterdir())) == 1
    assert double(1) == 2
"""
OTHERS = """\
from pkg.code import double


def test_double():
    assert double(4) == 8
"""


def ids(*names):
    return tuple(f"{OTHER if n == 'double' else PATH}::test_{n}" for n in names)


@pytest.fixture
def swap(python, package, local_backend, host_python):
    """Tries functions of a small repository, each with its tests."""

    def go(*tries, **request):
        files = {PATH: TESTS, OTHER: OTHERS, "tests/conftest.py": CONFTEST, "pkg/data": ""}
        swaps = [
            Swap(tuple(("pkg/code.py", n) for n in names.split()), ids(*tests.split()))
            for names, tests in tries
        ]
        with local_backend.open(host_python, package(CODE, files), role="build") as box:
            return python.try_swaps(box, host_python, TestRequest(**request), swaps)

    return go


def short(tests):
    return {test.rpartition("test_")[2] for test in tests}


def test_what_is_found_does_not_depend_on_what_else_is_tried(swap):
    (alone,) = swap(("late", "late"))
    (beside, _) = swap(("late", "late"), ("double", "double"))
    assert alone == beside
    assert short(alone.failing) == {"late"}


def test_a_test_that_ends_the_process_is_no_problem_of_what_is_tried_after_it(swap):
    first, ended, last = swap(("double", "double"), ("double", "kills"), ("late", "late"))
    assert short(first.failing) == {"double"}
    assert "the process ended" in ended.problem
    assert short(last.failing) == {"late"}


def test_a_test_that_ends_its_process_behind_its_report_did_not_pass(swap):
    (found,) = swap(("double", "ends_behind_its_report double"))
    assert found.problem == ""
    assert short(found.failing) == {"double"}


@pytest.mark.parametrize("line", ["5", '["start"]', '{"start":[]}', '{"id":1,"outcome":2}'])
def test_what_a_test_writes_to_every_file_is_no_result(swap, line):
    found, other = swap(("double", f"writes_to_every_file[{line}]"), ("late", "late"))
    assert found.problem == ""
    assert short(found.failing) == {f"writes_to_every_file[{line}]"}
    assert short(other.failing) == {"late"}


def test_a_file_that_a_try_leaves_is_not_there_in_the_next(swap):
    (found,) = swap(("note", "leaves_a_file_where_it_fails"))
    assert short(found.failing) == {"leaves_a_file_where_it_fails"}
    assert short(found.weak) == {"leaves_a_file_where_it_fails"}


def test_where_a_try_takes_a_file_away_nothing_can_be_said(swap):
    (found, after) = swap(("double", "takes_a_file_away"), ("late", "late"))
    assert "pkg/data" in found.problem
    assert "pkg/data" in after.problem


def test_folders_for_tests_do_not_pile_up(swap):
    (first, second) = swap(*[("double", "has_its_own_folder")] * 2)
    assert first == second
    assert short(first.failing) == {"has_its_own_folder"}


def test_of_a_process_that_began_no_test_nothing_can_be_said(swap):
    found, other = swap(("double", "begins_with_the_code"), ("late", "late"))
    assert "ended before" in found.problem
    assert short(other.failing) == {"late"}

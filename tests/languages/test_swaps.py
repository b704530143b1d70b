"""Lazy versions of functions, tried in one process."""

import pytest

from codeenv.languages.base import Swap, TestRequest

PATH = "tests/test_it.py"
CODE = """\
import functools
import time


def double(x):
    return x + x


def is_even(x):
    return x % 2 == 0


def counter(start):
    count = start

    def step(by=1):
        nonlocal count
        count += by
        return count

    return step


STEP = counter(0)


def numbers(n):
    for i in range(n):
        yield i


async def wait(x):
    return x + 1


class Box:
    def __init__(self, x):
        self.x = x

    @property
    def size(self):
        return self.x

    @staticmethod
    def same(x):
        return x

    @functools.lru_cache(maxsize=None)
    def cached(self, *, scale=2):
        return self.x * scale


def forever(x):
    return x


def use(x):
    while not forever(x):
        pass
    return True


def leave(x):
    return x
"""
TESTS = """\
import asyncio
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from pkg import code
from pkg.code import Box, double


def test_double():
    assert double(4) == 8


@pytest.mark.parametrize("n", [0, 2])
def test_double_params(n):
    assert double(n) == 2 * n


def test_even():
    assert code.is_even(2)


def test_even_and_odd():
    assert code.is_even(2) and not code.is_even(3)


def test_step():
    assert code.STEP(by=5) == 5


def test_numbers():
    assert list(code.numbers(3)) == [0, 1, 2]


def test_no_numbers():
    assert list(code.numbers(0)) == []


def test_wait():
    assert asyncio.run(code.wait(1)) == 2


def test_size():
    assert Box(3).size == 3


def test_same():
    assert Box.same("x") == "x"


def test_cached():
    assert Box(2).cached(scale=3) == 6


def test_use():
    assert code.use(1)


def test_patient():
    while True:
        try:
            assert code.forever(1)
            break
        except NotImplementedError:
            pass


def test_leave():
    if code.leave(True) is None:
        os._exit(3)


LEFT = Path(tempfile.gettempdir(), "left")


def test_leaves():
    LEFT.write_text(str(subprocess.Popen(["sleep", "60"], start_new_session=True).pid))
    assert double(1) == 2


def test_left():
    with pytest.raises(ProcessLookupError):
        os.kill(int(LEFT.read_text()), 0)
    assert double(1) == 2


SEEN = []


@pytest.fixture(autouse=True)
def note(request):
    yield
    SEEN.append(request.node.name)


def test_needs_double():
    assert "test_double" in SEEN
    assert double(1) == 2


def test_apart():
    assert True
"""


def ids(*names):
    return tuple(f"{PATH}::test_{name}" for name in names)


@pytest.fixture
def swap(python, package, local_backend, host_python):
    """Tries functions of a small repository, each with its tests."""

    def go(*tries, **request):
        tree = package(CODE, {PATH: TESTS})
        swaps = [
            Swap(tuple(("pkg/code.py", n) for n in names.split()), ids(*tests.split()))
            for names, tests in tries
        ]
        with local_backend.open(host_python, tree, role="build") as box:
            found = python.try_swaps(box, host_python, TestRequest(**request), swaps)
            assert box.export() == tree
        return found

    return go


def short(tests):
    return {test.rpartition("test_")[2] for test in tests}


def test_tests_that_need_a_function_fail_without_it(swap):
    (found,) = swap(("double", "double double_params[0] double_params[2] apart"))
    assert short(found.failing) == {"double", "double_params[0]", "double_params[2]"}
    assert found.problem == ""


def test_a_test_that_a_constant_passes_is_weak_and_told_with_it(swap):
    (even, double) = swap(("is_even", "even even_and_odd"), ("double", "double double_params[0]"))
    assert {k.rpartition("test_")[2]: v for k, v in even.weak.items()} == {"even": "True"}
    assert {k.rpartition("test_")[2]: v for k, v in double.weak.items()} == {
        "double_params[0]": "False"
    }


def test_tries_do_not_see_one_another(swap):
    first, second = swap(("double", "double"), ("is_even", "double even_and_odd"))
    assert short(first.failing) == {"double"}
    assert short(second.failing) == {"even_and_odd"}


@pytest.mark.parametrize(
    ("names", "tests", "weak"),
    [
        ("counter.<locals>.step", "step", {"step": "values[-1] if values else None"}),
        ("numbers", "numbers no_numbers", {"no_numbers": "''"}),
        ("wait", "wait", {}),
        ("Box.size", "size", {}),
        ("Box.same", "same", {"same": "values[-1] if values else None"}),
        ("Box.cached", "cached", {}),
        ("Box.size Box.cached", "size cached same", {}),
    ],
)
def test_every_kind_of_function_can_be_exchanged(swap, names, tests, weak):
    (found,) = swap((names, tests))
    assert found.problem == ""
    assert short(found.failing) == set(tests.split()) - {"same"} | ({"same"} & set(weak))
    given = {"step": {}}.get(tests, weak)
    assert {k.rpartition("test_")[2]: v for k, v in found.weak.items()} == given


def test_a_lazy_function_that_makes_its_caller_loop_does_not_hang(swap):
    (found, after) = swap(("forever", "use"), ("double", "double"), test_timeout=0.2)
    assert short(found.failing) == {"use"}
    assert short(after.failing) == {"double"}
    assert not found.waits, "it loops with None, not when it raises"
    assert not after.waits


def test_it_is_told_whether_a_test_waits_for_the_missing_code(swap):
    (found,) = swap(("forever", "patient"))
    assert short(found.failing) == {"patient"}
    assert found.waits


def test_a_child_that_ends_early_passes_nothing_and_harms_no_other(swap):
    (found, after) = swap(("leave", "leave"), ("double", "double"))
    assert short(found.failing) == {"leave"}
    assert short(found.weak) == {"leave"}  # by a constant that does not end the process
    assert short(after.failing) == {"double"}


def test_a_function_that_is_not_in_memory_is_a_problem(swap):
    (lost, found) = swap(("no_such", "double"), ("double", "double"))
    assert "not in memory: no_such" in lost.problem
    assert short(found.failing) == {"double"}


def test_a_test_that_needs_another_one_first_tells_nothing(swap):
    (found,) = swap(("double", "double needs_double"))
    assert short(found.failing) == {"double", "needs_double"}
    (found, none) = swap(("double", "needs_double double_params[2]"), ("double", "needs_double"))
    assert short(found.failing) == {"double_params[2]"}
    assert "do not pass on their own" in none.problem


def test_tests_behind_one_that_ends_the_process_are_tried_as_well(swap):
    (found,) = swap(("leave double", "leave double apart"))
    assert short(found.failing) == {"leave", "double"}
    assert short(found.weak) == {"leave"}


def test_what_a_test_leaves_running_is_ended_with_its_try(swap):
    (first, second) = swap(("double", "double leaves"), ("double", "double left"))
    assert short(first.failing) == {"double", "leaves"}
    assert short(second.failing) == {"double", "left"}, "a process of the first try was there"


def test_a_process_that_ends_is_a_problem_of_every_try(swap):
    found = swap(("double", "double"), options=("--no-such-option",))
    assert "the process ended before" in found[0].problem

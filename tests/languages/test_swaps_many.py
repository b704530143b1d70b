"""Features that very many tests need."""

from codeenv.languages.base import Swap, TestRequest

CODE = "def double(x):\n    return x + x\n"
TESTS = """\
import pytest
from pkg.code import double


@pytest.mark.parametrize("n", range(1, 101))
def test_many(n):
    assert double(n) == 2 * n
"""


def test_only_some_are_tried_with_constants(python, package, local_backend, host_python):
    path = "tests/test_it.py"
    ids = tuple(f"{path}::test_many[{n}]" for n in range(1, 101))
    swap = Swap((("pkg/code.py", "double"),), ids[::-1])
    with local_backend.open(host_python, package(CODE, {path: TESTS}), role="build") as box:
        (found,) = python.try_swaps(box, host_python, TestRequest(ids), [swap])
    assert found.failing == frozenset(ids)
    assert len(found.strong) == 48
    assert found.untried == found.failing - found.strong
    assert found.strong == frozenset(ids[-48:]), "the first ones of the ranking"


def test_more_are_tried_where_the_first_ones_are_weak(python, package, local_backend, host_python):
    path = "tests/test_it.py"
    tests = TESTS.replace("double(n) == 2 * n", "double(n) == (2 * n if n > 60 else None)")
    code = CODE.replace("return x + x", "return x + x if x > 60 else None")
    ids = tuple(f"{path}::test_many[{n}]" for n in range(1, 101))
    swap = Swap((("pkg/code.py", "double"),), ids)
    with local_backend.open(host_python, package(code, {path: tests}), role="build") as box:
        (found,) = python.try_swaps(box, host_python, TestRequest(ids), [swap])
    assert found.weak == dict.fromkeys(ids[:60], "None")
    assert found.strong == frozenset(ids[60:96])
    assert found.untried == frozenset(ids[96:])

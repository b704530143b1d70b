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


MORE = {
    "a program is compiled": (
        "",
        "    with pytest.raises(SyntaxError):\n        compile('a =', 'x', 'exec')\n"
        "    assert compile('a = 1', 'x', 'exec')\n",
    ),
    "a shallow copy of an object": (
        "class Box:\n    def __init__(self): self.held = [1]\n",
        "    import copy\n    box = shelf.Box()\n    assert copy.copy(box).held == [1]\n"
        "    assert copy.deepcopy(box) is not box\n",
    ),
    "flags of the standard library": (
        "import re\ndef flags(given):\n    assert given is re.I, given\n    return re.I | re.M\n",
        "    import re\n    assert shelf.flags(re.I) == re.I | re.M\n",
    ),
    "an error in a context of a generator": (
        "import contextlib\n@contextlib.contextmanager\ndef told():\n"
        "    try:\n        yield 3\n    except KeyError as error:\n"
        "        raise ValueError(error.args[0]) from error\n",
        "    with pytest.raises(ValueError, match='x'):\n"
        "        with shelf.told() as found:\n            assert found == 3\n"
        "            raise KeyError('x')\n",
    ),
    "names of a module": ("WORD = 3\n", "    assert vars(shelf).copy()['WORD'] == 3\n"),
    "what a lost message told of": (
        "class Box:\n    size = 2\n"
        "def lose():\n    deep = Box()\n"
        "    for _ in range(200): deep = [Box(), deep]\n    return deep\n"
        "def give(box=None): return Box() if box is None else isinstance(box, Exception)\n",
        "    with pytest.raises(Exception):\n        shelf.lose()\n"
        "    assert shelf.give().size == 2\n"
        "    class Odd(ValueError): pass\n"
        "    deep = Odd()\n    for _ in range(200): deep = [Odd(), deep]\n"
        "    with pytest.raises(Exception):\n        shelf.give(deep)\n"
        "    assert shelf.give(Odd())\n",
    ),
}


@pytest.mark.parametrize("name", MORE)
def test_it_works_across_the_border(bench, name):
    code, body = MORE[name]
    tests = f"\nimport pytest\ndef test_more():\n{body}"

    assert bench.message("test_more", code="\n" + code, tests=tests) == ""

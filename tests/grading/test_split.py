"""Unmodified tests run without the code that they test, which is in another box."""

import re
from dataclasses import replace

import pytest

from codeenv.env.runtime import Runtime
from codeenv.guest.split_finder import ELSEWHERE
from codeenv.languages import get_language
from codeenv.languages.base import TestRequest
from codeenv.tasks.taskset import Taskset
from codeenv.tree import Delta, Entry, Tree
from tests.grading.split_repository import FILES

PYTHON = get_language("python")
TREE = Tree({path: Entry(text.encode()) for path, text in FILES.items()})
LAYOUT = PYTHON.layout(TREE)
FILE = "tests/test_shelf.py"
TESTS = "".join(text for path, text in FILES.items() if path.startswith("tests/"))
NAMES = re.findall(r"^ *def (test_\w+)", TESTS, re.MULTILINE)
REQUEST = TestRequest(timeout=120.0, test_timeout=20.0)
WALLS = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("bubblewrap", "docker")]


class Bench:
    """Runs tests against code, split."""

    def __init__(self, runtime: Runtime) -> None:
        self.backend = runtime.backend
        lock = next(iter(Taskset.load("toy").environments.values()))
        self.image = runtime.environment(lock).image

    def run(self, *, code="", tests="", licences=None):
        """Return what a run of the repository with more of both says."""
        more = {"shelf/__init__.py": code, FILE: tests}
        changed = {p: Entry((FILES[p] + text).encode()) for p, text in more.items() if text}
        trees = PYTHON.split(TREE.apply(Delta(changed)), LAYOUT)
        pair = self.backend.open_pair(self.image, trees, role="grader")
        with pair[0]:
            return PYTHON.run_split(pair, self.image, REQUEST, LAYOUT, licences)

    def message(self, name, **how):
        """Return why a test does not pass, "" if it does."""
        run = self.run(**how).run
        result = run.results[f"{FILE}::{name}"]
        return "" if result.outcome == "passed" else result.message


@pytest.fixture(scope="module", params=WALLS)
def bench(request):
    with Runtime(request.param) as runtime:
        yield Bench(runtime)


@pytest.fixture(scope="module")
def learnt(bench):
    return bench.run()


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


ALIKE = """
class Alike:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __contains__(self, item): return True
    def __hash__(self): return 0
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self
"""


@pytest.mark.parametrize(
    "asserted",
    [
        "shelf.made() == 3",
        "3 == shelf.made()",
        "shelf.made() != 4",
        "shelf.made() in [1, 2]",
        "1 in shelf.made()",
        "shelf.made() < 3",
        "shelf.made().startswith('x')",
        "[shelf.made()] == [5]",
        "{'a': shelf.made()} == {'a': 1}",
        "(1, shelf.made()) == (1, 2)",
        "shelf.made() == shelf.Point(1, 2)",
    ],
)
def test_an_object_that_agrees_to_everything_convinces_nobody(bench, learnt, asserted):
    code = ALIKE + "\ndef made(): return Alike()\n"
    tests = f"\ndef test_more():\n    assert {asserted}\n"

    assert bench.message("test_more", code=code, tests=tests, licences=learnt.licences)


@pytest.mark.parametrize(
    ("base", "asserted"), [("str", "'x'"), ("int", "3"), ("tuple", "(1, 2)"), ("bytes", "b'x'")]
)
def test_a_value_that_lies_about_itself_is_compared_by_what_it_is(bench, learnt, base, asserted):
    code = f"""
class Lie({base}):
    __eq__ = lambda self, other: True
    __hash__ = {base}.__hash__
def made(): return Lie()
"""
    tests = f"\ndef test_more():\n    assert shelf.made() == {asserted}\n"

    assert bench.message("test_more", code=code, tests=tests, licences=learnt.licences)


@pytest.mark.parametrize(
    "call",
    [
        "callback.__globals__",
        "callback.__code__",
        "callback.__self__",
        "callback.__class__",
        "callback.func_globals",
        "callback.__closure__",
        "callback.__init_subclass__",
        "type(callback).__mro__[-1].__subclasses__(callback)",
    ],
)
def test_nothing_but_what_was_handed_over_can_be_reached_from_a_callback(bench, call):
    code = f"\ndef take(callback):\n    return repr({call})\n"
    tests = """
SECRET = 12345
def test_more():
    def callback(): return SECRET
    try:
        found = shelf.take(callback)
    except Exception as error:
        found = repr(error)
    assert "12345" not in found and "tests" not in found and "/workspace" not in found, found
"""

    assert bench.message("test_more", code=code, tests=tests) == ""


def test_the_frames_of_a_callback_stay_where_they_are(bench):
    code = """
def take(steps):
    seen = []
    for name in ("gi_frame", "gi_code", "cr_frame", "f_back", "__next__"):
        try:
            seen.append(repr(getattr(steps, name)))
        except AttributeError:
            seen.append("")
    return seen
"""
    tests = """
def test_more():
    def callback():
        yield 1
    assert shelf.take(callback())[:4] == [""] * 4
"""

    assert bench.message("test_more", code=code, tests=tests) == ""


@pytest.mark.parametrize(
    "answer", ["__import__('os').getcwd()", "(lambda: 1)()", "[c for c in ().__class__.__base__]"]
)
def test_a_text_of_the_code_is_not_evaluated_with_the_tests(bench, answer):
    code = f"\nclass Odd:\n    __repr__ = lambda self: {answer!r}\n"
    tests = "\ndef test_more():\n    assert eval(repr(shelf.Odd())) is not None\n"

    assert bench.message("test_more", code=code, tests=tests).startswith("RefusedError")


def test_bytes_of_the_code_are_not_unpickled_with_the_tests(bench):
    code = """
import pickle
class Odd:
    def __reduce__(self): return eval, ("1 + 1",)
def dumped(): return pickle.dumps(Odd())
"""
    tests = "\ndef test_more():\n    assert pickle.loads(shelf.dumped()) == 2\n"

    assert bench.message("test_more", code=code, tests=tests).startswith("RefusedError")


def test_a_constructor_is_evaluated(bench):
    tests = "\ndef test_more():\n    assert eval(repr(Point(1, 2))) == Point(1, 2)\n"

    assert bench.message("test_more", tests=tests) == ""


@pytest.mark.parametrize("how", ["__import__('os')._exit(0)", "__import__('os').close(4)"])
def test_code_that_ends_fails_what_comes_after(bench, how):
    run = bench.run(
        code=f"\ndef leave(): {how}\n", tests="\ndef test_more():\n    shelf.leave()\n"
    ).run

    assert run.results[f"{FILE}::test_more"].outcome == "failed"
    assert run.complete


def test_code_that_hangs_fails_by_the_deadline(bench):
    code = "\ndef hang():\n    while True: pass\n"
    tests = "\ndef test_more():\n    shelf.hang()\n"
    request = replace(REQUEST, ids=(f"{FILE}::test_more",), test_timeout=1.0)
    changed = {"shelf/__init__.py": code, FILE: tests}
    tree = TREE.apply(Delta({p: Entry((FILES[p] + t).encode()) for p, t in changed.items()}))
    pair = bench.backend.open_pair(bench.image, PYTHON.split(tree, LAYOUT), role="grader")
    with pair[0]:
        run = PYTHON.run_split(pair, bench.image, request, LAYOUT, None).run

    assert run.results[f"{FILE}::test_more"].outcome == "failed"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"{}",
        b"nonsense",
        b'["return"]',
        b'["return", {"a": 1}]',
        b'["return", ["module", "os"]]',
        b'["return", ["standard", "os:system"]]',
        b'["return", ["import", "os", "system"]]',
        b'["return", ["object", 1, ["class", 999]]]',
        b'["return", ["int", "zz"]]',
        b'["return", ["imported", "os", "system"]]',
        b'["raise", 5]',
        b'["call", 1, [], {}]',
        b'["get", 1, "x"]',
        b'["special", 1, "__class__", []]',
        b"[" * 100_000,
    ],
)
def test_nonsense_from_the_code_fails_the_test_and_does_no_more(bench, line):
    code = f"\nimport os\ndef speak(): os.write(4, {line!r} + b'\\n')\n"
    tests = "\ndef test_more():\n    assert shelf.speak() == 'forged'\n"
    run = bench.run(code=code, tests=tests).run

    assert run.results[f"{FILE}::test_more"].outcome == "failed"
    assert run.complete

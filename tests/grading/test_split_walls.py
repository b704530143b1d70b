"""What the code under test tries to decide about itself, and cannot."""

from dataclasses import replace

import pytest

from tests.grading import split_bench
from tests.grading.split_bench import FILE, REQUEST

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


FALSE_WITNESSES = {
    "the class of what was handed over": """
def take(spy):
    made = type(spy)()
    made.configure_mock(**{"__eq__.return_value": True})
    return made
""",
    "what was handed over, set up": """
def take(spy):
    spy.configure_mock(**{"__eq__.return_value": True})
    return spy
""",
    "what was handed over, made to return": """
def take(spy):
    spy.return_value = 3
    return spy()
""",
    "something that equals everything": "\ndef take(spy): return spy\n",
}


@pytest.mark.parametrize(
    ("code", "handed"),
    [
        *((code, "mock.MagicMock()") for code in list(FALSE_WITNESSES.values())[:3]),
        (FALSE_WITNESSES["something that equals everything"], "mock.ANY"),
    ],
    ids=FALSE_WITNESSES,
)
def test_what_a_test_hands_over_is_no_false_witness(bench, learnt, code, handed):
    tests = f"\ndef test_more():\n    assert shelf.take({handed}) == 3\n"

    assert bench.message("test_more", code=code, tests=tests, licences=learnt.licences)


def test_who_hands_a_mock_over_needs_controls(learnt):
    assert f"{FILE.replace('shelf', 'things')}::test_mocks" in learnt.opinionated or (
        f"{FILE}::test_mocks" in learnt.opinionated
    )


def test_the_tools_of_the_tests_are_not_handed_over(bench):
    code = "\ndef take(patch):\n    patch.setattr('builtins.len', lambda _: 3)\n    return 3\n"
    tests = "\ndef test_more(monkeypatch):\n    assert shelf.take(monkeypatch) == 3\n"

    assert bench.message("test_more", code=code, tests=tests).startswith("WireError")


def test_methods_of_what_is_handed_over_cannot_be_exchanged(bench):
    code = "\ndef take(judge):\n    judge.check = lambda found: True\n    return 4\n"
    tests = """
class Judge:
    def check(self, found):
        return found == 3
def test_more():
    judge = Judge()
    assert judge.check(shelf.take(judge))
"""

    assert bench.message("test_more", code=code, tests=tests).startswith("AttributeError")


@pytest.mark.parametrize(
    "answer", ["__import__('os').getcwd()", "(lambda: 1)()", "[c for c in ().__class__.__base__]"]
)
def test_a_text_of_the_code_is_not_evaluated_with_the_tests(bench, answer):
    code = f"\nclass Odd:\n    __repr__ = lambda self: {answer!r}\n"
    tests = "\ndef test_more():\n    assert eval(repr(shelf.Odd())) is not None\n"

    assert bench.message("test_more", code=code, tests=tests).startswith("RefusedError")


@pytest.mark.parametrize(
    "how",
    [
        "exec(compile(text, 'x', 'exec'), names)",
        "exec(text, names)",
        "types.FunctionType(compile(text, 'x', 'exec'), names)()",
        "eval(compile(ast.parse(text), 'x', 'exec'), names)",
    ],
)
def test_a_program_of_the_code_may_be_compiled_with_the_tests_and_is_not_run(bench, how):
    code = "\ndef written(): return 'found = 3'\n"
    tests = f"""
import ast, types
def test_more():
    text, names = shelf.written(), {{}}
    assert compile(text, "x", "exec").co_names == ("found",)
    {how}
    assert names["found"] == 3
"""

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


def test_code_that_hangs_fails_by_the_deadline(bench, monkeypatch):
    code = "\ndef hang():\n    while True: pass\n"
    tests = "\ndef test_more():\n    shelf.hang()\n"
    limited = replace(REQUEST, test_timeout=1.0)
    monkeypatch.setattr(split_bench, "REQUEST", limited)
    run = bench.run(code=code, tests=tests, only="test_more").run

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
    run = bench.run(code=code, tests=tests, only="test_more").run

    assert run.results[f"{FILE}::test_more"].outcome == "failed"
    assert run.complete

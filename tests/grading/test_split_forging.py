"""What passes for the known-good solution alone: opinions, lost failures, a test's own things."""

from textwrap import dedent

import pytest

from tests.grading.split_bench import FILE

TEST = f"{FILE}::test_more"
PLAIN = "def f(x): return x + 1"
TEXT = 'def f(x): return "abc"'
SAYS_YES = "startswith = staticmethod(lambda text: True)"


def _attacked(bench, good, bad, tests):
    """Return how the attack ends, and whether controls run against it."""
    known = bench.run(code=f"\n{dedent(good)}\n", tests=dedent(tests), only="test_more")
    assert known.run.results[TEST].outcome == "passed", known.run.results[TEST].message
    doubted = bool({"", FILE, TEST} & known.opinionated)
    code = f"\n{dedent(bad)}\n"
    run = bench.run(code=code, tests=dedent(tests), licences=known.licences, only="test_more").run
    return run.results[TEST].outcome, doubted


MANAGER = """
class Opened:
    def __enter__(self): return self
    def __exit__(self, *_): return {answer}
def f(x): return {result}
"""
REFUSED = {
    "a context manager that ends the failure of its block": (
        MANAGER.format(answer=False, result="x + 1"),
        MANAGER.format(answer=True, result=0),
        "with shelf.Opened():\n        assert shelf.f(2) == 3",
    ),
    "an asynchronous one": (
        MANAGER.format(answer=False, result="x + 1").replace("def __", "async def __a"),
        MANAGER.format(answer=True, result=0).replace("def __", "async def __a"),
        """async def judge():
        async with shelf.Opened():
            assert shelf.f(2) == 3
    asyncio.run(judge())""",
    ),
    "a failure in a callback that is not passed on": (
        "def each(check): check(3)",
        "def each(check):\n    try: check(4)\n    except BaseException: pass",
        "def check(found): assert found == 3\n    shelf.each(check)",
    ),
    "an element that listens to what is looked for": (
        "def f(x): return [x + 1]",
        """
        class Ear:
            def __eq__(self, other): heard.append(other)
            __hash__ = None
        heard = []
        class Found:
            def __iter__(self):
                yield Ear()
                yield from heard
        def f(x): return Found()
        """,
        "assert 3 in shelf.f(2)",
    ),
    "a number from which everything is nothing away": (
        PLAIN,
        "class Near:\n    def __sub__(self, other): return 0\ndef f(x): return Near()",
        "assert abs(shelf.f(2) - 3) < 1e-9",
    ),
    "a class in which there is everything": (
        TEXT,
        """
        class All(type):
            def __contains__(cls, item): return True
        class Every(metaclass=All): pass
        def f(x): return Every
        """,
        "assert 'b' in shelf.f(2)",
    ),
    "a class that has all objects": (
        "class Point3(Point): pass\ndef f(x): return Point3(1)",
        """
        class All(type):
            def __instancecheck__(cls, item): return True
        class Point3(metaclass=All): pass
        def f(x): return 3
        """,
        "assert isinstance(shelf.f(2), shelf.Point3)",
    ),
    "a function with the methods of a text": (
        TEXT,
        "def f(x): return f\nf.startswith = lambda text: True",
        "assert shelf.f(2).startswith('a')",
    ),
    "a class with the methods of a text": (
        TEXT,
        f"class Text:\n    {SAYS_YES}\ndef f(x): return Text",
        "assert shelf.f(2).startswith('a')",
    ),
    "an object with the methods of a text": (
        TEXT,
        f"class Point(Point):\n    {SAYS_YES}\ndef f(x): return Point(1)",
        "assert shelf.f(2).startswith('a') and shelf.Point(1).x == 1",
    ),
    "a namespace with the methods of a text": (
        TEXT,
        "import types\ndef f(x): return types.SimpleNamespace(startswith=lambda text: True)",
        "assert shelf.f(2).startswith('a')",
    ),
    "an expectation that is emptied": (
        "def f(items): return sorted(set(items))",
        "def f(items): return items.clear() or []",
        "items = [1, 2, 2]\n    assert shelf.f(items) == [n for n in (1, 2) if n in items]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_solution_does_not_need_is_refused(bench, name):
    good, bad, body = REFUSED[name]

    outcome, _ = _attacked(bench, good, bad, f"\ndef test_more():\n    {body}\n")

    assert outcome == "failed"


LEFT_TO_THE_CODE = {
    "a decorator of the test": (
        "def f(check): return check",
        "@shelf.f\ndef test_more():\n    assert add(1, 1) == 2",
    ),
    "an assertion in a callback": (
        "def f(check): check(3)",
        "def test_more():\n    def check(x): assert x == 3\n    shelf.f(check)",
    ),
    "an assertion that a callback calls": (
        "def f(check): check(3)",
        """def same(x): assert x == 3
def test_more():
    shelf.f(lambda x: same(x))""",
    ),
    "an assertion of the package": (
        "def assert_same(a, b): assert a == b",
        "def test_more():\n    assert 1\n    shelf.assert_same(add(1, 1), 2)",
    ),
    "a decorated helper": (
        "def f(check): return check",
        "@shelf.f\ndef check(x): assert x == 3\ndef test_more():\n    check(3)",
    ),
    "a call alone": (
        "def f(x): assert x == 3",
        "def test_more():\n    shelf.f(3)",
    ),
}


@pytest.mark.parametrize("name", LEFT_TO_THE_CODE)
def test_what_is_left_to_the_code_has_controls(bench, name):
    good, tests = LEFT_TO_THE_CODE[name]

    assert _attacked(bench, good, good, f"\n{tests}\n") == ("passed", True)


QUIET = {
    "a helper of the tests": "def check(x): assert x == 3\ndef test_more():\n    check(add(1, 2))",
    "an expected exception": (
        "def test_more():\n    with pytest.raises(TypeError):\n        shelf.add()"
    ),
    "a callback without an assertion": (
        "def test_more():\n    assert shelf.apply(lambda x: x + 1, [1]) == [2]"
    ),
    "a test case": """
class Case(unittest.TestCase):
    def check(self, x): self.assertEqual(x, 3)
    def test_inner(self): self.check(add(1, 2))
def test_more():
    Case("test_inner").test_inner()
    assert 1""",
}


@pytest.mark.parametrize("name", QUIET)
def test_who_decides_alone_needs_no_controls(bench, name):
    assert _attacked(bench, "", "", f"\n{QUIET[name]}\n") == ("passed", False)


def test_a_licence_of_one_test_is_none_in_another(bench):
    code = """
    class Point(Point):
        def __eq__(self, other): return {}
        __hash__ = None
        __slots__ = ()
    def f(x): return {}
    """
    good = code.format("self.x == other.x", "x + 1")
    bad = code.format("True", "Point(1)")
    tests = """
    def test_other():
        assert shelf.Point(1) == shelf.Point(1)
    def test_more():
        assert shelf.f(2) == 3
    """
    known = bench.run(code=f"\n{dedent(good)}\n", tests=dedent(tests))
    run = bench.run(code=f"\n{dedent(bad)}\n", tests=dedent(tests), licences=known.licences).run

    assert any("test_other Point.__eq__" in licence for licence in known.licences)
    assert run.results[TEST].outcome == "failed"


def test_what_a_fixture_of_a_module_asks_is_asked_for_all_its_tests(bench):
    tests = """
    @pytest.fixture(scope="module")
    def shared():
        assert shelf.Point(1) == shelf.Point(1)
    def test_more(shared):
        assert add(1, 2) == 3
    """

    assert FILE in bench.run(tests=dedent(tests), only="test_more").opinionated


def test_the_class_of_what_was_handed_over_is_not_called(bench):
    code = """
    import gc, io
    def f(file):
        subject = next(o for o in gc.get_objects() if type(o).__name__ == "Subject")
        number = subject._standins._numbers[id(type(file.raw))]
        return subject.exchange(["special", number, "__call__", ["/proc/self/mem", "r+"]])
    """
    tests = """
    def test_more():
        with open(__file__, "rb") as file, pytest.raises(TypeError, match="FileIO"):
            shelf.f(file)
    """

    assert bench.message("test_more", code=dedent(code), tests=dedent(tests)) == ""

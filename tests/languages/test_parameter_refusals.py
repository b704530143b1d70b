"""Parameters that cannot go, with the reasons, and what is no hindrance."""

import pytest

PATH = "pkg/code.py"
FUNCTION = "def f(a, b=None):\n    if b:\n        a = 1\n    return a\n\n\n"
METHOD = (
    "class A:\n    def f(self, b=None):\n        if b:\n            return 1\n        return 2\n"
)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("def g():\n    return f(1, b=2)\n", "given by f() in pkg/code.py, line 8"),
        ("def g():\n    return f(1, 2)\n", "given by position"),
        ("def g(x):\n    return f(*x)\n", "may be given by *"),
        ("def g(x):\n    return f(1, **x)\n", "may be given by **"),
        ("def g(x):\n    return map(f, x)\n", "passed on as a value"),
        ("import sys\n\n\ndef g():\n    return getattr(sys, 'f')\n", "looked up by name"),
    ],
)
def test_a_parameter_that_code_which_stays_gives_cannot_go(refusal, more, reason):
    assert reason in refusal(FUNCTION + more, "f(b)")


def test_another_file_is_read_by_the_name_it_gives_the_function(refusal):
    other = {"pkg/other.py": "from pkg.code import f as g\n\n\ndef h():\n    return g(1, b=2)\n"}
    assert refusal(FUNCTION, "f(b)", other) == "given by f() in pkg/other.py, line 5"


def test_a_name_under_which_a_package_passes_the_function_on_is_followed(refusal):
    other = {
        "pkg/__init__.py": "from .code import f as g\n",
        "pkg/other.py": "from . import g\n\n\ndef h():\n    return g(1, b=2)\n",
    }
    assert refusal(FUNCTION, "f(b)", other) == "given by f() in pkg/other.py, line 5"


def test_a_call_in_the_arm_that_goes_is_no_hindrance(without):
    text = FUNCTION.replace("a = 1", "a = f(1, b=b)")
    assert without(text, "f(b)") == FUNCTION.replace(", b=None", "").replace(
        "    if b:\n        a = 1\n", ""
    )


def test_calls_that_do_not_give_it_are_no_hindrance(without):
    assert without(FUNCTION + "def g():\n    return f(1)\n", "f(b)").endswith("return f(1)\n")
    assert "b=None" not in without(METHOD + "\n\ndef g(x):\n    return x.f()\n", "A.f(b)")


@pytest.mark.parametrize(
    "twin",
    [
        "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n"
        "@overload\ndef f(a: int, b: int = ...) -> str: ...\n",
        "def f(a: int) -> int: ...\n",
        "def f(a: int",
    ],
)
def test_a_twin_that_cannot_follow_refuses(refusal, twin):
    text = "def f(a, b=None):\n    if b:\n        a = 1\n    return a\n"
    assert refusal(text, "f(b)", {PATH + "i": twin})


@pytest.mark.parametrize(
    "body",
    [
        "    if b:\n        a = 1\n    return b",
        "    if b:\n        a = 1\n    b = 2\n    return a",
        "    return 1 if b else a",
        "    while b:\n        a = 1",
        "    if a > b:\n        a = 1",
        "    if g(a) and b:\n        a = 1",
        "    if isinstance(b, int):\n        a = 1",
        "    if b:\n        a = 1\n    else:\n        a = b",
        "    if b:\n        a = 1\n    return lambda: b",
        "    if b is None:\n        return 1\n    return 2",
        "    if b is None:\n        a = 1\n    return a",
        "    if a:\n        a = 1\n    elif b is None:\n        a = 2\n    else:\n        a = 3",
        "    match a:\n        case b:\n            a = 1\n    if b:\n        a = 2",
    ],
)
def test_a_parameter_that_does_more_than_choose_arms_is_none(package, parameters, body):
    assert not parameters(package(f"def f(a, b=None):\n{body}\n"))


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("def f(b=None, **more):\n    if b:\n        return 1\n", "f(b)", "**more"),
        ("def f(b=None, *more):\n    if b:\n        return 1\n", "f(b)", "*more"),
        ("def f(b=None):\n    if b:\n        return 1\n    return locals()\n", "f(b)", "by name"),
        ("def d(g):\n    return g\n\n\n@d\n" + FUNCTION, "f(b)", "@d"),
        (METHOD + "\n\nclass B(A):\n    def f(self, b=None):\n        pass\n", "A.f(b)", "B.f"),
        (METHOD + "\n\nclass B(A):\n    def f(self, **b):\n        pass\n", "A.f(b)", "B.f"),
        (
            "class Z:\n    def f(self, b):\n        pass\n\n\n" + METHOD.replace("A:", "A(Z):"),
            "A.f(b)",
            "Z.f",
        ),
        (METHOD.replace("A:", "A(dict):").replace(" f(", " pop("), "A.pop(b)", "of dict"),
        (METHOD + "\n\ndef g(x):\n    return x.f(b=1)\n", "A.f(b)", "given by"),
        (METHOD + "\n\ndef g(x):\n    return x.f(1)\n", "A.f(b)", "by position"),
        (METHOD + "\n\ndef g(x):\n    return x.f\n", "A.f(b)", "as a value"),
        (METHOD + "\n    g = f\n\n\ndef h(x):\n    return x.g(b=1)\n", "A.f(b)", "as a value"),
        (
            FUNCTION.replace("    if b:\n", '    """Do.\n\n    b: Two."""\n    if b:\n'),
            "f(b)",
            "docstring's end",
        ),
        ("def f(b=None):\n    if not b: return 1\n    else: return 2\n", "f(b)", "on the line of"),
        ("def f(b=(None)):\n    if b:\n        return 1\n", "f(b)", "not what is meant"),
        ("def f(b=None):\n    if b:\n        yield 1\n", "f(b)", "generator"),
        (
            "def f(b=None):\n    def g():\n        if b:\n            yield 1\n\n"
            "    return [*g()]\n",
            "f(b)",
            "generator",
        ),
        (
            "def f(b=None):\n    if b:\n        yield 1\n\n    def g():\n        yield 2\n",
            "f(b)",
            "generator",
        ),
        ("def f(b=None):\n    if b:\n        x = 1\n    return x\n", "f(b)", "asks for it: x"),
        (
            "X = 1\n\n\ndef f(b=None):\n    if b:\n        global X\n    X = 2\n",
            "f(b)",
            "asks for it: X",
        ),
    ],
)
def test_other_cases_are_refused_with_the_reason(refusal, text, name, reason):
    assert reason in refusal(text, name)


def test_a_text_of_several_lines_in_an_arm_that_stays_refuses(refusal):
    text = 'def f(b=None):\n    if b:\n        x = 1\n    else:\n        x = """a\n        b"""\n'
    assert "not what is meant" in refusal(text + "    return x\n", "f(b)")


def test_an_attribute_of_the_name_of_a_function_is_another_thing(without, refusal):
    assert "b=None" not in without(FUNCTION + "def g(x):\n    return x.f(1, 2), x.f\n", "f(b)")
    other = {"pkg/other.py": "from pkg import code\n\n\ndef h():\n    return code.f(1, b=2)\n"}
    assert "given by f() in pkg/other.py" in refusal(FUNCTION, "f(b)", other)


def test_an_override_without_the_parameter_is_no_hindrance(without):
    text = METHOD + "\n\nclass B(A):\n    def f(self):\n        pass\n"
    assert "b=None" not in without(text, "A.f(b)")


def test_a_function_that_is_defined_twice_has_no_parameters(package, parameters):
    assert not parameters(package(FUNCTION + FUNCTION))

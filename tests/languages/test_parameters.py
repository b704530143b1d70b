"""Parameters that choose between arms: which there are, and what a deletion leaves of a file."""

import pytest

PATH = "pkg/code.py"


DOCUMENTED = '''\
import os
import re


def render(text, *, loud=False):
    """Return the text.

    Args:
        text: What to render.
        loud: Whether to shout,
            which is rude.
    """
    words = text.split()

    # Nobody likes this.
    if loud:
        words = [re.sub("x", "y", word) for word in words]
        return " ".join(words).upper()
    return os.sep.join(words)
'''


def test_an_arm_goes_with_its_parameter_its_documentation_its_comment_and_its_imports(without):
    assert (
        without(DOCUMENTED, "render(loud)")
        == '''\
import os


def render(text):
    """Return the text.

    Args:
        text: What to render.
    """
    words = text.split()

    return os.sep.join(words)
'''
    )


def test_an_import_that_only_the_annotation_of_the_parameter_used_goes_too(without):
    text = """\
from typing import Any, Literal, Optional


def f(a: Any, b: Optional[int] = None, c: "Literal[1] | None" = None) -> Any:
    if b:
        a = 1
    if c:
        a = 2
    return a
"""
    left = without(text, "f(b)")
    assert left.startswith("from typing import Any, Literal\n\n\ndef f(a: Any, c:")
    left = without(text, "f(c)")
    assert left.startswith("from typing import Any, Optional\n\n\ndef f(a: Any, b:")


def test_the_lines_of_a_parameter_are_those_of_the_arm_that_its_default_does_not_take(
    package, parameters
):
    unit = parameters(package(DOCUMENTED))["render(loud)"]
    assert (unit.kind, unit.lines, unit.start, unit.end) == ("parameter", (17, 18), 17, 18)
    assert unit.public


def test_a_stub_of_a_parameter_is_still_declared_and_does_nothing(without):
    left = without(DOCUMENTED, "render(loud)", mode="stub")
    assert "def render(text, *, loud=False):" in left
    assert "if loud" not in left
    assert "loud: Whether to shout" in left


CHAIN = """\
class Box:
    def put(self, thing, mode="x", size=None):
        if mode == "a":
            thing += 1
        # Not the first.
        elif mode == "b":
            thing += 2
        # By size.
        elif thing > 2:
            thing = 9
        elif mode != "x":
            thing = 10
        else:
            thing = 11
        return thing
"""


def test_the_first_link_of_a_chain_that_stays_becomes_the_if(without):
    assert (
        without(CHAIN, "Box.put(mode)")
        == """\
class Box:
    def put(self, thing, size=None):
        # By size.
        if thing > 2:
            thing = 9
        else:
            thing = 11
        return thing
"""
    )


def test_the_arm_that_the_default_takes_loses_its_indentation_and_nothing_else(without):
    text = """\
def f(a, b=None):
    if b is not None:
        a = [
            b]
    else:
        # Without.
        a = [
      1,
            2]

        if a:
            a += 1
    # After.
    return a
"""
    assert (
        without(text, "f(b)")
        == """\
def f(a):
    # Without.
    a = [
      1,
        2]

    if a:
        a += 1
    # After.
    return a
"""
    )


def test_an_arm_under_not_is_the_one_that_stays(without):
    text = "def f(a, b=False):\n    if not b:\n        a += 1\n    else:\n        a = 0\n"
    assert without(text, "f(b)") == "def f(a):\n    a += 1\n"


def test_a_chain_in_an_arm_that_stays_is_undone_as_well(without):
    text = """\
def f(a, b=None):
    if b is None:
        a += 1
        if b == 2:
            a = 2
    else:
        a = 3
    for _ in range(a):
        if b:
            a = 4
    return a
"""
    assert (
        without(text, "f(b)")
        == """\
def f(a):
    a += 1
    for _ in range(a):
        pass
    return a
"""
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a, b=None", "a"),
        ("b=None", ""),
        ("b=None,", ""),
        ("*, b=None", ""),
        ("a, *, b=None", "a"),
        ("a, *, b=None, c=1", "a, *, c=1"),
        ("a, *, c=1, b=None", "a, *, c=1"),
        ("a, /, b=None", "a, /"),
        ("a, /, b=None, *c", None),
        ("a, *c, b=None", "a, *c"),
        ("a, b: 'int | None' = None, c=2", "a, c=2"),
        ("\n    a,\n    b=None,  # this\n    c=1,\n", "\n    a,\n    c=1,\n"),
        ("\n    a,\n    *,\n    b=None,\n", "\n    a,\n"),
        (
            "\n    a,\n    # How often.\n    b=None,\n    # More.\n    c=1,\n",
            "\n    a,\n    # More.\n    c=1,\n",
        ),
        ("\n    a,\n    # How often.\n    b=None\n", "\n    a,\n"),
        ("a, b=None, /", None),
    ],
)
def test_a_signature_loses_one_parameter(without, refusal, before, after):
    text = "def f({}):\n    return 1\n"
    whole = text.format(before).replace("    return", "    if b:\n        return 2\n    return")
    if after is None:
        assert refusal(whole, "f(b)")
    else:
        assert without(whole, "f(b)") == text.format(after)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_bytes_of_other_encodings_and_line_ends_stay_as_they_are(without, newline):
    text = 'def f(a="é", *, b=0):\n    """Ä."""\n    if b:\n        a = "ö"\n    return "ü"\n'
    wanted = 'def f(a="é"):\n    """Ä."""\n    return "ü"\n'
    assert without(text.replace("\n", newline), "f(b)") == wanted.replace("\n", newline)


def test_the_twin_with_the_types_loses_the_parameter_as_well(without):
    text = "def f(a, b=None):\n    if b:\n        a = 1\n    return a\n"
    twin = {PATH + "i": "def f(a: int, b: int | None = ...) -> int: ...\n"}
    assert without(text, "f(b)", twin, path=PATH + "i") == "def f(a: int) -> int: ...\n"


@pytest.mark.parametrize(
    ("default", "condition"),
    [
        ("False", "b"),
        ("None", "b is not None and b > a"),
        ("None", "a and b"),
        ("None", "not (b is None or a)"),
        ('"x"', 'b in ("y", "z")'),
        ("0", "b > 3"),
        ("NOTHING", "b is not NOTHING"),
        ("()", "b"),
        ("True", "not b"),
    ],
)
def test_conditions_that_the_default_decides(without, default, condition):
    text = f"NOTHING = object()\n\n\ndef f(a, b={default}):\n    if {condition}:\n        a = 1\n"
    assert without(text, "f(b)").endswith("def f(a):\n    pass\n")


def test_nothing_dangles_where_a_parameter_was(python, package, parameters):
    tree = package(DOCUMENTED)
    assert python.dangling(tree, python.layout(tree), [*parameters(tree).values()]) == ""

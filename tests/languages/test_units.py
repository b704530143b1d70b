import pytest

SOURCE = '''\
#!/usr/bin/env python
# Directly above.
def one(): return 1


class Box(object):
    """A box."""

    size = 1

    # The width.
    @property
    def width(self):
        """Return it."""
        return self._width

    @width.setter
    def width(self, value):
        self._width = value
        # Rounded one day.

    async def fill(self):
        def inner():
            return 2

        return inner()

    def __len__(self):
        return 1

    def _hidden(self):
        """Nothing."""


if True:

    def choice():
        return 1

else:

    def choice():
        return 2


def outer(
    a,  # a comment: with a colon
    b={"x": lambda: 1},
):
    global state
    for item in a:
        b = item
    return b
'''


@pytest.fixture
def units(python, package):
    def read(text):
        tree = package(text)
        return [u for u in python.units(tree, python.layout(tree)) if u.path == "pkg/code.py"]

    return read


def _named(units, name, index=0):
    return [u for u in units if u.name == name][index]


def test_units_come_in_file_order_with_kinds_and_parents(units):
    found = units(SOURCE)
    assert [(u.name, u.kind, u.parent) for u in found] == [
        ("one", "function", ""),
        ("Box", "class", ""),
        ("Box.width", "method", "Box"),
        ("Box.width", "method", "Box"),
        ("Box.fill", "method", "Box"),
        ("Box.__len__", "method", "Box"),
        ("Box._hidden", "method", "Box"),
        ("choice", "function", ""),
        ("choice", "function", ""),
        ("outer", "function", ""),
    ]


def test_decorators_and_comments_above_belong_to_a_unit_but_a_shebang_does_not(units):
    found = units(SOURCE)
    lines = SOURCE.splitlines()
    assert lines[_named(found, "one").start - 1] == "# Directly above."
    assert lines[_named(found, "Box.width").start - 1] == "    # The width."


def test_deeper_comments_below_belong_to_a_unit(units):
    setter = _named(units(SOURCE), "Box.width", 1)
    assert SOURCE.splitlines()[setter.end - 1] == "        # Rounded one day."


def test_a_body_starts_after_the_docstring(units):
    width = _named(units(SOURCE), "Box.width")
    assert SOURCE.splitlines()[width.body - 1] == "        return self._width"


def test_lines_are_statements_and_those_of_nested_functions(units):
    fill = _named(units(SOURCE), "Box.fill")
    shown = [SOURCE.splitlines()[n - 1].strip() for n in fill.lines]
    assert shown == ["def inner():", "return 2", "return inner()"]


def test_a_declaration_is_not_an_executable_line(units):
    outer = _named(units(SOURCE), "outer")
    shown = [SOURCE.splitlines()[n - 1].strip() for n in outer.lines]
    assert shown == ["for item in a:", "b = item", "return b"]


def test_definitions_of_one_name_go_together_under_the_first(units):
    found = units(SOURCE)
    for name in ("Box.width", "choice"):
        main, other = _named(found, name), _named(found, name, 1)
        assert (main.protected, other.protected) == ("", "part")
        assert set(other.lines) < set(main.lines)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class A:\n    def __eq__(self, other):\n        return 1\n", "dunder"),
        (
            "import abc\nclass A:\n    @abc.abstractmethod\n    def f(self):\n        return 1\n",
            "abstract",
        ),
        ("class A:\n    def f(self):\n        raise NotImplementedError('later')\n", "empty"),
        ("def f():\n    ...\n", "empty"),
        ("if TYPE_CHECKING:\n    def f():\n        return 1\n", "typing"),
        ("if __name__ == '__main__':\n    def f():\n        return 1\n", "script"),
        ("def _(x):\n    return x\n", "anonymous"),
        ("class A(Protocol[T]):\n    x: int\n", "interface"),
    ],
)
def test_what_cannot_be_a_feature_is_protected(units, text, reason):
    assert units(text)[-1].protected == reason


def test_overloads_are_protected_and_their_implementation_is_the_main_one(units):
    text = (
        "from typing import overload\n@overload\ndef f(x: int) -> int: ...\n"
        "@overload\ndef f(x: str) -> str: ...\ndef f(x):\n    return x\n"
    )
    assert [u.protected for u in units(text)] == ["overload", "overload", ""]


@pytest.mark.parametrize(
    "text", ["def f(:\n", "x = '\0'\n", b"\xff\xfe", b"# coding: nonsense\nx = 1\n"]
)
def test_what_cannot_be_read_has_no_units(units, text):
    assert units(text) == []


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines_of_any_kind_count_the_same(units, newline):
    expected = units(SOURCE)
    assert units(SOURCE.replace("\n", newline).encode()) == expected


def test_form_feeds_and_odd_line_separators_do_not_shift_lines(units):
    text = "x = '\u2028 \x1c \x0b'\n\x0c\n\x0c\ndef f():\n\tif 1:\n\t\treturn 'é'\n"
    assert [(u.start, u.end, u.lines) for u in units(text)] == [(4, 6, (5, 6))]


def test_a_comment_that_is_the_end_of_a_string_is_not_taken(units):
    text = 's = """\n# not a comment"""\ndef f():\n    return 1\n'
    assert units(text)[0].start == 3


def test_an_expression_of_any_depth_does_not_stop_the_reading(python, package):
    tree = package("x = " + "+".join(["1"] * 2000) + "\n\n\ndef f():\n    return 1\n")
    layout = python.layout(tree)
    for unit in python.units(tree, layout):
        assert python.describe(tree, unit).signature
        assert python.delete(tree, layout, [unit], "stub")

"""Somebody else's deletion as edits of our own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.languages.base import Change
from codeenv.languages.python.language import PythonLanguage
from codeenv.materialise.operations import apply_operations
from codeenv.tree import Entry, Tree

CODE = b'''\
"""Shop."""

import json
from math import ceil, floor

__all__ = ["Cart", "count", "price"]
RATE = 2


def price(x, *, up=True):
    """Return the price."""
    if up:
        return ceil(x)
    return floor(x)


# How many there are.
def count(items):
    total = 0
    for item in items:
        total += 1
    return total


class Cart:
    """A cart."""

    size: int = 3
    colour: str = ""

    def fill(self):
        """Fill it."""
        return self.size

    def empty(self):
        """Empty it."""
        return json.dumps(self.colour)
'''
FILES = {
    "shop/__init__.py": b"from shop.core import price\n",
    "shop/core.py": CODE,
    "shop/data.txt": b"one\ntwo\n",
    "README.md": b"# Shop\n\nCall `price`.\n",
    "pyproject.toml": b'[project]\nname = "shop"\nversion = "1"\n',
    "tests/conftest.py": b"import shop\n",
    "tests/test_core.py": b"from shop.core import price\n\n\ndef test_price():\n    price(1)\n",
}
TREE = Tree({path: Entry(data) for path, data in FILES.items()})
LANGUAGE = PythonLanguage()
LAYOUT = LANGUAGE.layout(TREE)
CORE = "shop/core.py"


def change(old, new, path=CORE):
    """The change of whole lines that turns the one text into the other."""
    data = TREE[path].data
    start = data.index(old)
    return Change(path, start, start + len(old), new)


def reduce(*changes, tree=TREE):
    found = LANGUAGE.reduce(tree, LAYOUT, changes)
    left = apply_operations(tree, found.operations)
    for one in changes:
        if one.new is None:
            assert one.path not in left
    return found, left


def labels(found):
    return [(o.symbol, o.kind, o.mode) for o in found.operations]


def between(first, last):
    return CODE[CODE.index(first) : CODE.index(last)]


COUNT = between(b"# How many", b"class Cart")
FILL = between(b"    def fill", b"    def empty")


def test_a_function_that_is_gone_is_a_member():
    found, left = reduce(change(b'"count", ', b""), change(COUNT, b""))
    assert found.members == ((CORE, "count"),)
    assert (found.cut, found.problem) == (frozenset(), "")
    assert labels(found) == [("__all__", "export", "clean"), ("count", "function", "remove")]
    assert left[CORE].data == CODE.replace(b'"count", ', b"").replace(COUNT, b"")


def test_a_function_that_lost_lines_is_cut():
    found, _ = reduce(
        change(b", *, up=True", b""), change(b"    if up:\n        return ceil(x)\n", b"")
    )
    assert found.members == ((CORE, "price"),)
    assert found.cut == {(CORE, "price")}
    assert set(labels(found)) == {("price", "function", "remove")}


def test_a_body_that_became_a_stub_is_deleted_whole():
    body = between(b"    total = 0", b"\n\nclass Cart")
    found, left = reduce(change(body, b"    raise NotImplementedError\n"))
    assert (found.members, found.cut) == (((CORE, "count"),), frozenset())
    assert labels(found) == [("count", "function", "stub")]
    assert b"def count(items):\n    raise NotImplementedError\n\n\nclass" in left[CORE].data


def test_a_name_in_an_import_is_taken_out_of_the_line():
    found, _ = reduce(
        change(b"from math import ceil, floor", b"from math import ceil"),
        change(b"    return floor(x)\n", b""),
    )
    assert labels(found) == [("", "import", "clean"), ("price", "function", "remove")]
    start, end = found.operations[0].start, found.operations[0].end
    assert CODE[start:end] == b", floor"


def test_a_class_whose_fields_change_is_cut_and_one_whose_methods_change_is_none():
    field, _ = reduce(change(b'    colour: str = ""\n', b""))
    assert (field.members, field.cut) == (((CORE, "Cart"),), {(CORE, "Cart")})
    method, _ = reduce(change(FILL, b""))
    assert (method.members, method.cut) == (((CORE, "Cart.fill"),), frozenset())


def test_a_class_that_is_gone_stands_for_its_methods():
    whole = CODE[CODE.index(b"\n\nclass Cart") :]
    found, _ = reduce(change(b'"Cart", ', b""), change(whole, b""))
    assert found.members == ((CORE, "Cart"),)
    assert labels(found)[-1] == ("Cart", "class", "remove")


def test_neighbours_that_go_in_one_piece_are_told_apart():
    both = CODE[CODE.index(b"# How many") :]
    found, left = reduce(change(b'"Cart", "count", ', b""), change(both, b""))
    assert labels(found)[1:] == [("count", "function", "remove"), ("Cart", "class", "remove")]
    assert b"Cart" not in left[CORE].data


def test_a_diff_that_ends_in_the_head_of_the_next_method_is_moved_to_the_method_that_goes():
    """Diffs are free to choose between equal lines; the audit needs the whole method."""
    text = b"class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n"
    tree = Tree({**TREE, CORE: Entry(text)})
    start = text.index(b"        return 1\n\n")
    shifted = Change(CORE, start, start + len(b"        return 1\n\n    def g(self):\n"), b"")
    found, left = reduce(shifted, tree=tree)
    assert left[CORE].data == b"class A:\n    def f(self):\n        return 1\n"
    (edit,) = found.operations
    assert text[edit.start : edit.end].strip() == b"def g(self):\n        return 1"
    assert edit.symbol == "A.g"


def test_a_module_that_goes_is_deleted_and_one_that_is_emptied_stays():
    unused = Tree({**TREE, "shop/__init__.py": Entry(b"")})
    gone, left = reduce(Change(CORE, 0, len(CODE), None), tree=unused)
    assert labels(gone) == [("", "module", "remove")]
    assert [name for _, name in gone.members] == ["price", "count", "Cart"]
    assert CORE not in left
    _, emptied = reduce(Change(CORE, 0, len(CODE), b""), tree=unused)
    assert emptied[CORE].data == b""


def test_prose_and_data_may_go_as_well():
    found, _ = reduce(
        change(b"\nCall `price`.\n", b"", "README.md"), change(b"two\n", b"", "shop/data.txt")
    )
    assert found.members == ()
    assert {o.kind for o in found.operations} == {"text"}


def test_comments_and_docstrings_make_no_member():
    found, _ = reduce(
        change(b'    """Return the price."""\n', b""), change(b"# How many there are.\n", b"")
    )
    assert found.members == ()


@pytest.mark.parametrize("path", ["tests/test_core.py", "tests/conftest.py", "pyproject.toml"])
def test_tests_and_configuration_stay(path):
    with pytest.raises(ValueError, match=f"{path} belongs to the tests"):
        LANGUAGE.reduce(TREE, LAYOUT, [Change(path, 0, 4, b"")])


def test_new_code_is_refused_with_its_line():
    with pytest.raises(ValueError, match=r"core.py, line 19: 'total = 1' cannot be had"):
        reduce(change(b"    total = 0\n", b"    total = 1\n"))


def test_what_is_still_used_is_a_problem():
    price = between(b"def price", b"# How many")
    found, _ = reduce(change(price, b""))
    assert found.problem == "price (shop/__init__.py) is used by the code that stays"


def test_what_does_not_compile_is_a_problem():
    found, _ = reduce(change(b"        return ceil(x)\n", b""))
    assert found.problem == "the result would not compile: shop/core.py"


@settings(deadline=None)
@given(st.sets(st.integers(0, CODE.count(b"\n") - 1)))
def test_the_edits_leave_what_the_deletion_of_lines_leaves(dropped):
    lines = CODE.splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines))]
    changes = [Change(CORE, starts[i], starts[i] + len(lines[i]), b"") for i in sorted(dropped)]
    found, left = reduce(*changes)
    assert left[CORE].data == b"".join(x for i, x in enumerate(lines) if i not in dropped)
    assert not any(o.replacement for o in found.operations)

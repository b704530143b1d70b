import pytest

from codeenv.materialise.operations import apply_operations

MODULE = '''\
"""Module."""

import os
import re as regex
from json import (
    dumps,
    loads,  # both ways
)

__all__ = ["first", "second", "Kept"]


def first(x):
    """Say so."""
    return dumps(x)


# About the second.
@staticmethod
def second(x):
    return loads(regex.sub("a", "b", x))
    # and done


class Kept:
    """A class."""

    def only(self):
        return os.name
'''


def test_a_function_goes_with_decorators_comments_and_blank_lines(package, delete):
    text = delete(package(MODULE), "second")["pkg/code.py"].data.decode()
    assert text == MODULE.replace(
        MODULE[MODULE.index("# About") : MODULE.index("class Kept")], ""
    ).replace("import re as regex\n", "").replace("    loads,  # both ways\n", "").replace(
        '"second", ', ""
    )


def test_an_import_statement_goes_when_nothing_is_left_of_it(package, delete):
    text = delete(package(MODULE), ["first", "second"])["pkg/code.py"].data.decode()
    assert "json" not in text
    assert '__all__ = ["Kept"]' in text
    assert text.count("\n\n\n") == 1


TYPED = """\
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from json import JSONEncoder

    from decimal import Decimal


def first(x: "JSONEncoder", y: "Decimal"):
    return x


def second(x: Any):
    return x
"""


def test_a_block_for_types_goes_with_all_its_imports_and_its_condition(package, delete):
    text = delete(package(TYPED), "first")["pkg/code.py"].data.decode()
    assert text == "from typing import Any\n\n\ndef second(x: Any):\n    return x\n"
    kept = TYPED.replace("x: Any", 'x: "Decimal"')
    text = delete(package(kept), "first")["pkg/code.py"].data.decode()
    assert "if TYPE_CHECKING:\n    from decimal import Decimal\n" in text


def test_an_import_stays_whose_name_has_another_import_that_stays(package, delete):
    text = (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from json import dumps\nelse:\n"
        "    try:\n        from json import dumps\n    except ImportError:\n        dumps = None\n"
        "\n\ndef first(x):\n    return dumps(x)\n\n\ndef second(x):\n    return x\n"
    )
    left = delete(package(text), "first")["pkg/code.py"].data.decode()
    assert left == text.replace("def first(x):\n    return dumps(x)\n\n\n", "")


def test_a_class_left_empty_still_has_its_docstring(package, delete):
    text = delete(package(MODULE), "Kept.only")["pkg/code.py"].data.decode()
    assert text.endswith('class Kept:\n    """A class."""\n')
    assert "import os" not in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class A:\n    def f(self):\n        return 1\n", "class A:\n    pass\n"),
        ("class A:\n\tdef f(self): return 1", "class A:\n\tpass"),
        ("if x:\n    def f(): return 1\nelse:\n    y = 1\n", "if x:\n    pass\nelse:\n    y = 1\n"),
        (
            "try:\n    def f():\n        return 1\nfinally:\n    y = 1\n",
            "try:\n    pass\nfinally:\n    y = 1\n",
        ),
    ],
)
def test_an_empty_suite_gets_a_pass(package, delete, before, after):
    name = "A.f" if "class" in before else "f"
    assert delete(package(before), name)["pkg/code.py"].data.decode() == after


def test_stubbing_keeps_signature_and_decorators_and_drops_the_docstring(package, delete):
    text = delete(package(MODULE), ["first", "second"], "stub")["pkg/code.py"].data.decode()
    assert "@staticmethod\ndef second(x):\n    raise NotImplementedError\n\n\nclass Kept" in text
    assert "def first(x):\n    raise NotImplementedError\n\n\n# About the second." in text
    assert "json" not in text
    assert '__all__ = ["first", "second", "Kept"]' in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(): return 1  # why\n", "def f(): raise NotImplementedError\n"),
        ("def f(): return 1; x = 2\n", "def f(): raise NotImplementedError\n"),
        (
            "def f(\n    a,  # one: two\n    b=':',\n):  # end\n    return a\n",
            "def f(\n    a,  # one: two\n    b=':',\n):  # end\n    raise NotImplementedError\n",
        ),
        (
            "def f(a) -> 'x:y':\n\n    # how\n    return (\n        a\n    )\n",
            "def f(a) -> 'x:y':\n    raise NotImplementedError\n",
        ),
        (
            "async def f(*, a: int = 1, **k):\n\tawait a\n",
            "async def f(*, a: int = 1, **k):\n\traise NotImplementedError\n",
        ),
        ("def f(a):\r\n    return a\r\n", "def f(a):\r\n    raise NotImplementedError\r\n"),
        ("def f():\n    return '''\ntext'''", "def f():\n    raise NotImplementedError"),
    ],
)
def test_a_body_of_any_shape_becomes_a_stub(package, delete, before, after):
    assert delete(package(before), "f", "stub")["pkg/code.py"].data.decode() == after


def test_a_class_is_stubbed_by_its_methods(package, delete):
    text = (
        'class A(Exception):\n    """Told elsewhere."""\n\n    size = 1\n\n'
        "    def __init__(self):\n        self.x = 1\n\n    def __init_subclass__(cls):\n"
        "        cls.y = 1\n\n    @property\n    def p(self):\n        return 1\n"
    )
    assert delete(package(text), "A", "stub")["pkg/code.py"].data.decode() == (
        "class A(Exception):\n    size = 1\n\n    def __init__(self):\n"
        "        raise NotImplementedError\n\n"
        "    def __init_subclass__(cls):\n        cls.y = 1\n\n"
        "    @property\n    def p(self):\n        raise NotImplementedError\n"
    )


def test_a_property_goes_with_its_setter(package, delete):
    text = (
        "class A:\n    x = 1\n\n    @property\n    def p(self):\n        return 1\n\n"
        "    @p.setter\n    def p(self, v):\n        self.v = v\n"
    )
    assert delete(package(text), "A.p")["pkg/code.py"].data.decode() == "class A:\n    x = 1\n"


def test_bytes_outside_the_spans_stay_in_any_encoding(package, delete):
    head = "# -*- coding: latin-1 -*-\r\nname = 'é'\r\n\x0c\r\n"
    text = head + "def f():\r\n    return 'ü'\r\n\r\nlast = 'ß'\r\n"
    data = delete(package(text.encode("latin-1")), "f")["pkg/code.py"].data
    assert data.decode("latin-1") == head + "last = 'ß'\r\n"


def test_a_byte_order_mark_and_wide_characters_do_not_shift_spans(package, delete):
    text = "\ufeffname = '日本'; other = '🙂'\n\n\ndef f(): return '日'\n"
    data = delete(package(text), "f")["pkg/code.py"].data
    assert data.decode() == "\ufeffname = '日本'; other = '🙂'\n"


def test_re_exports_go_with_what_they_export(package, delete):
    init = "from .code import f, g as h  # all\nfrom . import code\n\n__all__ = ('f', 'h')\n"
    other = "from pkg import f, h\n\n\ndef use():\n    return f() + h()\n"
    tree = package(
        "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
        {"pkg/__init__.py": init, "pkg/other.py": other},
    )
    damaged = delete(tree, "f")
    assert damaged["pkg/__init__.py"].data.decode() == (
        "from .code import g as h  # all\nfrom . import code\n\n__all__ = ('h',)\n"
    )
    assert damaged["pkg/other.py"].data.decode().startswith("from pkg import h\n")


def test_a_star_import_passes_a_vanished_name_on(package, delete):
    init = "from .code import *\n"
    other = "from pkg import f\n\n\ndef use():\n    return f()\n"
    tree = package(
        "__all__ = ['f']\n\n\ndef f():\n    return 1\n",
        {"pkg/__init__.py": init, "pkg/other.py": other},
    )
    damaged = delete(tree, "f")
    assert damaged["pkg/other.py"].data == b"def use():\n    return f()\n"
    assert damaged["pkg/code.py"].data == b"__all__ = []\n"


def test_a_type_stub_beside_the_source_loses_the_name_too(package, delete):
    stub = "from typing import Any\n\ndef f(x: Any) -> int: ...\ndef g() -> int: ...\n"
    text = "def f(x):\n    return 1\n\n\ndef g():\n    return 2\n"
    tree = package(text, {"pkg/code.pyi": stub})
    assert delete(tree, "f")["pkg/code.pyi"].data == b"def g() -> int: ...\n"


@pytest.mark.parametrize(
    ("container", "after"),
    [
        ("['a', 'f']", "['a']"),
        ("['f', 'a']", "['a']"),
        ("('f', 'a')", "('a',)"),
        ("('a', 'f')", "('a',)"),
        ("('f',)", "()"),
        ("[\n    'a',\n    'f',\n]", "[\n    'a',\n]"),
        ("[\n    'f', 'a',\n    'b',\n]", "[\n    'a',\n    'b',\n]"),
        ("['a'] + ['f']", "['a'] + []"),
    ],
)
def test_exports_of_any_shape_lose_one_name(package, delete, container, after):
    text = f"__all__ = {container}\na = b = 1\n\n\ndef f():\n    return 1\n"
    result = delete(package(text), "f")["pkg/code.py"].data.decode()
    assert result == f"__all__ = {after}\na = b = 1\n"


@pytest.mark.parametrize("header", ["if a:\n", "try:\n"])
def test_exports_that_depend_on_something_lose_the_name_too(package, delete, header):
    end = "except KeyError:\n    pass\n" if header == "try:\n" else ""
    text = f"a = 1\n__all__ = ['a']\n{header}    __all__ += ['a', 'f']\n{end}"
    result = delete(package(f"{text}\n\ndef f():\n    return 1\n"), "f")
    assert result["pkg/code.py"].data.decode() == text.replace(", 'f'", "")


def test_a_re_exported_or_patched_import_stays(package, delete):
    text = (
        "import time\nimport os\nfrom re import sub as sub\n\n\n"
        "def f():\n    return time, os, sub\n"
    )
    test = (
        "from pkg import code\n\n\ndef test_it(monkeypatch):\n"
        "    monkeypatch.setattr('pkg.code.os.x', 1)\n    code.time.time\n"
    )
    damaged = delete(package(text, {"tests/test_it.py": test}), "f")
    assert damaged["pkg/code.py"].data == b"import time\nimport os\nfrom re import sub as sub\n"


def test_every_edit_names_the_bytes_it_replaces(python, package):
    tree = package(MODULE)
    layout = python.layout(tree)
    units = [u for u in python.units(tree, layout) if u.name in ("first", "Kept")]
    operations = python.delete(tree, layout, units, "remove")
    assert {(o.symbol, o.kind, o.mode) for o in operations} >= {
        ("first", "function", "remove"),
        ("Kept", "class", "remove"),
        ("", "import", "clean"),
        ("__all__", "export", "clean"),
    }
    assert apply_operations(tree, operations) != tree

"""Hiding tests never takes what the tests that stay need without naming it."""

import pytest

from tests.languages.test_hide import PATH, hidden  # noqa: F401

A, B = (f"{PATH}::test_{name}" for name in "ab")
KEPT = "\n\ndef test_b():\n    assert dispatch('g')\n"
TOLD = {
    "an import of a module that registers": (
        "from pkg import handlers\nfrom pkg.code import dispatch\n",
        "handlers",
    ),
    "an import from a module that registers": (
        "from pkg.code import dispatch\nfrom pkg.handlers import greet\n",
        "greet",
    ),
    "an import of a helper that registers": (
        "from helpers import greet\nfrom pkg.code import dispatch\n",
        "greet",
    ),
    "a decorated helper": (
        "from pkg.code import dispatch, rule\n\n\n@rule\ndef greet():\n    return 1\n",
        "greet",
    ),
    "a helper with a default": (
        "from pkg.code import dispatch, rule\n\n\ndef greet(x=rule(len)):\n    return 1\n",
        "greet",
    ),
    "a subclass": (
        "from pkg.code import Base, dispatch\n\n\nclass Greet(Base):\n    pass\n",
        "Greet",
    ),
    "a subclass of a subclass": (
        "from pkg.code import Base, dispatch\n\n\nclass Middle(Base):\n    pass\n\n\n"
        "class Greet(Middle):\n    pass\n",
        "Greet",
    ),
    "a class with a metaclass": (
        "from pkg.code import Meta, dispatch\n\n\nclass Greet(metaclass=Meta):\n    pass\n",
        "Greet",
    ),
    "a class with a registered method": (
        "from pkg.code import dispatch, rule\n\n\nclass Greet:\n    @rule\n"
        "    def g(self):\n        return 1\n",
        "Greet",
    ),
    "a value": ("from pkg.code import dispatch, rule\n\nGREET = rule(len)\n", "GREET"),
    "a value in a table": ("from pkg.code import dispatch, rule\n\nG = [(1, rule(len))]\n", "G"),
    "a value that a lambda makes": (
        "from pkg.code import dispatch, rule\n\nG = list(map(lambda f: rule(f), [len]))\n",
        "G",
    ),
    "an instance that makes itself known": (
        "from pkg.code import Known, dispatch\n\nGREET = Known()\n",
        "GREET",
    ),
    "a value of a library's registry": (
        "import codecs\n\nfrom pkg.code import dispatch\n\nGREET = codecs.register(len)\n",
        "GREET",
    ),
    "a module by its name": (
        "import importlib\n\nfrom pkg.code import dispatch\n\n"
        "GREET = importlib.import_module('pkg.handlers')\n",
        "GREET",
    ),
    "a fixture that another one asks for": (
        "import pytest\n\nfrom pkg.code import dispatch\n\n\n@pytest.fixture\ndef greet():\n"
        "    return 1\n",
        "greet",
    ),
}
CODE = {
    "pkg/handlers.py": "from pkg.code import rule\n\n\n@rule\ndef greet():\n    return 1\n",
    "pkg/loud.py": "import pkg.handlers\n",
    "tests/helpers.py": "from pkg.handlers import greet\n",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef told(greet):\n    return greet\n",
    "pkg/code.py": (
        "TABLE = {}\n\n\ndef rule(f):\n    TABLE['g'] = f\n    return f\n\n\n"
        "def dispatch(name):\n    return TABLE[name]\n\n\n"
        "class Base:\n    def __init_subclass__(cls):\n        rule(cls)\n\n\n"
        "class Meta(type):\n    def __init__(cls, *_):\n        rule(cls)\n\n\n"
        "class Known:\n    def __init__(self):\n        rule(self)\n\n\n"
        "class Point:\n    def __init__(self, x):\n        self.x = int(x)\n\n\n"
        "class Pixel(Point):\n    def __init__(self, x, color=''):\n"
        "        super().__init__(x)\n        self.color = color.lower()\n"
    ),
}


def with_hidden(head, use):
    return f"{head}\n\ndef test_a():\n    assert {use}\n{KEPT}"


@pytest.fixture
def left(hidden):  # noqa: F811 - fixtures are asked for by their names
    """Returns a test file without its test that uses something."""

    def run(head, use, others=None):
        return hidden(with_hidden(head, use), [A], (A, B), {**CODE, **(others or {})})

    return run


@pytest.mark.parametrize("shape", TOLD)
def test_what_registers_something_stays_while_a_test_does(left, shape):
    head, use = TOLD[shape]
    assert left(head, use) == head + KEPT


@pytest.mark.parametrize("shape", TOLD)
def test_what_registers_something_goes_with_the_last_test(hidden, shape):  # noqa: F811
    head, use = TOLD[shape]
    text = with_hidden(head, use).removesuffix(KEPT)
    assert hidden(text, [A], (A,), CODE) == ""


QUIET = (
    "X = 1\n",
    "X = {len(x): x.upper() for x in 'a b'.split()}\n",
    "X = Path(__file__).parent / 'x'\n",
    "X = pytest.param(dispatch, marks=pytest.mark.skip(reason=str(1)))\n",
    "X = lambda: rule(len)\n",
    "X = sorted(map(str.upper, 'ab'), key=lambda x: -ord(x))\n",
    "X = [(Point(1), Pixel('2', 'RED'))]\n",
    "class X:\n    y: int = 1\n\n    def z(self):\n        return rule(len)\n",
    "class X(ValueError):\n    pass\n",
    "class X(enum.Enum):\n    A = enum.auto()\n",
    "class W:\n    pass\n\n\nclass X(W):\n    pass\n",
    "@dataclass(frozen=True)\nclass X:\n    y: int\n",
    "class X:\n    @property\n    def y(self):\n        return 1\n\n"
    "    @y.setter\n    def y(self, y):\n        self.z = y\n",
    "@functools.lru_cache(maxsize=None)\ndef X(y=()):\n    return rule(y)\n",
    "@pytest.fixture(params=[1, 2])\ndef X(request):\n    return request.param\n",
    "@mock.patch.object(os, 'sep', '/')\ndef X(sep):\n    return sep\n",
)


@pytest.mark.parametrize("helper", QUIET)
def test_a_helper_that_only_makes_a_value_goes(hidden, helper):  # noqa: F811
    head = (
        "import enum\nimport functools\nimport os\nfrom dataclasses import dataclass\n"
        "from pathlib import Path\nfrom unittest import mock\n\nimport pytest\n\n"
        "from pkg.code import Pixel, Point, dispatch, rule\n"
    )
    kept = f"{KEPT}    assert [enum, functools, os, dataclass, Path, mock, pytest]\n"
    kept += "    assert [Pixel, Point, rule]\n"
    text = f"{head}\n\n{helper}\n\ndef test_a():\n    assert X\n{kept}"
    assert hidden(text, [A], (A, B), CODE) == head + kept


IMPORTS = {
    "of the standard library": ("import os\n", "os.name", ""),
    "of another library": ("import somelib\n", "somelib", ""),
    "from another library": ("from somelib.parts import thing\n", "thing", ""),
    "of a name from a module that stays imported": (
        "from pkg.code import TABLE\n",
        "TABLE",
        "",
    ),
    "of the package of a module that stays imported": ("import pkg\n", "pkg", ""),
    "of a module that another one imports": (
        "import pkg.handlers as handlers\n",
        "handlers",
        "import pkg.loud as loud\n",
    ),
}


@pytest.mark.parametrize("kind", IMPORTS)
def test_an_import_without_effect_goes(hidden, kind):  # noqa: F811
    line, use, other = IMPORTS[kind]
    head, tail = f"from pkg.code import dispatch\n{other}", KEPT
    tail += "    assert loud\n" if other else ""
    text = f"{line}{head}\n\ndef test_a():\n    assert {use}\n{tail}"
    assert hidden(text, [A], (A, B), CODE) == head + tail


def test_of_two_imports_of_a_module_that_only_hidden_tests_name_one_stays(left):
    head = "import pkg.handlers as one\nimport pkg.handlers as two\n"
    head += "from pkg.code import dispatch\n"
    assert left(head, "one, two") == head.partition("\n")[2] + KEPT


def test_an_import_under_a_condition_makes_no_other_one_spare(left):
    head = (
        "import sys\nfrom pkg.code import dispatch\nfrom pkg import handlers\n\n"
        "if sys.platform == 'none':\n    import pkg.handlers as other\n"
        "    assert other\n"
    )
    assert left(head, "handlers") == head + KEPT


def test_a_part_of_a_library_that_is_reached_by_its_package_stays_loaded(hidden):  # noqa: F811
    head = "import xml\nfrom xml.etree import ElementTree\n"
    kept = "\n\ndef test_b():\n    assert xml.etree.ElementTree\n"
    text = f"{head}\n\ndef test_a():\n    assert ElementTree\n{kept}"
    assert hidden(text, [A], (A, B)) == head + kept


def test_classes_stay_where_code_asks_for_subclasses(left):
    head = "from pkg.code import dispatch\n\n\nclass W:\n    pass\n\n\nclass X(W):\n    pass\n"
    other = {"pkg/loud.py": "def kinds(x):\n    return x.__subclasses__()\n"}
    assert left(head, "X", other) == head + KEPT
    assert left(head, "X") == "from pkg.code import dispatch\n" + KEPT


def test_what_needs_a_vanished_name_at_import_goes_though_it_registers(left):
    head = "from pkg.code import dispatch, gone, rule\n\n\n@rule\n@gone\ndef greet():\n    pass\n"
    assert left(head, "greet, rule") == "from pkg.code import dispatch\n" + KEPT

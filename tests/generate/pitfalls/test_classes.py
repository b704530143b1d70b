"""Classes whose bodies mean more than the methods in them."""

import pytest

HEADS = {
    "dataclass fields": (
        "from dataclasses import dataclass, field\n\n\n@dataclass\nclass A:\n    x: int = 1\n"
        "    y: list = field(default_factory=list)\n"
    ),
    "tuple fields": "from typing import NamedTuple\n\n\nclass A(NamedTuple):\n    x: int = 1\n",
    "enum members": "from enum import Enum\n\n\nclass A(Enum):\n    RED = 1\n    BLUE = 2\n",
    "flag members": "from enum import Flag, auto\n\n\nclass A(Flag):\n    RED = auto()\n",
    "slots": "class A:\n    __slots__ = ('_size', 'name')\n",
    "slots on two lines": "class A:\n    __slots__ = ['_size',\n        '__weakref__']\n",
}
METHOD = "\n    def size(self):\n        self._size = 1\n        return self._size\n"


@pytest.mark.parametrize("kind", HEADS)
def test_what_a_class_declares_stays_when_a_method_is_removed(removed, kind):
    assert removed(HEADS[kind] + METHOD, "A.size") == HEADS[kind]


@pytest.mark.parametrize("kind", HEADS)
def test_what_a_class_declares_stays_when_its_methods_are_stubbed(stubbed, kind):
    left = stubbed(HEADS[kind] + METHOD, "A")
    assert left == f"{HEADS[kind]}\n    def size(self):\n        raise NotImplementedError\n"


ENUM = (
    "from enum import Enum, auto\n\n\nclass A(str, Enum):\n"
    "    def _generate_next_value_(name, *_):\n        return name.lower()\n\n"
    "    def __new__(cls, value):\n        self = str.__new__(cls, value)\n"
    "        self._value_ = value\n        return self\n\n    RED = auto()\n\n"
    "    def shout(self):\n        return self.value.upper()\n"
)


def test_a_stubbed_enum_still_makes_its_members(stubbed):
    assert stubbed(ENUM, "A") == ENUM.replace(
        "return self.value.upper()", "raise NotImplementedError"
    )


@pytest.mark.parametrize("name", ["_missing_", "_generate_next_value_"])
def test_what_an_enum_looks_for_by_itself_is_not_removed(package, delete, name):
    text = (
        "from enum import Enum\n\n\nclass A(Enum):\n    @classmethod\n"
        f"    def {name}(cls, *_):\n        x = 1\n        return x\n\n    RED = 1\n"
    )
    with pytest.raises(ValueError, match="overrides a base class"):
        delete(package(text), f"A.{name}")


def test_an_enum_with_a_member_used_as_a_default_is_not_removed(package, delete):
    text = (
        "from enum import Enum\n\n\nclass A(Enum):\n    RED = 1\n\n    def shout(self):\n"
        "        return 1\n\n\ndef use(x=A.RED):\n    return x\n"
    )
    with pytest.raises(ValueError, match="used at import"):
        delete(package(text), "A")


@pytest.mark.parametrize(
    "base",
    [
        "from abc import ABC, abstractmethod\n\n\nclass Base(ABC):\n    @abstractmethod\n"
        "    def run(self): ...\n",
        "import abc\n\n\nclass Top(metaclass=abc.ABCMeta):\n    @abc.abstractmethod\n"
        "    def run(self):\n        ...\n\n\nclass Base(Top):\n    pass\n",
        "class Base:\n    def run(self):\n        return 'as the base does'\n",
    ],
)
def test_an_override_is_stubbed_and_never_removed(package, delete, base):
    others = {"pkg/base.py": base}
    text = "from pkg.base import Base\n\n\nclass A(Base):\n    def run(self):\n        return 1\n"
    with pytest.raises(ValueError, match="overrides a base class"):
        delete(package(text, others), "A.run")
    left = delete(package(text, others), "A.run", "stub")["pkg/code.py"].data.decode()
    assert left == text.replace("return 1", "raise NotImplementedError")


def test_an_abstract_method_is_no_unit(units_of):
    text = (
        "from abc import ABC, abstractmethod\n\n\nclass A(ABC):\n    @property\n"
        "    @abstractmethod\n    def x(self):\n        y = 1\n        return y\n"
    )
    assert list(units_of(text)) == ["A"]


PROPERTY = (
    "class A:\n    size = 1\n\n    @property\n    def p(self):\n        return self._p\n\n"
    "    @p.setter\n    def p(self, v):\n        self._p = v\n\n"
    "    @p.deleter\n    def p(self):\n        del self._p\n"
)


def test_a_property_goes_with_setter_and_deleter(removed):
    assert removed(PROPERTY, "A.p") == "class A:\n    size = 1\n"


def test_a_stubbed_property_is_still_one(stubbed):
    left = stubbed(PROPERTY, "A.p")
    assert [line for line in left.splitlines() if "raise" not in line] == [
        line for line in PROPERTY.splitlines() if "_p" not in line
    ]
    assert left.count("raise NotImplementedError") == 3


@pytest.mark.parametrize(
    "rest",
    [
        "\n    p = property(get)\n",
        "\n    alias = get\n",
        "\n    __add__ = get\n",
        "\n    TABLE = {'get': get}\n",
    ],
)
def test_a_method_that_the_class_body_uses_is_not_removed(package, delete, rest):
    text = f"class A:\n    def get(self):\n        x = 1\n        return x\n{rest}"
    with pytest.raises(ValueError, match="used at import"):
        delete(package(text), "A.get")


def test_a_method_that_the_class_body_calls_is_not_stubbed_either(package, delete):
    text = "class A:\n    def make(x):\n        y = x\n        return y\n\n    T = make(1)\n"
    with pytest.raises(ValueError, match="called at import"):
        delete(package(text), "A.make", "stub")


@pytest.mark.parametrize("hook", ["@x.validator", "@x.default"])
def test_a_method_that_a_field_knows_goes_with_its_decorator(removed, hook):
    field = (
        "class Field:\n    def validator(self, f):\n        return f\n\n    default = validator\n"
    )
    head = f"{field}\n\nclass A:\n    x = Field()\n"
    text = f"{head}\n    {hook}\n    def check(self, *_):\n        y = 1\n        return y\n"
    assert removed(text, "A.check") == head


def test_the_factory_of_a_field_is_not_removed(package, delete):
    text = (
        "from dataclasses import dataclass, field\n\n\ndef make():\n    x = []\n    return x\n\n\n"
        "@dataclass\nclass A:\n    y: list = field(default_factory=make)\n"
    )
    with pytest.raises(ValueError, match="used at import"):
        delete(package(text), "make")


def test_the_fields_of_a_removed_class_are_told(python, package):
    tree = package(HEADS["dataclass fields"] + METHOD)
    units = python.units(tree, python.layout(tree))
    (unit,) = (u for u in units if u.name == "A")
    assert "x" in python.describe(tree, unit).signature


def test_a_class_emptied_of_its_only_method_can_still_be_imported(removed):
    text = "class A(Exception):\n    # Why.\n    def f(self):\n        x = 1\n        return x\n"
    assert removed(text, "A.f") == "class A(Exception):\n    pass\n"

import pytest

CODE = """\
def f(x):
    return x


class Base:
    pass


class Box(Base):
    def load(self):
        return 1

    def get(self):
        return 1

    def other(self):
        return 2
"""
"""What goes is ``f`` or a method of ``Box``; each test adds code that stays."""


@pytest.fixture(scope="session")
def dangling(python, package):
    """Returns what is told of ``names`` going from ``CODE`` followed by more code."""

    def find(names, more="", other=""):
        tree = package(CODE + more, {"pkg/other.py": other})
        layout = python.layout(tree)
        wanted = [names] if isinstance(names, str) else names
        units = [u for u in python.units(tree, layout) if u.name in wanted]
        assert {u.name for u in units} == set(wanted)
        return python.dangling(tree, layout, units)

    return find


@pytest.mark.parametrize(
    "more",
    [
        "def g():\n    return f(1)\n",
        "def g(x=lambda y: f(y)):\n    return x\n",
        "def g():\n    return [f for x in range(3)]\n",
        "def g():\n    global f\n    return f\n",
        "def g():\n    def inner():\n        return f(1)\n    return inner\n",
        "def g(xs):\n    return [f for f in xs] and f\n",
        "class C:\n    def f(self):\n        return f(1)\n",
    ],
)
def test_a_function_called_by_code_that_stays_dangles(dangling, more):
    assert dangling("f", more) == "f (pkg/code.py)"


@pytest.mark.parametrize(
    "other",
    [
        "from pkg import code\n\n\ndef g():\n    return code.f(1)\n",
        "import pkg.code\n\n\ndef g():\n    return pkg.code.f(1)\n",
        "from .code import f as h\n\n\ndef g():\n    return h(1)\n",
        "def g():\n    from pkg.code import f\n\n    return f(1)\n",
        "try:\n    from pkg.code import f\nexcept ImportError:\n    f = None\n",
    ],
)
def test_a_function_used_by_another_module_dangles(dangling, other):
    assert dangling("f", other=other).endswith("(pkg/other.py)")


@pytest.mark.parametrize(
    "more",
    [
        "def g(f):\n    return f(1)\n",
        "def g():\n    for f in ():\n        f()\n",
        "def g(xs):\n    return [f(1) for f in xs]\n",
        "def g(h):\n    return h(f=1)\n",
        "def g(h):\n    return h.f + h.f()\n",
        "def g():\n    return lambda f: f(1)\n",
        "def g():\n    import numpy as f\n\n    return f.x\n",
        "class C:\n    def f(self):\n        return self.f()\n",
        "def g():\n    '''Like f.'''\n    return 'f'\n",
    ],
)
def test_another_thing_of_a_function_s_name_does_not_dangle(dangling, more):
    assert dangling("f", more) == ""


def test_a_function_of_the_same_name_in_another_module_does_not_dangle(dangling):
    other = "from json import dumps as f\n\n\ndef g():\n    return f(1)\n"
    assert dangling("f", other=other) == ""


@pytest.mark.parametrize(
    "more",
    [
        "class Sub(Box):\n    def more(self):\n        return self.load()\n",
        "class Sub(Box):\n    def load(self):\n        return super().load()\n",
        "class Mixin:\n    def more(me):\n        return me.load()\n\n\n"
        "class Both(Mixin, Box):\n    pass\n",
        "class Up(Base):\n    @classmethod\n    def make(cls):\n        return Box.load(cls)\n",
        "def g(thing):\n    return thing.load()\n",
        "def g():\n    return Box().load()\n",
        "def g(thing):\n    return thing.inner[0].load\n",
    ],
)
def test_a_method_that_code_that_stays_may_call_dangles(dangling, more):
    assert dangling("Box.load", more).endswith("load (pkg/code.py)")


@pytest.mark.parametrize(
    "more",
    [
        "import json\n\n\ndef g():\n    return json.load(1)\n",
        "class Other:\n    def load(self):\n        return 1\n\n    def g(self):\n"
        "        return self.load()\n",
        "class Sub(Box):\n    def load(self):\n        return 1\n\n    def g(self):\n"
        "        return self.load()\n",
        "class Other:\n    load = None\n\n\ndef g():\n    return Other.load\n",
        "def g(load):\n    return load(load=1)\n",
        "def load():\n    return 1\n\n\ndef g():\n    return load()\n",
    ],
)
def test_another_thing_of_a_method_s_name_does_not_dangle(dangling, more):
    assert dangling("Box.load", more) == ""


def test_attributes_of_builtin_types_say_nothing_on_an_unknown_object(dangling):
    assert dangling("Box.get", "def g(x):\n    return x.get(1)\n") == ""
    assert dangling("Box.get", "def g(box):\n    return box.get(1)\n") == "box.get (pkg/code.py)"
    assert dangling("Box.get", "class Sub(Box):\n    def g(self):\n        return self.get()\n")


def test_what_goes_together_does_not_dangle(dangling):
    more = "\n\ndef g():\n    return f(1)\n"
    assert dangling(["f", "g"], more) == ""
    assert dangling("Box") == ""
    assert dangling("Box", "def g():\n    return Box\n") == "Box (pkg/code.py)"


def test_a_method_that_other_classes_have_too_is_theirs_on_an_unknown_object(dangling):
    other = "class Other:\n    def load(self):\n        return 1\n\n\n"
    assert dangling("Box.load", other + "def g(x):\n    return x.load()\n") == ""
    assert dangling("Box.load", other + "def g(x):\n    return x.box.load()\n") != ""
    assert dangling(["Box.load", "Other"], other + "def g(x):\n    return x.load()\n") != ""


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("'Box'", "Box"),
        ("'list[Box] | None'", "Box"),
        ("dict[str, 'Box']", "Box"),
        ("Literal['Box']", ""),
        ("'no type at all'", ""),
    ],
)
def test_a_quoted_annotation_dangles(dangling, annotation, expected):
    more = f"\n\ndef use(x: {annotation}):\n    return x\n"
    assert dangling("Box", more).partition(" ")[0] == expected

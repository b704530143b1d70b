"""Code that others reach by its name in a string."""

import pytest

from codeenv.generate.deletion import deletions
from codeenv.generate.models import Feature
from codeenv.generate.workbench import Workbench
from codeenv.images import bundled_environment

FUNCTION = "def greet():\n    x = 1\n    return x\n"
METHODS = (
    "class Greeter:\n    size = 1\n\n    @classmethod\n    def greet(cls):\n        x = 1\n"
    "        return x\n\n    def __wave(self):\n        x = 2\n        return x\n"
)


@pytest.mark.parametrize(
    "use",
    [
        "def use(x):\n    return getattr(x, 'greet')\n",
        "def use(x):\n    return hasattr(x, 'greet')\n",
        "import operator\n\n\ndef use(x):\n    return operator.methodcaller('greet')(x)\n",
        "import operator\n\nuse = operator.attrgetter('greet')\n",
        "NAMES = ('greet', 'other')\n\n\ndef use(x, n):\n    return getattr(x, NAMES[n])\n",
        "NAMES = {'hi': 'greet'}\n\n\ndef use(n):\n    return globals()[NAMES[n]]\n",
        "def use(x):\n    for name in ['greet']:\n        getattr(x, name)()\n",
    ],
)
@pytest.mark.parametrize("text", [FUNCTION, METHODS])
def test_a_name_that_is_looked_up_is_not_removed(package, delete, text, use):
    name = "greet" if text is FUNCTION else "Greeter.greet"
    tree = package(text, {"pkg/other.py": use})
    with pytest.raises(ValueError, match="looked up by name"):
        delete(tree, name)


def test_a_word_where_nothing_is_looked_up_is_no_name(package, delete):
    other = "NAMES = ('greet', 'other')\n\n\ndef use(n):\n    return NAMES[n]\n"
    left = delete(package(FUNCTION, {"pkg/other.py": other}), "greet")
    assert left["pkg/other.py"].data.decode() == other


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", "[project]\nname='pkg'\n[project.scripts]\nrun = '{}:{}'\n"),
        ("pyproject.toml", "[project]\nname='pkg'\n[project.entry-points.x]\nrun = '{} : {}'\n"),
        ("pyproject.toml", "[tool.poetry.scripts]\nrun = {{reference = '{}:{}'}}\n"),
        ("pyproject.toml", "[tool.setuptools.dynamic]\nversion = {{attr = '{}.{}'}}\n"),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    run = {}:{} [extra]\n"),
        ("setup.cfg", "[metadata]\nversion = attr: {}.{}\n"),
        ("setup.py", "from setuptools import setup\nsetup(entry_points={{'x': ['run={}:{}']}})\n"),
    ],
)
@pytest.mark.parametrize("name", ["greet", "Greeter.greet", "Greeter"])
def test_an_entry_point_is_not_removed(package, delete, path, text, name):
    code = FUNCTION if name == "greet" else METHODS
    tree = package(code, {path: text.format("pkg.code", name)})
    with pytest.raises(ValueError, match="entry point"):
        delete(tree, name)


def test_an_entry_point_by_another_name_of_the_function_is_not_removed(package, delete):
    project = "[project]\nname='pkg'\n[project.scripts]\nrun = 'pkg:hello'\n"
    init = "from .code import greet as hello\n"
    with pytest.raises(ValueError, match="entry point"):
        delete(package(FUNCTION, {"pyproject.toml": project, "pkg/__init__.py": init}), "greet")


def test_an_entry_point_of_a_longer_name_does_not_refuse(package, delete):
    project = "[project]\nname='pkg'\n[project.scripts]\nrun = 'pkg.code:greeting'\n"
    text = f"{FUNCTION}\n\ndef greeting():\n    return 2\n"
    left = delete(package(text, {"pyproject.toml": project}), "greet")["pkg/code.py"].data
    assert left == b"def greeting():\n    return 2\n"


@pytest.mark.parametrize("named", ["pkg.code.greet", "pkg.code:greet", "code.greet"])
def test_a_path_in_a_string_is_not_left_behind(package, delete, named):
    tree = package(FUNCTION, {"pkg/other.py": f"CONFIG = {{'class': {named!r}}}\n"})
    with pytest.raises(ValueError, match="named in a string"):
        delete(tree, "greet")


def test_the_path_of_a_method_in_a_string_is_not_left_behind(package, delete):
    tree = package(METHODS, {"pkg/other.py": "CONFIG = 'pkg.code.Greeter.greet'\n"})
    with pytest.raises(ValueError, match="named in a string"):
        delete(tree, "Greeter.greet")


LAZY = {
    "a table": (
        "import importlib\n\n_HOMES = {'greet': '.code'}\n\n\ndef __getattr__(name):\n"
        "    return getattr(importlib.import_module(_HOMES[name], __name__), name)\n"
    ),
    "a branch": (
        "def __getattr__(name):\n    if name == 'greet':\n        from .code import greet\n\n"
        "        return greet\n    raise AttributeError(name)\n"
    ),
}


@pytest.mark.parametrize("kind", LAZY)
def test_what_a_package_imports_lazily_is_not_removed(package, delete, kind):
    with pytest.raises(ValueError, match="by name"):
        delete(package(FUNCTION, {"pkg/__init__.py": LAZY[kind]}), "greet")


@pytest.mark.parametrize("use", ["x._Greeter__wave()", "self.x._Greeter__wave"])
def test_a_private_method_used_under_its_mangled_name_dangles(dangling, use):
    other = f"class Other:\n    def use(self, x):\n        return {use}\n"
    assert "_Greeter__wave" in dangling(METHODS, "Greeter.__wave", {"pkg/other.py": other})


def test_a_private_method_used_in_its_class_dangles(dangling):
    text = f"{METHODS}\n    def use(self):\n        return self.__wave()\n"
    assert "__wave" in dangling(text, "Greeter.__wave")


def test_a_private_method_of_another_class_is_another(dangling):
    text = (
        f"{METHODS}\n\nclass Other:\n    def __wave(self):\n        return 1\n\n"
        "    def use(self):\n        return self.__wave()\n"
    )
    assert not dangling(text, "Greeter.__wave")


def test_a_mangled_name_in_a_string_is_not_left_behind(package, delete):
    other = "def use(x):\n    return getattr(x, '_Greeter__wave')()\n"
    with pytest.raises(ValueError, match="looked up by name"):
        delete(package(METHODS, {"pkg/other.py": other}), "Greeter.__wave")


@pytest.mark.parametrize(
    "use",
    [
        "def use(x: 'Greeter'):\n    return x\n",
        "def use(x) -> 'list[Greeter]':\n    return x\n",
        "def use(x: dict[str, 'code.Greeter | None']):\n    return x\n",
        "class Box:\n    content: 'Greeter'\n",
    ],
)
def test_a_class_in_a_quoted_annotation_dangles(dangling, use):
    other = f"from . import code\nfrom .code import Greeter\n\n\n{use}"
    assert "Greeter" in dangling(METHODS, "Greeter", {"pkg/other.py": other})


def test_a_text_in_an_annotation_is_no_name(dangling):
    other = (
        "from typing import Annotated, Literal\n\nfrom .code import Greeter\n\n\n"
        "def use(x: Literal['Greeter'], y: Annotated[int, 'a Greeter is']):\n    return x, y\n"
    )
    assert not dangling(METHODS, "Greeter", {"pkg/other.py": other})


DOCUMENTED = {
    "docs/api.rst": ".. autofunction:: pkg.code.greet\n",
    "pkg/other.py": '"""As :func:`pkg.code.greet`."""\n\n\ndef f():\n    """:func:`greet`."""\n',
}


def test_documentation_that_speaks_of_a_name_may_stay(package, delete, dangling):
    assert not dangling(FUNCTION, "greet", DOCUMENTED)
    left = delete(package(FUNCTION, DOCUMENTED), "greet")
    assert {path: left[path].data.decode() for path in DOCUMENTED} == DOCUMENTED


@pytest.mark.parametrize(
    "use",
    [
        "from pkg.code import greet\n",
        "from pkg import hello as hi\n",
        "import pkg.code\n\nversion = pkg.code.greet()\n",
        "from pkg import code as c\n\n\ndef main():\n    return c.greet()\n",
        "def main():\n    from pkg.code import greet\n\n    return greet()\n",
        "from pkg.code import *\n\ngreet()\n",
    ],
)
@pytest.mark.parametrize("path", ["docs/conf.py", "examples/a/b.py", "run.py"])
def test_files_beside_the_code_that_import_a_name_would_miss_it(dangling, path, use):
    others = {**DOCUMENTED, "pkg/__init__.py": "from .code import greet as hello\n", path: use}
    assert dangling(FUNCTION, "greet", others).endswith(f"({path})")


@pytest.mark.parametrize(
    "use",
    [
        "import pkg\n\nversion = pkg.version\n",
        "from pkg.code import *\n\nother()\n",
        "from pkg.code import other\n\n\ndef greet():\n    return other().greet()\n",
        "from another.code import greet  # no pkg\n",
        "import pkg.code\n\n# pkg.code.greet()\n'pkg.code.greet'\n",
        "print 'pkg.code.greet'\n",
    ],
)
def test_files_beside_the_code_that_use_other_things_miss_nothing(dangling, use):
    assert not dangling(FUNCTION, "greet", {"docs/conf.py": use})


@pytest.mark.parametrize("path", ["tests/helper.py", "examples/test_it.py", "conftest.py"])
def test_tests_are_hidden_or_prove_it_and_are_not_beside_the_code(dangling, path):
    assert not dangling(FUNCTION, "greet", {path: "from pkg.code import greet\n"})


def test_a_module_that_an_example_imports_is_no_feature(python, package):
    tests = "from pkg.code import greet\n\n\ndef test_it():\n    assert greet()\n"
    files = {"tests/test_it.py": tests, "pkg/other.py": "def other():\n    return 1\n"}

    def modules(more):
        tree = package(FUNCTION, {**files, **more})
        return [unit.name for unit in python.modules(tree, python.layout(tree))]

    assert modules({}) == ["pkg.code", "pkg.other"]
    assert modules({"examples/a.py": "import pkg.code\n"}) == ["pkg.other"]


def test_a_name_that_an_example_imports_is_stubbed(python, package, local_backend):
    tree = package(FUNCTION, {"examples/a.py": "from pkg.code import greet\n"})
    layout = python.layout(tree)
    environment = bundled_environment(local_backend)
    bench = Workbench(tree, python, layout, environment, local_backend)
    (unit,) = python.units(tree, layout)
    found = deletions(bench, Feature(unit, (unit,), (), 2, "function"))
    assert [deletion.mode for deletion in found] == ["stub"]

"""A file goes whole where no other code needs it, with the imports that speak of it."""

import pytest

from codeenv.materialise.operations import apply_operations

CODE = (
    "import os\n\nSIZE = 3\n\n\ndef f():\n    return os.sep * SIZE\n\n\ndef g():\n    return f()\n"
)
OTHER = "def h():\n    return 2\n"
TEST = "from pkg.code import f\n\n\ndef test_f():\n    assert f()\n"


@pytest.fixture
def modules(python, package):
    """Returns what can go whole in a small package, by path, with the tests that need it."""

    def find(others=None, code=CODE):
        tree = package(code, {"pkg/other.py": OTHER, **(others or {})})
        found = python.modules(tree, python.layout(tree))
        return {unit.path: tests for unit, tests in found.items()}

    return find


@pytest.fixture
def without(python, package):
    """Deletes the module ``pkg.code`` whole."""

    def go(others=None, code=CODE):
        tree = package(code, {"pkg/other.py": OTHER, **(others or {})})
        layout = python.layout(tree)
        (unit,) = [u for u in python.modules(tree, layout) if u.path == "pkg/code.py"]
        return apply_operations(tree, python.delete(tree, layout, [unit], "remove"))

    return go


def test_a_module_is_a_unit_with_all_its_executable_lines(python, package):
    tree = package(CODE, {"pkg/other.py": OTHER})
    unit, other = python.modules(tree, python.layout(tree))
    assert (unit.id, unit.kind, unit.start, unit.end) == ("pkg/code.py::pkg.code", "module", 1, 11)
    assert unit.lines == (7, 11)
    assert other.path == "pkg/other.py"


def test_the_tests_that_import_it_are_named(modules):
    init = "from pkg.code import g\n"
    others = {
        "pkg/__init__.py": init,
        "tests/test_a.py": TEST,
        "tests/test_b.py": TEST.replace("pkg.code import", "pkg import g as"),
        "tests/test_c.py": TEST.replace("from pkg.code import", "import pkg.code as"),
        "tests/test_d.py": TEST.replace("pkg.code import", "pkg.other import h as"),
        "tests/test_f.py": "from .test_a import test_f as again\n\n\ndef test_g():\n    again()\n",
        "tests/test_g.py": "from tests import test_f\n\n\ndef test_g():\n    test_f.again()\n",
        "tests/test_e.py": "def test_e():\n    from pkg.code import f\n\n    assert f()\n",
    }
    found = modules(others)["pkg/code.py"]
    assert found == tuple(f"tests/test_{n}.py" for n in "abcfg")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from pkg.code import f, g\nfrom pkg.other import h\n", "from pkg.other import h\n"),
        ("from .code import *\nfrom .other import *\n", "from .other import *\n"),
        ("from . import code, other\n", "from . import other\n"),
        ("import pkg.code\nfrom .other import h\n", "from .other import h\n"),
        ("import pkg.code as c\nfrom .other import h\n", "from .other import h\n"),
        ("from .code import SIZE as LENGTH\n\n__all__ = ['LENGTH', 'x']\n", "__all__ = ['x']\n"),
    ],
)
def test_the_file_goes_with_imports_and_exports_of_it(without, before, after):
    damaged = without({"pkg/__init__.py": before})
    assert "pkg/code.py" not in damaged
    assert damaged["pkg/__init__.py"].data.decode() == after


def test_its_type_stub_goes_as_well(without):
    damaged = without({"pkg/code.pyi": "SIZE: int\n\ndef f(): ...\ndef g(): ...\n"})
    assert [path for path in damaged if path.startswith("pkg/")] == [
        "pkg/__init__.py",
        "pkg/other.py",
    ]


def test_a_re_export_is_followed_from_package_to_package(without):
    others = {
        "pkg/__init__.py": "from pkg.sub import f\n",
        "pkg/sub/__init__.py": "from pkg.code import f\n",
    }
    damaged = without(others)
    assert damaged["pkg/__init__.py"].data == damaged["pkg/sub/__init__.py"].data == b""


def test_a_file_that_starts_with_a_byte_order_mark_goes_whole(without):
    assert "pkg/code.py" not in without(code=b"\xef\xbb\xbf" + CODE.encode())


NEEDED = {
    "a use of its name": "from pkg.code import f\n\n\ndef u():\n    return f()\n",
    "a use at import": "from pkg.code import SIZE\n\nTWICE = SIZE * 2\n",
    "a use through the module": "from pkg import code\n\n\ndef u():\n    return code.f()\n",
    "a use through the package": "import pkg.code\n\n\ndef u():\n    return pkg.code.f()\n",
    "the module as a value": "import pkg.code\n\n\ndef u():\n    return pkg.code\n",
    "the package it binds": "import pkg.code\n\n\ndef u():\n    return pkg.other.h()\n",
    "an import when it is called": "def u():\n    from pkg.code import f\n\n    return f()\n",
    "the module when it is called": "def u():\n    import pkg.code as c\n\n    return c.f()\n",
    "an import that may fail": "try:\n    from .code import f\nexcept ImportError:\n    f = None\n",
    "all names that may fail": "try:\n    from .code import *\nexcept ImportError:\n    pass\n",
    "a name it imports itself": "from pkg.code import os\n\n\ndef u():\n    return os.sep\n",
    "any name it has": "from pkg.code import *\n\n\ndef u():\n    return os.sep\n",
    "a quoted annotation": "from .code import f\n\n\ndef u(x: 'list[f]'):\n    return x\n",
    "its path in a string": "PLACES = ['pkg.code:f']\n",
    "its name in a string": "PLACE = 'pkg.code'\n",
    "an import by name": "import importlib\n\nm = importlib.import_module('.code', 'pkg')\n",
    "a list of names to import": (
        "import importlib\n\nm = [importlib.import_module(f'pkg.{n}') for n in ['code']]\n"
    ),
    "a lazy import": (
        "def __getattr__(name):\n    if name == 'code':\n        return __import__('pkg.' + name)\n"
    ),
}


@pytest.mark.parametrize("how", NEEDED)
def test_a_module_that_other_code_needs_stays(modules, how):
    assert "pkg/code.py" not in modules({"pkg/user.py": NEEDED[how]})


@pytest.mark.parametrize(
    "effect",
    [
        "import atexit\n\n\ndef f():\n    return 1\n\n\natexit.register(f)\n",
        "import sys\n\n\ndef f():\n    return 1\n\n\nsys.excepthook = f\n",
        "from pkg.other import h\n\n\ndef f():\n    return 1\n\n\nh.table['f'] = f\n",
        "import os\n\n\ndef f():\n    return 1\n\n\nif os.sep:\n    os.environ['F'] = '1'\n",
        "import sys\n\n\ndef f():\n    return 1\n\n\nfor x in 'ab':\n    setattr(sys, x, f)\n",
        "import sys\n\n\ndef f():\n    return 1\n\n\nsys.path += ['x']\n",
        "import sys\n\n\ndef f():\n    return 1\n\n\nold, sys.excepthook = sys.excepthook, f\n",
        "from pkg import other\n\n\ndef f():\n    return 1\n\n\ntry:\n    del other.h\n"
        "except AttributeError:\n    pass\n",
    ],
)
def test_a_module_that_changes_others_when_it_is_imported_stays(modules, effect):
    assert "pkg/code.py" not in modules(code=effect)


def test_a_module_may_change_what_is_its_own_when_it_is_imported(modules):
    own = "T = {}\n\n\ndef f():\n    return 1\n\n\nT['f'] = f\nT.update(g=f)\nf()\n"
    own += "for x in 'ab':\n    T[x] = f\nif __name__ == '__main__':\n    print(f())\n"
    assert "pkg/code.py" in modules(code=own)


@pytest.mark.parametrize(
    "others",
    [
        {"pyproject.toml": '[project]\nname = "pkg"\n[project.scripts]\nrun = "pkg.code:f"\n'},
        {"setup.cfg": "[options.entry_points]\npytest11 =\n    thing = pkg.code\n"},
        {"tests/conftest.py": "from pkg.code import f\n"},
        {"pkg/fast.pyx": "from pkg.code import f\n"},
    ],
)
def test_a_module_that_is_named_outside_the_sources_stays(modules, others):
    assert "pkg/code.py" not in modules(others)


def test_special_files_and_lone_files_stay(python, tree_of):
    tree = tree_of(
        {
            "tests/test_it.py": "def test_it():\n    assert True\n",
            "pkg/__init__.py": CODE,
            "pkg/__main__.py": CODE,
            "pkg/alone.py": CODE,
        }
    )
    assert python.modules(tree, python.layout(tree)) == {}


def test_a_package_may_lose_all_but_its_marker(without):
    damaged = without({"pkg/sub/__init__.py": "", "pkg/sub/x.py": "x = 1\n"})
    assert "pkg/code.py" not in damaged


def test_a_stubbed_module_keeps_what_runs_when_it_is_imported(python, package):
    code = "def early():\n    return 1\n\n\ndef late():\n    return 2\n\n\nX = early()\n"
    tree = package(code, {"pkg/other.py": OTHER})
    layout = python.layout(tree)
    unit = next(u for u in python.modules(tree, layout) if u.path == "pkg/code.py")
    operations = python.delete(tree, layout, [unit], "stub")
    assert [o.symbol for o in operations] == ["late"]


def test_a_test_file_that_only_its_hidden_tests_kept_alive_is_hidden_whole(python, without):
    other = "\n\ndef test_flaky():\n    assert f()\n"
    damaged = without({"tests/test_a.py": TEST + other})
    test, stays = "tests/test_a.py::test_f", "tests/test_it.py::test_it"
    (hidden,) = python.hide(damaged, [test], [test, stays])
    assert (hidden.path, hidden.kind, hidden.start) == ("tests/test_a.py", "test", 0)
    assert hidden.end == len(damaged["tests/test_a.py"].data)


def test_what_is_told_of_a_module_are_its_docstring_and_its_constants(python, package):
    code = (
        '"""Does it. And more."""\n\n_OWN = 1\nSIZE: int = 3\nTABLE = {"f": len}\n'
        f"LONG = '{'x' * 90}'\nMADE = len('x')\nBARE: int\n\n\ndef f():\n    return 1\n"
    )
    tree = package(code, {"pkg/other.py": OTHER})
    unit = next(u for u in python.modules(tree, python.layout(tree)) if u.path == "pkg/code.py")
    doc = python.describe(tree, unit)
    assert doc.summary == "Does it."
    assert doc.signature.splitlines() == [
        "SIZE = 3",
        "TABLE = {'f': len}",
        "LONG = ...",
        "MADE = ...",
    ]

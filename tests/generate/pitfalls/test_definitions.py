"""Functions that are written more than once, in conditions, on one line or in each other."""

import pytest

TWICE = {
    "a version": (
        "import sys\n\nif sys.version_info >= (3, 99):\n    def pick(x):\n        return [x]\n"
        "else:\n    # Older.\n    def pick(x):\n        y = x\n        return y\n\nlast = 1\n",
        "import sys\n\nif sys.version_info >= (3, 99):\n    pass\nelse:\n    pass\n\nlast = 1\n",
    ),
    "three platforms": (
        "import sys\n\nif sys.platform == 'a':\n    def pick(x): return 1\n"
        "elif sys.platform == 'b':\n    def pick(x): return 2\nelse:\n    def pick(x): return 3\n",
        "import sys\n\nif sys.platform == 'a':\n    pass\nelif sys.platform == 'b':\n    pass\n"
        "else:\n    pass\n",
    ),
    "a missing module": (
        "try:\n    from nowhere import faster\n\n    def pick(x):\n        return faster(x)\n"
        "except ImportError:\n    def pick(x):\n        y = x\n        return y\n\nlast = 1\n",
        "try:\n    from nowhere import faster\nexcept ImportError:\n    pass\n\nlast = 1\n",
    ),
    "a match": (
        "match len('a'):\n    case 0:\n        def pick(x):\n            return 0\n"
        "    case _:\n        def pick(x):\n            y = x\n            return y\n",
        "match len('a'):\n    case 0:\n        pass\n    case _:\n        pass\n",
    ),
    "the same twice": (
        "def pick(x):\n    return 1\n\n\ndef pick(x):\n    y = x\n    return y\n\n\nlast = 1\n",
        "last = 1\n",
    ),
}


@pytest.mark.parametrize("kind", TWICE)
def test_all_definitions_of_a_name_are_removed(removed, kind):
    before, after = TWICE[kind]
    assert removed(before, "pick") == after


@pytest.mark.parametrize("kind", TWICE)
def test_all_definitions_of_a_name_are_stubbed(stubbed, kind):
    text = stubbed(TWICE[kind][0], "pick")
    assert text.count("def pick") == text.count("raise NotImplementedError") >= 2
    assert "return" not in text


def test_lines_that_this_interpreter_never_runs_go_too(units_of):
    lines = TWICE["a version"][0].splitlines()
    shown = [lines[n - 1].strip() for n in units_of(TWICE["a version"][0])["pick"].lines]
    assert shown == ["return [x]", "y = x", "return y"]


def test_a_name_that_a_condition_imports_instead_is_not_removed(package, delete):
    text = "try:\n    from os import f\nexcept ImportError:\n    def f():\n        return 1\n"
    with pytest.raises(ValueError, match="bound again elsewhere"):
        delete(package(text), "f")


@pytest.mark.parametrize(
    "init",
    [
        "import sys\n\nif sys.version_info < (3, 8):\n    from .old import f\nelse:\n"
        "    from .code import f\n\n__all__ = ['f']\n",
        "from .code import f\n\n\ndef f(x):\n    return 2\n\n\n__all__ = ['f']\n",
        "from .code import f\n\nf = print\n__all__ = ['f']\n",
    ],
)
def test_a_name_that_a_package_also_has_from_elsewhere_is_not_removed(package, delete, init):
    tree = package("def f(x):\n    return 1\n", {"pkg/__init__.py": init, "pkg/old.py": "f = 1\n"})
    with pytest.raises(ValueError, match=r"bound again elsewhere: f in pkg/__init__\.py"):
        delete(tree, "f")


def test_code_of_another_version_that_stays_dangles(dangling):
    text = (
        "import sys\n\n\ndef f():\n    x = 1\n    return x\n\n\n"
        "if sys.version_info < (3, 8):\n    def use():\n        return f()\n"
    )
    assert dangling(text, "f")


@pytest.mark.parametrize("overload", ["overload", "typing.overload", "t.overload"])
def test_overloads_go_with_their_implementation(removed, overload):
    text = (
        f"import typing\nimport typing as t\nfrom typing import overload\n\n\n"
        f"@{overload}\ndef f(x: int) -> int: ...\n@{overload}\ndef f(x: str) -> str: ...\n"
        "def f(x):\n    y = x\n    return y\n\n\nlast = typing, t, overload\n"
    )
    assert removed(text, "f").endswith("import overload\n\n\nlast = typing, t, overload\n")


def test_overloads_keep_their_signatures_in_a_stub(stubbed):
    text = (
        "from typing import overload\n\n\nclass A:\n    @overload\n    def f(self, x: int): ...\n"
        "    @overload\n    def f(self, x: str): ...\n    def f(self, x):\n        return x\n"
    )
    assert stubbed(text, "A.f") == text.replace("return x", "raise NotImplementedError")


def test_an_async_twin_is_another_function(removed):
    text = (
        "class Client:\n    def get(self, url):\n        x = url\n        return x\n\n"
        "    def close(self):\n        return 1\n\n\nclass AsyncClient:\n"
        "    async def get(self, url):\n        x = url\n        return x\n"
    )
    left = removed(text, "Client.get")
    assert left == text.replace(
        "    def get(self, url):\n        x = url\n        return x\n\n    def close",
        "    def close",
        1,
    )


ONE_LINE = {
    "def f(): return 1\nlast = 2\n": "last = 2\n",
    "def f(): x = 1; return x\nlast = 2\n": "last = 2\n",
    "if True: first = 1\ndef f(): return 1  # why\nlast = 2\n": "if True: first = 1\nlast = 2\n",
    "class A:\n  def f(self): return 1\n  def g(self): return 2\n": (
        "class A:\n  def g(self): return 2\n"
    ),
    "first = 1; second = 2\ndef f(a=lambda x: {1: x}): return a\n": "first = 1; second = 2\n",
}


@pytest.mark.parametrize("text", ONE_LINE)
def test_a_definition_on_one_line_goes_alone(removed, text):
    assert removed(text, "A.f" if "class" in text else "f") == ONE_LINE[text]


def test_nested_functions_go_with_the_one_around_them(removed, units_of):
    text = (
        "def f(x):\n    def inner(y):\n        return y\n    # Why.\n\n    class Local:\n"
        "        z = 1\n    return inner(x), Local\n\n\nlast = 1\n"
    )
    assert list(units_of(text)) == ["f"]
    assert removed(text, "f") == "last = 1\n"


def test_statements_that_share_a_line_with_what_goes_stay(removed):
    text = (
        "import os; import sys\nfirst = 1; import re\n\n\n# About it.\n@staticmethod\n"
        "def f():\n    return os, re\n\n\nlast = sys\n"
    )
    assert removed(text, "f") == "pass; import sys\nfirst = 1; pass\n\n\nlast = sys\n"


def test_a_line_that_goes_on_below_stays_one(removed):
    text = "import os, \\\n    sys\n\n\ndef f():\n    return os\n\n\nlast = sys\n"
    assert removed(text, "f") == "import \\\n    sys\n\n\nlast = sys\n"


SCRIPT = "def f():\n    x = 1\n    return x\n\n\nif __name__ == '__main__':\n    f()\n"


def test_code_that_runs_only_as_a_script_is_code_that_stays(dangling):
    assert dangling(SCRIPT, "f") == "f (pkg/code.py)"


def test_code_that_runs_only_as_a_script_does_not_forbid_a_stub(stubbed):
    assert stubbed(SCRIPT, "f") == SCRIPT.replace(
        "    x = 1\n    return x\n", "    raise NotImplementedError\n"
    )


GUARDED = {
    "try": "try:\n    import nowhere\nexcept ImportError:\n    found = 0\nelse:\n    found = 1\n",
    "fallback": "try:\n    import nowhere\nexcept ImportError:\n    nowhere = None\n",
    "suppress": (
        "import contextlib\n\nfound = False\nwith contextlib.suppress(ImportError):\n"
        "    import nowhere\n    found = True\n"
    ),
}


@pytest.mark.parametrize("kind", GUARDED)
def test_an_import_that_tells_whether_a_module_is_there_stays(removed, kind):
    text = f"{GUARDED[kind]}\n\ndef f():\n    return nowhere.x\n"
    assert removed(text, "f") == GUARDED[kind]


def test_tests_keep_the_import_that_tells_whether_a_module_is_there(python, package):
    head = GUARDED["try"]
    kept = "\n\ndef test_b():\n    assert found in (0, 1)\n"
    gone = "\n\ndef test_a():\n    assert nowhere\n"
    tree = package("", {"tests/test_it.py": head + gone + kept})
    ids = ("tests/test_it.py::test_a", "tests/test_it.py::test_b")
    (operation,) = python.hide(tree, ids[:1], ids)
    data = tree["tests/test_it.py"].data
    left = data[: operation.start] + data[operation.end :]
    assert left.decode() == head + kept


@pytest.mark.parametrize(
    "path",
    ["pkg/code.pyi", "pkg-stubs/code.pyi", "stubs/pkg/code.pyi", "typings/pkg/code.pyi"],
)
def test_a_type_stub_loses_the_name_wherever_it_is(package, delete, path):
    stub = "def f(x: int) -> int: ...\n\nclass A:\n    def g(self) -> int: ...\n    x: int\n"
    text = (
        "def f(x):\n    return x\n\n\nclass A:\n    k = 1\n\n    def g(self):\n        return 1\n"
    )
    left = delete(package(text, {path: stub}), ["f", "A.g"])
    assert left[path].data == b"class A:\n    x: int\n"


def test_a_type_stub_of_a_package_loses_the_name_too(package, delete):
    others = {
        "pkg/__init__.py": "def f():\n    return 1\n",
        "stubs/pkg/__init__.pyi": "def f(): ...\n",
    }
    left = delete(package("", others), "f", path="pkg/__init__.py")
    assert left["stubs/pkg/__init__.pyi"].data == b""


def test_a_type_stub_of_a_single_module_loses_the_name_too(python, tree_of):
    files = {"solo.py": "def f():\n    return 1\n", "solo.pyi": "def f(): ...\n"}
    tree = tree_of({**files, "test_it.py": "def test_it():\n    assert 1\n"})
    layout = python.layout(tree)
    operations = python.delete(tree, layout, python.units(tree, layout), "remove")
    assert {operation.path for operation in operations} == {"solo.py", "solo.pyi"}


def test_type_stubs_of_other_modules_stay(package, delete):
    others = {"stubs/other/code.pyi": "def f(): ...\n", "pkg/sub/code.pyi": "def f(): ...\n"}
    left = delete(package("def f():\n    return 1\n", others), "f")
    assert all(left[path].data for path in others)

import sys
from collections.abc import Callable

import pytest

from codeenv.languages import get_language
from codeenv.languages.base import TestRequest
from codeenv.materialise.operations import apply_operations
from codeenv.sandbox.image import Image
from codeenv.tree import Entry, Tree

_CONFTEST = """\
import pytest


@pytest.fixture(scope="module")
def two():
    from pkg.code import add

    return add(1, 1)
"""
_CODE = """\
def add(a, b):
    return a + b


def stub():
    raise NotImplementedError


class Box:
    def open(self):
        def inner():
            return missing_name

        return inner()
"""
_PATH = "tests/test_it.py"


@pytest.fixture(scope="session")
def python():
    return get_language("python")


@pytest.fixture(scope="session")
def tree_of() -> Callable[..., Tree]:
    """Makes a tree from path -> text or bytes."""

    def make(files: dict[str, str | bytes]) -> Tree:
        return Tree({p: Entry(c.encode() if isinstance(c, str) else c) for p, c in files.items()})

    return make


@pytest.fixture(scope="session")
def package(tree_of):
    """Makes a small tested package from the text of its modules."""

    def make(text: str | bytes = "", others: dict[str, str | bytes] | None = None) -> Tree:
        base = {"tests/test_it.py": "def test_it():\n    assert True\n", "pkg/__init__.py": ""}
        return tree_of({**base, "pkg/code.py": text, **(others or {})})

    return make


@pytest.fixture(scope="session")
def delete(python):
    """Deletes named units of a tree and returns the new tree, checking what every edit promises."""

    def run(tree: Tree, names: str | list[str], mode: str = "remove", path: str = "pkg/code.py"):
        wanted = [names] if isinstance(names, str) else names
        layout = python.layout(tree)
        units = [u for u in python.units(tree, layout) if u.path == path and u.name in wanted]
        units = [u for u in units if u.protected not in ("part", "overload")]
        assert {u.name for u in units} == set(wanted)
        operations = python.delete(tree, layout, units, mode)
        damaged = apply_operations(tree, operations)
        for operation in operations:
            compile(damaged[operation.path].data, operation.path, "exec")
            assert operation.replacement.strip() in ("", "pass", "raise NotImplementedError", ",")
        return damaged

    return run


@pytest.fixture(scope="session")
def parameters(python):
    """Returns the parameters of a tree by name."""

    def find(tree):
        return {u.name: u for u in python.parameters(tree, python.layout(tree))}

    return find


@pytest.fixture(scope="session")
def without(python, package, parameters):
    """Returns a module's text without a parameter, checking what every edit promises."""

    def run(text, name, others=None, mode="remove", path="pkg/code.py"):
        tree = package(text, others)
        unit = parameters(tree)[name]
        operations = python.delete(tree, python.layout(tree), [unit], mode)
        assert {o.replacement.strip() for o in operations} <= {"", "pass"}
        assert {o.kind for o in operations} <= {"parameter", "import"}
        damaged = apply_operations(tree, operations)
        assert {p for p in tree if tree[p] != damaged[p]} <= {"pkg/code.py", "pkg/code.pyi"}
        return damaged[path].data.decode()

    return run


@pytest.fixture(scope="session")
def refusal(without):
    """Returns why a parameter cannot go."""

    def run(text, name, others=None):
        with pytest.raises(ValueError, match=r"\w") as error:
            without(text, name, others)
        return str(error.value)

    return run


@pytest.fixture(scope="session")
def host_python() -> Image:
    """The interpreter of these tests as an environment."""
    return Image("tests", "tests", None, (), python=sys.executable)


@pytest.fixture
def run(python, package, local_backend, host_python):
    """Runs the tests of a small repository in a box of the local backend."""

    def go(tests, others=None, code=_CODE, **request):
        tree = package(code, {_PATH: tests, "tests/conftest.py": _CONFTEST, **(others or {})})
        with local_backend.open(host_python, tree, role="grader") as box:
            result = python.run_tests(box, host_python, TestRequest(**request))
            assert box.export() == tree, "a run leaves nothing in the workspace"
        return result

    return go

"""Where code and tests lie, and which code the tests really run."""

import importlib.util
import subprocess

import pytest

from codeenv.errors import SourceError
from codeenv.images.tools import coverage_layer
from codeenv.languages import detect_language
from codeenv.languages.base import TestRequest
from codeenv.materialise.operations import apply_operations
from codeenv.sources import checkout
from codeenv.tree import Tree
from tests.generate.pitfalls.journey import bench_of, travel, tree_of

CODE = "def grow(x):\n    y = x + 1\n    y += 1\n    return y\n"
TEST = "from {} import grow\n\n\ndef test_grow():\n    assert grow(1) == 3\n"
LAYOUTS = {
    "src": {"src/pkg/__init__.py": "", "src/pkg/code.py": CODE, "tests/test_a.py": "pkg.code"},
    "flat": {"pkg/__init__.py": "", "pkg/code.py": CODE, "tests/test_a.py": "pkg.code"},
    "single module": {"code_of_ours.py": CODE, "test_a.py": "code_of_ours"},
    "single module in src": {"src/code_of_ours.py": CODE, "tests/test_a.py": "code_of_ours"},
    "namespace": {
        "src/space/pkg/__init__.py": "",
        "src/space/pkg/code.py": CODE,
        "tests/test_a.py": "space.pkg.code",
    },
    "tests inside the package": {
        "pkg/__init__.py": "",
        "pkg/code.py": CODE,
        "pkg/tests/__init__.py": "",
        "pkg/tests/test_a.py": "pkg.code",
    },
    "tests beside the modules": {
        "pkg/__init__.py": "",
        "pkg/code.py": CODE,
        "pkg/test_a.py": "pkg.code",
    },
}


def _tree(files):
    named = {p: TEST.format(c) if p.endswith("test_a.py") else c for p, c in files.items()}
    return tree_of(named)


@pytest.fixture(scope="module")
def traced(bubblewrap_backend):
    """Runs the tests of a tree; returns the run and the sources that they execute."""

    def run(tree, installed=None):
        bench = bench_of(tree, bubblewrap_backend, installed)
        mount = coverage_layer(bench.environment, bubblewrap_backend)
        result = bench.run(TestRequest(coverage=True), mounts=(mount,))
        executed = {path for path, lines in result.coverage.executed.items() if lines}
        return result, executed & set(bench.layout.source_files)

    return run


@pytest.mark.bubblewrap
@pytest.mark.parametrize("kind", LAYOUTS)
def test_the_tests_run_the_code_of_the_workspace(traced, kind):
    result, executed = traced(_tree(LAYOUTS[kind]))
    assert [test.rpartition("::")[2] for test in result.passed] == ["test_grow"]
    assert executed == {path for path in LAYOUTS[kind] if path.endswith(("code.py", "ours.py"))}


@pytest.mark.bubblewrap
@pytest.mark.parametrize("kind", ["src", "single module", "tests inside the package"])
def test_the_tests_miss_the_code_of_the_workspace_when_it_is_gone(bubblewrap_backend, kind):
    bench = bench_of(_tree(LAYOUTS[kind]), bubblewrap_backend)
    units = bench.language.units(bench.pristine, bench.layout)
    assert [unit.name for unit in units] == ["grow"]
    operations = bench.language.delete(bench.pristine, bench.layout, units, "stub")
    run = bench.run(TestRequest(), apply_operations(bench.pristine, operations))
    assert [result.message for result in run.results.values()] == ["NotImplementedError"]


SCM = """\
[project]
name = "pkg"
dynamic = ["version"]

[tool.setuptools_scm]
version_file = "src/pkg/_version.py"
"""
VERSIONED = {
    **LAYOUTS["src"],
    "pyproject.toml": SCM,
    "src/pkg/__init__.py": "from pkg._version import __version__, version_tuple\n",
    "tests/test_version.py": "import importlib.metadata\n\nimport pkg\n\n\ndef test_version():\n"
    "    assert importlib.metadata.version('pkg') == pkg.__version__\n"
    "    assert pkg.version_tuple[:3] == (0, 0, 0)\n",
}


@pytest.mark.bubblewrap
@pytest.mark.parametrize("under_git", [True, False])
def test_a_repository_whose_version_file_only_a_build_writes_passes(tmp_path, traced, under_git):
    for path, entry in _tree(VERSIONED).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(entry.data)
    if under_git:
        _commit(tmp_path)
    result, _ = traced(checkout(str(tmp_path)).tree)
    assert {test.rpartition("::")[2] for test in result.passed} == {"test_grow", "test_version"}


def _commit(folder):
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "one"]):
        subprocess.run([*git, *command], check=True, capture_output=True)


@pytest.fixture
def monorepo(tmp_path):
    """A folder with two projects, and a conftest file above both."""
    for name in ("one", "two"):
        files = {f"{name}/{path}": text for path, text in LAYOUTS["src"].items()}
        files |= {f"{name}/pyproject.toml": f"[project]\nname = '{name}'\nversion = '1'\n"}
        files |= {"conftest.py": "raise RuntimeError('outside of the project')\n"}
        for path, text in files.items():
            place = tmp_path / "repository" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(TEST.format(text) if path.endswith("test_a.py") else text)
    return tmp_path / "repository"


def test_several_projects_are_told_by_their_folders(monorepo):
    tree = checkout(str(monorepo)).tree
    with pytest.raises(SourceError, match="one, two") as caught:
        detect_language(tree).layout(tree)
    assert "--subdir one" in caught.value.hint


@pytest.mark.bubblewrap
def test_a_project_of_several_runs_without_a_conftest_file_above_it(monorepo, traced):
    _commit(monorepo)
    result, executed = traced(checkout(str(monorepo), subdir="one").tree)
    assert result.passed == {"tests/test_a.py::test_grow"}
    assert executed == {"src/pkg/code.py"}


@pytest.mark.bubblewrap
@pytest.mark.parametrize("kind", ["src", "flat"])
def test_the_repository_s_own_package_wins_over_an_installed_one(traced, kind):
    installed = {"pkg/__init__.py": "", "pkg/code.py": "def grow(x):\n    return 3\n"}
    result, executed = traced(_tree(LAYOUTS[kind]), installed)
    assert result.passed == {"tests/test_a.py::test_grow"}
    assert len(executed) == 1


@pytest.mark.bubblewrap
def test_tests_of_another_copy_are_told_so(bubblewrap_backend):
    files = {**LAYOUTS["src"], "tests/copy/pkg/__init__.py": "", "tests/copy/pkg/code.py": CODE}
    path = "import os, sys\n\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'copy'))\n"
    with pytest.raises(SourceError, match="the tests run no code of this repository \\(pkg\\)"):
        travel(_tree({**files, "tests/conftest.py": path}), bubblewrap_backend)


EXTENSIONS = ("_bisect", "_heapq", "_queue", "_json", "_opcode", "_statistics")


@pytest.fixture(scope="module")
def extension():
    """An extension module of this interpreter that is a file: its name and its bytes."""
    for name in EXTENSIONS:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin and spec.origin.endswith(".so"):
            with open(spec.origin, "rb") as file:
                return name, file.read()
    pytest.skip("every extension module is built into this interpreter")


@pytest.mark.bubblewrap
def test_an_extension_built_in_place_runs_and_stays(traced, extension):
    name, data = extension
    files = _tree(LAYOUTS["flat"])
    code = f"from pkg import {name}\n\n\n{CODE}\n\ndef where():\n    return {name}.__file__\n"
    tests = "\n\ndef test_where():\n    assert 'pkg' in code.where().split('/')[-2]\n"
    test = f"from pkg import code\n{TEST.format('pkg.code')}{tests}"
    built = tree_of({"pkg/code.py": code, f"pkg/{name}.so": data, "tests/test_a.py": test})
    result, executed = traced(Tree({**files, **built}))
    assert {t.rpartition("::")[2] for t in result.passed} == {"test_grow", "test_where"}
    assert executed == {"pkg/code.py"}


COMPILED = {
    "pkg/_fast.pyx": b"from pkg.code import grow\n\ncdef int twice(x):\n    return grow(grow(x))\n",
    "pkg/_fast.pxd": b"from pkg.code cimport grow\n",
    "pkg/_fast.c": b'static void f() { PyObject_GetAttrString(module, "grow"); }\n',
    "pkg/_fast.cpython-311-x86_64-linux-gnu.so": b"\x7fELF\x02\x00grow\x00\xff\xfe",
}


@pytest.mark.parametrize("path", COMPILED)
def test_what_compiled_code_names_is_stubbed_and_never_removed(package, delete, path):
    tree = package(f"{CODE}\n\ndef shrink(x):\n    return x\n", {path: COMPILED[path]})
    with pytest.raises(ValueError, match="cannot be read: grow in pkg/_fast"):
        delete(tree, "grow")
    assert b"def grow" in delete(tree, "grow", "stub")["pkg/code.py"].data
    assert b"shrink" not in delete(tree, "shrink")["pkg/code.py"].data

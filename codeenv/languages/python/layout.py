"""Find the code and the tests of a Python repository by looking at names and texts only."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import PurePosixPath

from codeenv.errors import SourceError
from codeenv.languages.base import Layout
from codeenv.languages.python.manifests import Manifests
from codeenv.tree import Tree

TEST_FOLDERS = frozenset({"test", "tests", "testsuite", "unit_tests", "unittests"})
"""Folders that belong to the tests wherever they are."""
VENDOR_FOLDERS = frozenset(
    {"_vendor", "_vendored", "vendor", "vendored", "_vendored_packages", "third_party"}
    | {"thirdparty", "extern", "site-packages", "node_modules", "__pycache__", "__pypackages__"}
)
"""Folders of other people's code wherever they are."""
ASIDE_FOLDERS = frozenset(
    {"doc", "docs", "example", "examples", "sample", "samples", "demo", "demos", "benchmark"}
    | {"benchmarks", "bench", "benches", "perf", "script", "scripts", "tool", "tools", "ci", "etc"}
    | {"build", "dist", "bin", "venv", "env", "contrib", "notebooks", "tutorials", "tutorial"}
    | {"packaging", "recipes", "fuzz", "fuzzing", "typings", "stubs", "requirements", "news"}
    | {"changelog.d", "artwork", "assets", "misc", "util", "utils", "dev", "release", "admin"}
)
"""Folders beside the packages that are neither code nor tests."""
ASIDE_MODULES = frozenset(
    {"setup", "conftest", "noxfile", "tasks", "fabfile", "dodo", "versioneer", "ez_setup"}
    | {"distribute_setup", "manage", "conf", "runtests", "run_tests", "build", "make", "release"}
    | {
        "pavement",
        "bootstrap",
        "toxfile",
        "test",
        "tests",
        "hatch_build",
        "pdm_build",
        "SConstruct",
    }
)
SUPPORT_FILES = frozenset(
    {"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"}
    | {"setup.py", ".coveragerc", "pytest.toml", ".pytest.toml"}
)
GENERATED_NAMES = ("*_pb2.py", "*_pb2_grpc.py", "parsetab.py", "lextab.py", "_version.py")
_GENERATED = re.compile(
    rb"(?i)#.*(generated (by|from|file)|auto-?generated|file generated|do not (edit|modify|change))"
)
_TEST_CODE = re.compile(
    rb"(?m)^[ \t]*(?:async[ \t]+def|def)[ \t]+test|^class[ \t]+\w*Test|TestCase\b|unittest|doctest"
)
_TEST_FUNCTION = re.compile(rb"(?m)^[ \t]*(?:async[ \t]+def|def)[ \t]+test_")
_CLAIM = re.compile(rb"(?m)^[ \t]*assert\b|\b(?:pytest|unittest|TestCase|doctest)\b")
_IMPORT = re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t]+([A-Za-z]\w*)")
_MAX_SOURCE, _HEAD = 2 * 1024**2, 16 * 1024


@dataclass(frozen=True, slots=True)
class Folder:
    """An import root with what can be imported from it."""

    root: str
    packages: Mapping[str, str]
    """Import name -> folder, or file of a single module."""


@lru_cache(maxsize=16)
def find_layout(tree: Tree) -> Layout:
    """Return where code and tests are.

    Raises:
        SourceError: If there is no Python, there are no tests, or there is nothing to import.
    """
    files = [p for p in tree if p.endswith(".py") and tree[p].mode != "link"]
    if not files:
        raise SourceError("there is no Python code here", hint="name its folder with --subdir")
    manifests = Manifests.read(tree)
    patterns = manifests.python_files
    folder = _import_root(tree, manifests, manifests.import_names)
    tests = _test_files(tree, files, patterns, folder)
    if not tests:
        _refuse_no_tests(tree, folder)
    if not folder.packages:
        folder = _import_root(tree, manifests, _imported(tree, tests))
    if not folder.packages:
        _refuse_no_package(tree)
    sources = [p for p in files if _is_source(tree, p, folder) and p not in tests]
    if not sources:
        _refuse_no_package(tree)
    return Layout(
        import_roots=(folder.root,),
        packages=tuple(sorted(folder.packages)),
        source_files=tuple(sources),
        test_files=tuple(sorted(tests)),
        support_files=_support_files(tree, tests),
    )


def is_test_place(path: str) -> bool:
    """Return whether a path lies in a folder of tests."""
    return any(part in TEST_FOLDERS for part in path.split("/")[:-1])


def is_generated(path: str, data: bytes) -> bool:
    """Return whether a source file was written by a program."""
    name = PurePosixPath(path).name
    if any(fnmatch(name, pattern) for pattern in GENERATED_NAMES):
        return True
    return any(_GENERATED.search(line) for line in data[:_HEAD].splitlines()[:12])


def _imported(tree: Tree, tests: Iterable[str]) -> frozenset[str]:
    """Return top-level names that tests import, as far as they may be what is tested."""
    found = {m.decode() for test in tests for m in _IMPORT.findall(tree[test].data)}
    return frozenset(found - TEST_FOLDERS - ASIDE_FOLDERS - ASIDE_MODULES)


def _import_root(tree: Tree, manifests: Manifests, named: frozenset[str]) -> Folder:
    candidates = [*manifests.package_folders, "src", ".", "lib", "python", "Lib"]
    best = Folder(".", {})
    for root in dict.fromkeys(candidates):
        found = _packages(tree, root, named)
        if found:
            return Folder(root, found)
    return best


def _packages(tree: Tree, root: str, named: frozenset[str]) -> dict[str, str]:
    below = tree.under(root) if root != "." else tree
    prefix = "" if root == "." else root + "/"
    tops = {p.split("/", 1)[0] for p in below if p.endswith(".py") and "/" in p}
    found = {
        top: prefix + top
        for top in sorted(tops)
        if _may_be_package(top, root, named) and f"{top}/__init__.py" in below
    }
    if not found or (root != "." and not named <= found.keys()):
        spaces = [t for t in sorted(tops) if t not in found and _may_be_package(t, root, named)]
        wanted = spaces if root != "." else [t for t in spaces if _is_space(below, t, named)]
        found |= {t: prefix + t for t in wanted if _has_modules(below, t)}
    return found | _modules(below, root, prefix, named, alone=not found)


def _modules(
    below: Tree, root: str, prefix: str, named: frozenset[str], *, alone: bool
) -> dict[str, str]:
    stems = [p[:-3] for p in below if "/" not in p and p.endswith(".py")]
    usable = [s for s in stems if s.isidentifier() and s not in ASIDE_MODULES]
    usable = [s for s in usable if not is_test_name(s + ".py") and s != "__init__"]
    chosen = [s for s in usable if _matches(s, named)] or (usable if alone or root != "." else [])
    return {stem: f"{prefix}{stem}.py" for stem in chosen}


def _may_be_package(name: str, root: str, named: frozenset[str]) -> bool:
    if not name.isidentifier() or name in VENDOR_FOLDERS or (root == "." and name == "src"):
        return False
    if _matches(name, named):
        return True
    if name in TEST_FOLDERS or name == "testing" or name.endswith(("_tests", "_test")):
        return False
    return root != "." or name not in ASIDE_FOLDERS


def _is_space(below: Tree, top: str, named: frozenset[str]) -> bool:
    """Return whether a folder is a namespace package that the project's name speaks of."""
    inner = {p.split("/")[1] for p in below if p.startswith(top + "/")}
    return top in named or any(f"{top}_{i}".removesuffix(".py") in named for i in inner)


def _matches(name: str, named: frozenset[str]) -> bool:
    return name in named


def _has_modules(below: Tree, top: str) -> bool:
    return any(p.startswith(top + "/") and p.endswith(".py") for p in below)


def is_test_name(name: str, patterns: Iterable[str] = ()) -> bool:
    """Return whether a file is called like a test module."""
    return any(fnmatch(name, pattern) for pattern in ("test_*.py", "*_test.py", *patterns))


def _test_files(
    tree: Tree, files: list[str], patterns: tuple[str, ...], folder: Folder
) -> set[str]:
    found = set()
    for path in files:
        name = PurePosixPath(path).name
        if name in ("conftest.py", "__init__.py") or _is_aside(path, folder):
            continue
        named = any(fnmatch(path, p) for p in patterns if "/" in p)
        code = _TEST_CODE if named or is_test_name(name, patterns) else _TEST_FUNCTION
        said = name in ("test.py", "tests.py") and _CLAIM.search(tree[path].data)
        likely = code is _TEST_CODE or said
        if likely and path not in folder.packages.values() and code.search(tree[path].data):
            found.add(path)
    return found


def _is_aside(path: str, folder: Folder) -> bool:
    parts = path.split("/")[:-1]
    if any(part in VENDOR_FOLDERS or part.startswith(".") for part in parts):
        return True
    inside = any(_is_below(path, place) for place in folder.packages.values())
    return not inside and bool(parts) and parts[0] in ASIDE_FOLDERS


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place + "/")


def _is_source(tree: Tree, path: str, folder: Folder) -> bool:
    home = next((p for p in folder.packages.values() if _is_below(path, p)), None)
    if home is None or PurePosixPath(path).name == "conftest.py":
        return False
    inner = path[len(home) + 1 :].split("/")[:-1] if path != home else []
    if any(p in VENDOR_FOLDERS or p in TEST_FOLDERS or p.startswith(".") for p in inner):
        return False
    data = tree[path].data
    return len(data) <= _MAX_SOURCE and not is_generated(path, data)


def _support_files(tree: Tree, tests: set[str]) -> tuple[str, ...]:
    homes = {str(PurePosixPath(p).parent) for p in tests} - {"."}
    homes = {h for h in homes if is_test_place(h + "/x") or not _has_package_marker(tree, h)}
    found = []
    for path in tree:
        if path in tests:
            continue
        name = PurePosixPath(path).name
        if name in SUPPORT_FILES or is_test_place(path) or any(_is_below(path, h) for h in homes):
            found.append(path)
    return tuple(found)


def _has_package_marker(tree: Tree, folder: str) -> bool:
    return f"{folder}/__init__.py" in tree


def _projects(tree: Tree) -> list[str]:
    marks = ("pyproject.toml", "setup.py", "setup.cfg")
    homes = {str(PurePosixPath(p).parent) for p in tree if PurePosixPath(p).name in marks}
    return sorted(h for h in homes if h != "." and not set(h.split("/")) & ASIDE_FOLDERS)


def _refuse_no_tests(tree: Tree, folder: Folder) -> None:
    inner = [p for p in _projects(tree) if not is_test_place(p + "/x")]
    if inner and not folder.packages:
        raise _several(inner)
    raise SourceError(
        "no tests are shipped here: no test module with test functions was found",
        hint="a source distribution often leaves its tests out: give the git URL instead",
    )


def _refuse_no_package(tree: Tree) -> None:
    inner = [p for p in _projects(tree) if not is_test_place(p + "/x")]
    if inner:
        raise _several(inner)
    raise SourceError(
        "there are tests here, but no Python package that they could test",
        hint="if the code is in a sub-folder, name it with --subdir",
    )


def _several(projects: list[str]) -> SourceError:
    shown = ", ".join(projects[:5]) + (", …" if len(projects) > 5 else "")
    return SourceError(
        f"no package at the top, but projects in sub-folders: {shown}",
        hint=f"name one, e.g. --subdir {projects[0]}",
    )

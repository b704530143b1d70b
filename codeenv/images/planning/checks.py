"""Verification commands: what must work in an environment, derived from the repository's files."""

import ast
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from packaging.requirements import Requirement

from codeenv.images.planning.facts import Check, Expectation, Fact, Place
from codeenv.languages.base import InstallPlan, Layout
from codeenv.languages.python.syntax import parse_module
from codeenv.tree import Tree

ENOUGH = 10
_SOME, _LOOKED_AT = 4, 20
_PYTEST = "python -m pytest -q -p no:cacheprovider -o addopts="
_SOME_PASS = Expectation((0, 1), r"\b[1-9]\d* passed")
_COLLECTS = Expectation((0,), r"\btests? collected|\b[1-9]\d* tests?\b|::")
_TEST = re.compile(rb"(?m)^[ \t]*(async[ \t]+)?def[ \t]+test")
_KEPT_VALUED = frozenset({"-m", "-k", "-p", "-o", "-W", "--import-mode", "-c"})


def derive_checks(
    tree: Tree, layout: Layout, install: InstallPlan, facts: Sequence[Fact]
) -> tuple[Check, ...]:
    """Return at least ten commands, where the repository has matter for so many.

    They are taken in turn from imports, metadata, requirements, whole test files, single tests and
    the commands of the repository's own tools, so that any part of them is about everything.
    """
    kinds = (
        _imports(tree, layout),
        _metadata(tree, install),
        _test_files(tree, layout),
        _own_commands(tree, facts),
        _uses(tree, layout),
        _requirements(tree, install),
        _entry_points(tree, install),
        _single_tests(tree, layout),
    )
    found: dict[str, Check] = {}
    for checks in kinds:
        found.update((check.command, check) for check in islice(checks, _SOME))
    for check in chain(_single_tests(tree, layout), _uses(tree, layout, most=ENOUGH)):
        if len(found) >= ENOUGH:
            break
        found.setdefault(check.command, check)
    return tuple(found.values())


def _imports(tree: Tree, layout: Layout) -> Iterator[Check]:
    for root in layout.import_roots:
        for package in layout.packages:
            place = f"{root}/{package}".removeprefix("./")
            for path in (f"{place}/__init__.py", f"{place}.py"):
                if path in tree:
                    yield Check(_python(f"import {package}"), Place(path), f"{package} imports")


def _uses(tree: Tree, layout: Layout, most: int = 1) -> Iterator[Check]:
    """Yield the first imports of the project that each test file makes."""
    for path in layout.test_files:
        module = parse_module(tree[path].data)
        for name, part, line in islice(_imported(module.body if module else (), layout), most):
            yield Check(_python(f"from {name} import {part}"), Place(path, line), "a test needs it")


def _imported(body: Iterable[ast.stmt], layout: Layout) -> Iterator[tuple[str, str, int]]:
    """Yield (module, name, line) of what is taken from the project itself."""
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            own = node.module.split(".")[0] in layout.packages
            names = [alias.name for alias in node.names if own and alias.name != "*"]
            yield from ((node.module, name, node.lineno) for name in names)


def _metadata(tree: Tree, install: InstallPlan) -> Iterator[Check]:
    if install.name:
        expect = Expectation(output=f"^{re.escape(install.version)}$")
        place = _named(tree, ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO"), install.name)
        yield Check(_version(install.name), place, "its metadata is there", expect)
    yield Check("python -m pytest --version", _test_place(tree), "the test runner is there")


def _requirements(tree: Tree, install: InstallPlan) -> Iterator[Check]:
    for text in install.requirements:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            path = install.reasons.get(text, "").split(" ")[0]
            place = _named(tree, (path,), requirement.name)
            why = f"{requirement.name} is installed"
            yield Check(_version(requirement.name), place, why, Expectation(output=r"\d"))


def _entry_points(tree: Tree, install: InstallPlan) -> Iterator[Check]:
    text = install.metadata.get("entry_points.txt", b"").decode("utf-8", "replace")
    for name, module, attribute in re.findall(r"(?m)^([\w.-]+)\s*=\s*([\w.]+):(\w+)", text):
        place = _named(tree, ("pyproject.toml", "setup.cfg", "setup.py"), module)
        yield Check(_python(f"from {module} import {attribute}"), place, f"{name} can be loaded")


def _test_files(tree: Tree, layout: Layout) -> Iterator[Check]:
    """Yield, of files spread over all, that they are collected, and that something passes."""
    files = [path for path in layout.test_files if _first_test(tree, path)]
    step = max(1, len(files) // _SOME)
    for number, path in enumerate(files[::step]):
        place = Place(path, _first_test(tree, path))
        if number % 2:
            command = f"{_PYTEST} --collect-only {shlex.quote(path)}"
            yield Check(command, place, "its tests are found", _COLLECTS)
        else:
            yield Check(f"{_PYTEST} {shlex.quote(path)}", place, "tests of it pass", _SOME_PASS)


def _single_tests(tree: Tree, layout: Layout) -> Iterator[Check]:
    for path in layout.test_files[:_LOOKED_AT]:
        for name, line in _plain_tests(tree, path):
            command = f"{_PYTEST} {shlex.quote(f'{path}::{name}')}"
            yield Check(command, Place(path, line), "it runs", Expectation((0,)))


def _own_commands(tree: Tree, facts: Iterable[Fact]) -> Iterator[Check]:
    """Yield the repository's own pytest commands, without what only reports or spreads them."""
    for fact in facts:
        if fact.kind == "test":
            words = shlex.split(fact.value)
            arguments = _kept(words[words.index("pytest") + 1 :], tree) if "pytest" in words else []
            if arguments:
                command = f"{_PYTEST} {shlex.join(arguments)}"
                yield Check(command, fact.place, "the repository tests so", _SOME_PASS)


def _kept(words: Sequence[str], tree: Tree) -> list[str]:
    kept, waiting = list[str](), list(words)
    while waiting:
        word = waiting.pop(0)
        if word in _KEPT_VALUED and waiting:
            kept += [word, waiting.pop(0)]
        elif not word.startswith("-"):
            path = word.partition("::")[0].rstrip("/").removeprefix("./")
            if path in tree or any(p.startswith(f"{path}/") for p in tree):
                kept.append(path)
    return kept


def _plain_tests(tree: Tree, path: str) -> Iterator[tuple[str, int]]:
    """Yield (name, line) of test functions that need no parameters: nothing is decorated."""
    module = parse_module(tree[path].data)
    for node in module.body if module else ():
        if isinstance(node, ast.FunctionDef) and _is_plain(node, allowed=0):
            yield node.name, node.lineno
        elif isinstance(node, ast.ClassDef) and _holds_tests(node):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and _is_plain(method, allowed=1):
                    yield f"{node.name}::{method.name}", method.lineno


def _holds_tests(node: ast.ClassDef) -> bool:
    if not node.bases:
        return node.name.startswith("Test")
    return any(ast.unparse(base).endswith("TestCase") for base in node.bases)


def _is_plain(node: ast.FunctionDef, *, allowed: int) -> bool:
    bare = not node.decorator_list and len(node.args.args) == allowed
    return node.name.startswith("test") and bare


def _first_test(tree: Tree, path: str) -> int:
    """Return the line of the first test in a file, or 0."""
    found = _TEST.search(tree[path].data)
    return tree[path].data.count(b"\n", 0, found.end()) + 1 if found else 0


def _named(tree: Tree, paths: Iterable[str], name: str) -> Place:
    """Return the first line of some files that names a project or module."""
    wanted = re.compile(rf"(?i)(?<![\w-]){re.sub(r'[-_.]+', '[-_.]+', name)}(?![\w-])")
    known = [path for path in paths if path in tree]
    for path in known:
        text = tree[path].data.decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if wanted.search(line):
                return Place(path, number)
    return Place(known[0] if known else next(iter(tree)))


def _test_place(tree: Tree) -> Place:
    paths = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg")
    return _named(tree, paths, "pytest")


def _python(text: str) -> str:
    return f"python -c {shlex.quote(text)}"


def _version(name: str) -> str:
    return _python(f"from importlib.metadata import version; print(version({json.dumps(name)}))")

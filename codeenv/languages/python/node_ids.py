"""From test ids to the functions that define the tests, by reading test files."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from codeenv.languages.python.definitions import Found, find_definitions
from codeenv.languages.python.hierarchy import base_names
from codeenv.languages.python.references import references
from codeenv.languages.python.syntax import Function, Source, parse_source
from codeenv.tree import Tree

_MAX_BASES = 30


@dataclass(frozen=True, slots=True)
class TestId:
    """A test id in its parts: file, class and function names, and what is in brackets."""

    path: str
    names: tuple[str, ...]
    parameters: str = ""

    __test__ = False

    @property
    def is_doctest(self) -> bool:
        """Whether it is a doctest: of a text file, or under a dotted name."""
        return not self.path.endswith(".py") or any("." in name for name in self.names)


def split_id(text: str) -> TestId:
    """Split a pytest node id; parameters may hold anything, ``::`` and brackets included."""
    path, _, rest = text.partition("::")
    names, bracket, parameters = rest.partition("[")
    return TestId(path, tuple(names.split("::")) if names else (), bracket + parameters)


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a test function is written."""

    path: str
    name: str


def definitions_of(tree: Tree, ids: Sequence[str]) -> Mapping[str, Definition | None]:
    """Return the function behind each id, found through base classes; None if there is none."""
    known: dict[tuple[str, tuple[str, ...]], Definition | None] = {}
    result: dict[str, Definition | None] = {}
    for text in ids:
        parts = split_id(text)
        key = (parts.path, parts.names)
        if key not in known:
            known[key] = None if parts.is_doctest else _find(tree, parts)
        result[text] = known[key]
    return result


def found_in(tree: Tree, path: str) -> tuple[Found, ...]:
    """Return the definitions of a file of the tree; none if it is not readable Python."""
    entry = tree.get(path)
    source = parse_source(entry.data) if entry is not None else None
    return find_definitions(source) if source else ()


def _find(tree: Tree, parts: TestId) -> Definition | None:
    name = ".".join(parts.names)
    if any(f.name == name and not f.is_class for f in found_in(tree, parts.path)):
        return Definition(parts.path, name)
    if not parts.names:
        return None
    return _inherited(tree, parts) or _generated(tree, parts)


def _inherited(tree: Tree, parts: TestId) -> Definition | None:
    queue = [(parts.path, ".".join(parts.names[:-1]))]
    for path, class_name in queue:
        for found in found_in(tree, path):
            if found.name == f"{class_name}.{parts.names[-1]}" and not found.is_class:
                return Definition(path, found.name)
        if len(queue) < _MAX_BASES:
            queue += [c for c in _bases(tree, path, class_name) if c not in queue]
    return None


def _generated(tree: Tree, parts: TestId) -> Definition | None:
    """Return where a test is written that a function, a loop or a decorator makes.

    Every definition of that name in the file counts, wherever it is, or in one that its class may
    come from; a number at the end of the name may come from a decorator that multiplies tests.
    """
    numbered = re.match(r"(test\w*?)_\d+(_.*)?$", parts.names[-1])
    for path in (parts.path, *_imported_from(tree, parts.path, parts.names[0])):
        entry = tree.get(path)
        names = _names_in(entry.data) if entry is not None else frozenset()
        for name in (parts.names[-1], numbered.group(1) if numbered else ""):
            if name in names:
                return Definition(path, anywhere(name))
    return None


@lru_cache(maxsize=256)
def _names_in(data: bytes) -> frozenset[str]:
    source = parse_source(data)
    return frozenset(defined_names(source)) if source else frozenset()


def anywhere(name: str) -> str:
    """Spell the name of a definition whose place in the file does not matter."""
    return f"*.{name}"


def defined_names(source: Source) -> Mapping[str, tuple[ast.stmt, ...]]:
    """Return the functions and assignments of a file by name, wherever they are."""
    found: dict[str, tuple[ast.stmt, ...]] = {}
    for node in ast.walk(source.module):
        if isinstance(node, Function):
            found[node.name] = (*found.get(node.name, ()), node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            found[name] = (*found.get(name, ()), node)
    return found


def _bases(tree: Tree, path: str, class_name: str) -> Iterator[tuple[str, str]]:
    found = found_in(tree, path)
    names = {f.name for f in found if f.is_class}
    if class_name and class_name not in names:
        yield from ((other, class_name) for other in _imported_from(tree, path, class_name))
    for definition in found:
        if definition.name == class_name and isinstance(definition.node, ast.ClassDef):
            for base in base_names(definition.node):
                if base in names:
                    yield path, base
                else:
                    yield from ((other, base) for other in _imported_from(tree, path, base))


def _imported_from(tree: Tree, path: str, name: str) -> Iterator[str]:
    """Yield files that an imported class may be in, the nearest first."""
    file = references(tree[path].data) if path in tree else None
    here = str(PurePosixPath(path).parent)
    for imported in file.imports if file else ():
        module = imported.module
        if not imported.name or not {name, "*"} & {imported.bound, imported.name}:
            continue
        tail = "/".join(module.split(".")) if module else imported.name
        ends = (f"/{tail}.py", f"/{tail}/__init__.py")
        candidates = [p for p in tree if ("/" + p).endswith(ends)]
        yield from sorted(candidates, key=lambda p: (not p.startswith(here), len(p), p))

"""The modules of a repository that a test file takes helpers and base classes from."""

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from codeenv.languages.python.definitions import find_definitions, last_name
from codeenv.languages.python.hierarchy import base_names
from codeenv.languages.python.node_ids import Definition, TestId
from codeenv.languages.python.remembering import TREES, remember
from codeenv.languages.python.syntax import Source, parse_source
from codeenv.tree import Tree

_MOST = 6


def modules_for(tree: Tree, path: str, module: ast.Module) -> tuple[ast.Module, ...]:
    """Return the syntax trees of files whose names a test file calls or derives from."""
    wanted = set(_needed(module))
    found: dict[str, ast.Module] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and wanted & {a.name for a in node.names}:
            for other in _files(tree, path, node):
                source = parse_source(tree[other].data)
                if source is not None and len(found) < _MOST:
                    found.setdefault(other, source.module)
    return tuple(found.values())


def find_inherited(tree: Tree, test: TestId) -> Definition | None:
    """Return the method of a test class that it has from a class of another file."""
    if len(test.names) < 2:
        return None
    queue, name = [(test.path, ".".join(test.names[:-1]))], test.names[-1]
    for path, class_name in queue:
        source = parse_source(tree[path].data) if path in tree else None
        for found in find_definitions(source) if source else ():
            if found.name == f"{class_name}.{name}" and not found.is_class:
                return Definition(path, found.name)
            if found.name == class_name and isinstance(found.node, ast.ClassDef) and source:
                for base in base_names(found.node):
                    homes = [(path, base), *imported_from(tree, path, source, base)]
                    queue += [home for home in homes if home not in queue]
        if len(queue) > _MOST * 5:
            break
    return None


def imported_from(tree: Tree, path: str, source: Source, name: str) -> Iterator[tuple[str, str]]:
    """Yield the files that a name of a module may be imported from, with its name there."""
    for node in _imports(source):
        if name in (a.asname or a.name for a in node.names):
            original = next(a.name for a in node.names if name == (a.asname or a.name))
            yield from ((other, original) for other in _files(tree, path, node))


def _needed(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield last_name(node.value.func)
        elif isinstance(node, ast.ClassDef):
            yield from (last_name(base) for base in node.bases)


@remember(TREES)
def _imports(source: Source) -> tuple[ast.ImportFrom, ...]:
    return tuple(n for n in ast.walk(source.module) if isinstance(n, ast.ImportFrom))


def _files(tree: Tree, path: str, node: ast.ImportFrom) -> Iterator[str]:
    """Yield the files that names may be imported from, the nearest first."""
    tail = (node.module or "").replace(".", "/")
    if node.level:
        folder = PurePosixPath(path)
        for _ in range(node.level):
            folder = folder.parent
        stem = folder / tail if tail else folder
        likely = (f"{stem}.py", f"{stem}/__init__.py", *(f"{stem}/{a.name}.py" for a in node.names))
        yield from (p.removeprefix("./") for p in likely if p.removeprefix("./") in tree)
        return
    here = str(PurePosixPath(path).parent)
    ends = (f"/{tail}.py", f"/{tail}/__init__.py")
    found = [p for p in tree if f"/{p}".endswith(ends) and p != path]
    yield from sorted(found, key=lambda p: (not p.startswith(here), len(p), p))

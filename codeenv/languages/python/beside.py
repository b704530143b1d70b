"""Python files beside the code and its tests that import it: documentation, examples, scripts.

They stay as they are, so a removal may not take what they import.  Texts that merely speak of a
name, a docstring or a page of documentation, may stay behind.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from codeenv.languages.base import Layout
from codeenv.languages.python.layout import is_test_name, is_test_place
from codeenv.languages.python.project import Project, Spread, read_project
from codeenv.languages.python.references import References, references
from codeenv.tree import Tree


def used_beside(tree: Tree, layout: Layout, spread: Spread) -> Iterator[tuple[str, str]]:
    """Yield the names, with the files, by which files beside the code reach symbols that go."""
    project = _read_beside(tree, layout)
    for path in project.mentioning({name for _, name in spread.symbols}):
        for name in _used_in(project, path, spread):
            yield name, path


def _used_in(project: Project, path: str, spread: Spread) -> Iterator[str]:
    file, aliases = project.files[path], project.aliases(path)
    starred: set[str] = set()
    for imported in file.imports:
        if imported.name == "*":
            starred |= spread.names(imported.module)
        if not imported.level and project.imported(path, imported) in spread.symbols:
            yield imported.bound
    for use in file.uses:
        if use.root in starred or project.symbol(aliases, use.name) in spread.symbols:
            yield use.name


@lru_cache(maxsize=8)
def _read_beside(tree: Tree, layout: Layout) -> Project:
    """Return the project with the files beside it as its files."""
    project = read_project(tree, layout)
    files = dict(_files(tree, layout, project.modules))
    return replace(project, files=files, sources=tuple(files))


def _files(
    tree: Tree, layout: Layout, modules: Mapping[str, str]
) -> Iterator[tuple[str, References]]:
    packages = [name.encode() for name in layout.packages]
    for path, entry in tree.items():
        if not path.endswith(".py") or entry.mode == "link" or path in modules:
            continue
        if path in layout.test_files or _is_of_tests(path):
            continue
        file = references(entry.data) if any(p in entry.data for p in packages) else None
        if file is not None:
            yield path, file


def _is_of_tests(path: str) -> bool:
    name = PurePosixPath(path).name
    return name == "conftest.py" or is_test_name(name) or is_test_place(path)

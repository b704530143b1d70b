"""Which files of a repository an import runs."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from codeenv.languages.python.bound import Import
from codeenv.languages.python.references import References, references
from codeenv.tree import Tree


class Loading:
    """The Python files of a tree as imports find them, tests and their helpers included."""

    def __init__(self, tree: Tree, roots: Sequence[str], packages: Sequence[str]) -> None:
        """Look from each importing file's own folders, too: tests import their neighbours."""
        self._tree = tree
        self._roots = tuple("" if root == "." else root.strip("/") + "/" for root in roots)
        self._packages = frozenset(packages)
        self._folders = frozenset(_folders(tree))
        self._reached: dict[str, frozenset[str]] = {}

    def file(self, path: str) -> References | None:
        """Return what a file of the tree refers to."""
        return references(self._tree[path].data)

    def is_own(self, path: str, imported: Import) -> bool:
        """Return whether an import takes something from the repository itself."""
        top = imported.module.partition(".")[0]
        return imported.level > 0 or top in self._packages or self._home(path, imported) is not None

    def files(self, path: str, imported: Import) -> tuple[str, ...]:
        """Return the files that an import runs itself, outer packages first."""
        home = self._home(path, imported)
        if home is None:
            return ()
        parts = imported.module.split(".") if imported.module else []
        if imported.name:
            parts.append(imported.name)
        places = [
            "/".join(parts[:count]) for count in range(0 if imported.level else 1, len(parts) + 1)
        ]
        found = (self._module(home, place) for place in places)
        return tuple(file for file in found if file)

    def followed(self, path: str, imported: Import, name: str) -> tuple[str, str] | None:
        """Return the file, and the name there, that a dotted name reaches through an import."""
        root, _, rest = name.partition(".")
        if root != imported.bound:
            return None
        outer, inner = self.files(path, replace(imported, name="")), self.files(path, imported)
        if imported.name:
            if not rest and outer and inner == outer:
                return outer[-1], imported.name
            return (inner[-1], rest) if rest and inner != outer else None
        spelt = imported.module if imported.node.names[imported.index].asname is None else root
        within = name.removeprefix(f"{spelt}.")
        return (outer[-1], within) if outer and within != name else None

    def reached(self, files: Iterable[str]) -> frozenset[str]:
        """Return these files and all that certainly run with them."""
        found: set[str] = set()
        waiting = list(files)
        while waiting:
            path = waiting.pop()
            if path not in found:
                found.add(path)
                waiting += self._run_by(path)
        return frozenset(found)

    def _run_by(self, path: str) -> frozenset[str]:
        if path not in self._reached:
            file = self.file(path)
            found = (self.files(path, i) for i in unconditional(file)) if file else ()
            self._reached[path] = frozenset().union(*found)
        return self._reached[path]

    def _home(self, path: str, imported: Import) -> str | None:
        """Return the folder, with its slash, that the first part of a module is looked up in."""
        folders = [*map(str, PurePosixPath(path).parents)]
        own = ["" if folder == "." else folder + "/" for folder in folders]
        if imported.level:
            return own[imported.level - 1] if imported.level <= len(own) else None
        top = imported.module.partition(".")[0]
        for home in dict.fromkeys((*self._roots, *own)):
            if self._module(home, top):
                return home
            if home + top in self._folders and top not in sys.stdlib_module_names:
                return home
        return None

    def _module(self, home: str, place: str) -> str:
        names = (f"{place}/__init__.py", f"{place}.py") if place else ("__init__.py",)
        return next((home + name for name in names if home + name in self._tree), "")


def unconditional(file: References) -> Iterator[Import]:
    """Yield the imports of a file that run whenever it does."""
    body = set(file.source.module.body)
    return (i for i in file.imports if i.node in body)


@lru_cache(maxsize=8)
def _folders(tree: Tree) -> frozenset[str]:
    """Return the folders that hold Python files, at any depth."""
    parents = {PurePosixPath(p).parent for p in tree if p.endswith(".py")}
    return frozenset(str(folder) for p in parents for folder in (p, *p.parents))

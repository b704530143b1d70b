"""What the tests that stay in a file need of it, beside what they name."""

import ast
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from codeenv.languages.python.bound import Import
from codeenv.languages.python.cleaning import words_of
from codeenv.languages.python.effects import Code, origin_of
from codeenv.languages.python.loading import unconditional
from codeenv.languages.python.syntax import Function, parse_source
from codeenv.tree import Tree


class Place:
    """A test file in its repository."""

    def __init__(self, tree: Tree, path: str, code: Code, visible: frozenset[str]) -> None:
        """Read nothing yet.

        Args:
            tree: The repository.
            path: The file.
            code: The code of the tree.
            visible: The names of the stable tests that stay in it, "" for one made elsewhere.
        """
        self._tree, self.path, self._code = tree, path, code
        self.visible = visible

    def acts(self, statement: ast.stmt) -> bool:
        """Return whether a statement that nobody names may still be missed when it is gone."""
        effects = self._code.effects(self.path)
        return effects is None or effects.has(statement) or self._is_asked_for(statement)

    def needs(self, imported: Import, stays: Collection[Import], uses: Collection[str]) -> bool:
        """Return whether an import does what the others of the file do not.

        Args:
            imported: The import.
            stays: The others that stay.
            uses: Dotted names in the code that stays.
        """
        loading = self._code.loading
        if not loading.is_own(self.path, imported):
            return _loads_part(imported, stays, uses)
        file = loading.file(self.path)
        certain = [i for i in unconditional(file) if i in stays] if file else []
        files = loading.files(self.path, imported)
        if not files:
            return all((i.level, i.module) != (imported.level, imported.module) for i in certain)
        runs = loading.reached(f for i in certain for f in loading.files(self.path, i))
        return not runs.issuperset(files)

    def _is_asked_for(self, statement: ast.stmt) -> bool:
        """Return whether a ``conftest.py`` asks for a fixture that the file gives in its place."""
        if not isinstance(statement, Function):
            return False
        is_fixture = any("fixture" in ast.unparse(d) for d in statement.decorator_list)
        return is_fixture and statement.name in set(self._asked_for())

    def _asked_for(self) -> Iterator[str]:
        for folder in PurePosixPath(self.path).parents:
            entry = self._tree.get(str(folder / "conftest.py"))
            source = parse_source(entry.data) if entry else None
            for node in ast.walk(source.module) if source else ():
                if isinstance(node, ast.arg):
                    yield node.arg
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from words_of(node.value)


def _loads_part(imported: Import, stays: Collection[Import], uses: Collection[str]) -> bool:
    """Return whether code that stays reaches by another name what an import may have loaded."""
    loaded = [imported.module, *([f"{imported.module}.{imported.name}"] if imported.name else [])]
    loaded = [f"{name}." for name in loaded if "." in name]
    spelt = {i.bound: origin_of(i) for i in stays}
    for use in uses if loaded else ():
        root, _, rest = use.partition(".")
        full = f"{spelt.get(root, '')}.{rest}."
        if any(full.startswith(name) for name in loaded):
            return True
    return False

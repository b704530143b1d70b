"""Which definitions a deletion takes, and which lines and symbols vanish with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codeenv.languages.base import Unit
from codeenv.languages.python.definitions import Found, find_definitions
from codeenv.languages.python.project import Project, Symbol, own_symbol, used_from_outside
from codeenv.languages.python.syntax import Source, parse_source
from codeenv.languages.python.units import PART, protection
from codeenv.tree import Tree

DeleteMode = Literal["remove", "stub"]


@dataclass(frozen=True)
class Target:
    """The definitions that one file loses; those inside a lost class are not listed.

    Attributes:
        path: The file.
        module: Its dotted name, "" if it has none.
        source: Parsed.
        found: The definitions, every one of each qualified name.
        others: Where the file goes whole: the module itself, and every other name it has.
    """

    path: str
    module: str
    source: Source
    found: tuple[Found, ...]
    others: frozenset[Symbol] = frozenset()

    @property
    def whole(self) -> bool:
        """Whether the file goes."""
        return bool(self.others)

    def covers(self, line: int) -> bool:
        """Return whether a line belongs to a definition that goes."""
        return self.whole or any(f.first <= line <= f.last for f in self.found)

    @property
    def symbols(self) -> frozenset[Symbol]:
        """The module's top-level names that are deleted."""
        own = frozenset((self.module, f.name) for f in self.found if f.parent is None)
        return own | self.others

    @property
    def names(self) -> frozenset[str]:
        """The qualified names that are deleted."""
        return frozenset(f.name for f in self.found)


def find_targets(tree: Tree, project: Project, units: Sequence[Unit]) -> tuple[Target, ...]:
    """Resolve units to definitions of the tree.

    Raises:
        ValueError: If a unit is not there or is protected.
    """
    by_path: dict[str, set[str]] = {}
    files = {unit.path for unit in units if unit.kind == "module"}
    for unit in units:
        if unit.protected and unit.protected != PART:
            raise ValueError(f"protected ({unit.protected}): {unit.name}")
        by_path.setdefault(unit.path, set()).add(unit.name)
    return tuple(
        _file(tree, project, path) if path in files else target_of(tree, project, path, names)
        for path, names in sorted(by_path.items())
    )


def _file(tree: Tree, project: Project, path: str) -> Target:
    """Return the target of a file that goes whole, protected definitions included."""
    source = parse_source(tree[path].data) if path in tree else None
    if source is None or path not in project.files:
        raise ValueError(f"unreadable file: {path}")
    module, file = project.modules.get(path, ""), project.files[path]
    outside = used_from_outside(project)
    every = (module, "*") in outside
    passed_on = (i.bound for i in file.imports if every or (module, i.bound) in outside)
    names = {*file.bound, *passed_on}
    found = tuple(d for d in find_definitions(source) if d.parent is None)
    others = {(module, name) for name in names} | {own_symbol(module)}
    return Target(path, module, source, found, frozenset(others))


def target_of(tree: Tree, project: Project, path: str, names: set[str]) -> Target:
    """Resolve qualified names to definitions of one file.

    Raises:
        ValueError: If a name is not there, or must stay.
    """
    entry = tree.get(path)
    source = parse_source(entry.data) if entry is not None else None
    if source is None:
        raise ValueError(f"unreadable file: {path}")
    chosen = tuple(d for d in find_definitions(source) if d.name in names)
    missing = names - {d.name for d in chosen}
    if missing:
        raise ValueError(f"not found in {path}: {min(missing)}")
    for definition in chosen:
        reason = protection(definition)
        if reason in ("typing", "script", "anonymous"):
            raise ValueError(f"protected ({reason}): {definition.name}")
    outer = tuple(d for d in chosen if not d.inside(chosen))
    return Target(path, project.modules.get(path, ""), source, outer)

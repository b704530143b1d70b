"""Whether code that stays, tests excepted, still speaks of what a removal takes.

Names are resolved as far as the sources tell.  A name that another thing of the same name answers
for (a local variable, a keyword, another class's method, another library's function) is none.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codeenv.languages.base import Layout, Unit
from codeenv.languages.python.beside import used_beside
from codeenv.languages.python.hierarchy import (
    Class,
    ancestors,
    others_have,
    read_classes,
    relatives,
)
from codeenv.languages.python.project import Project, Spread, read_project
from codeenv.languages.python.references import References, Use
from codeenv.languages.python.registrations import is_registered, registrations_of
from codeenv.languages.python.targets import Target, find_targets, target_of
from codeenv.tree import Tree


@dataclass(frozen=True)
class _Gone:
    """The methods that go.

    Attributes:
        methods: Attribute name -> simple names of the classes that lose it.
        whole: Simple names of the classes that go whole.
        classes: All classes of the sources.
    """

    methods: Mapping[str, frozenset[str]]
    whole: frozenset[str]
    classes: Mapping[str, tuple[Class, ...]]


def find_dangling(tree: Tree, layout: Layout, units: Sequence[Unit]) -> str:
    """Return a use of a unit, with its file, in code that would stay after a removal, or ""."""
    project = read_project(tree, layout)
    targets = find_targets(tree, project, units)
    by_path = {t.path: t for t in targets}
    spread = project.exporters({symbol for target in targets for symbol in target.symbols})
    whole = frozenset(f.node.name for t in targets for f in t.found if f.is_class)
    gone = _Gone(_methods(targets), whole, read_classes(tree, layout))
    spoken = {name for _, name in spread.symbols} | set(gone.methods)
    for path in project.mentioning(spoken):
        target = by_path.get(path)
        if path.endswith(".pyi"):
            continue
        entries = registrations_of(project, path, spread, target)
        cleaned = is_registered(entries, project.files[path].uses)
        for name, line in _dangling(project, path, spread, gone, cleaned):
            if target is None or not target.covers(line):
                return f"{name} ({path})"
    return _first(used_beside(tree, layout, spread))


def find_left_dangling(
    pristine: Tree, left: Tree, layout: Layout, gone: Sequence[tuple[str, str]]
) -> str:
    """Return a use, with its file, of what somebody removed in the code they left, or "".

    ``gone`` names units of ``pristine`` by path and qualified name.
    """
    names: dict[str, set[str]] = {}
    for path, name in gone:
        names.setdefault(path, set()).add(name)
    project = read_project(pristine, layout)
    targets = tuple(target_of(pristine, project, path, names[path]) for path in sorted(names))
    now = read_project(left, layout)
    spread = now.exporters({symbol for target in targets for symbol in target.symbols})
    for path, imported in spread.imports:
        return f"{imported.name} ({path})"
    whole = frozenset(f.node.name for t in targets for f in t.found if f.is_class)
    lost = _Gone(_methods(targets), whole, read_classes(pristine, layout))
    for path in now.mentioning({name for _, name in spread.symbols} | set(lost.methods)):
        if not path.endswith(".pyi"):
            for name, _ in _dangling(now, path, spread, lost, lambda _: False):
                return f"{name} ({path})"
    return _first(used_beside(left, layout, spread))


def _first(found: Iterator[tuple[str, str]]) -> str:
    return next((f"{name} ({path})" for name, path in found), "")


def _methods(targets: tuple[Target, ...]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for target in targets:
        for method in target.found:
            if method.parent is not None:
                for name in method.spellings:
                    found.setdefault(name, set()).add(method.parent.node.name)
    return {name: frozenset(owners) for name, owners in found.items()}


def _dangling(
    project: Project, path: str, spread: Spread, gone: _Gone, cleaned: Callable[[Use], bool]
) -> Iterator[tuple[str, int]]:
    file = project.files[path]
    names, aliases = spread.names(project.modules[path]), project.aliases(path)
    for imported in file.imports:
        late = not imported.top or imported.guarded
        if late and project.imported(path, imported) in spread.symbols:
            yield imported.bound, imported.node.lineno
    for use in file.uses:
        if cleaned(use):
            continue
        plain = use.root in names and not use.local and not use.scope
        named = plain or project.symbol(aliases, use.name) in spread.symbols
        if named or any(_is_of(project, file, use, place, gone) for place in _places(use, gone)):
            yield use.name, use.line


def _places(use: Use, gone: _Gone) -> Iterator[int]:
    """Yield where in a dotted name there is the name of a method that goes."""
    for place, part in enumerate(use.name.split(".")):
        if part in gone.methods and (place or use.scope):
            yield place


def _is_of(project: Project, file: References, use: Use, place: int, gone: _Gone) -> bool:
    """Return whether the part of a dotted name may be the method of a class that loses it."""
    parts = use.name.split(".")
    name = parts[place]
    owners = gone.methods[name]
    if place == 0:
        return _simple(use.scope) in owners
    holder = parts[place - 1]
    if place == 1 and use.owner:
        return _reaches(gone, _simple(use.owner), name, above=holder == "super")
    if holder in gone.classes and not (place == 1 and use.local):
        return _reaches(gone, holder, name, above=False)
    if _is_foreign(project, file, use):
        return False
    if others_have(gone.classes, name, owners | gone.whole):
        return _plain(holder) in {_plain(owner) for owner in owners}
    return True


def _reaches(gone: _Gone, start: str, name: str, *, above: bool) -> bool:
    """Return whether a name looked up on a class ends at a class that loses it, or nowhere.

    Args:
        gone: What goes.
        start: The class; one of its subclasses or their other bases may have the name as well.
        name: The attribute.
        above: Whether the class itself is passed over.
    """
    owners = gone.methods[name]
    for known in ancestors(gone.classes, start)[1 if above else 0 :]:
        if known in owners:
            return True
        if any(name in one.names for one in gone.classes.get(known, ())):
            return False
    return not owners.isdisjoint(relatives(gone.classes, start))


def _is_foreign(project: Project, file: References, use: Use) -> bool:
    """Return whether the first name is imported from another distribution."""
    packages = {name.partition(".")[0] for name in project.paths}
    for imported in file.imports:
        if imported.bound == use.root and (imported.top is not use.local):
            own = imported.level or imported.module.partition(".")[0] in packages
            if not own:
                return True
    return False


def _simple(name: str) -> str:
    return name.rpartition(".")[2]


def _plain(name: str) -> str:
    return re.sub(r"\W|_", "", name).lower()

"""What a repository has besides units to grow features from: whole files and plug-ins."""

from collections.abc import Iterator, Mapping

from codeenv.languages.base import Layout, Unit
from codeenv.languages.python.dangling import find_dangling
from codeenv.languages.python.definitions import find_definitions
from codeenv.languages.python.deletion import delete_units
from codeenv.languages.python.modules import module_units, needing_tests
from codeenv.languages.python.project import Project, read_project
from codeenv.languages.python.registrations import (
    registering_decorators,
    registrations_in,
    registrations_of,
)
from codeenv.languages.python.targets import find_targets
from codeenv.languages.python.units import list_units
from codeenv.tree import Tree


def whole_modules(tree: Tree, layout: Layout) -> Mapping[Unit, tuple[str, ...]]:
    """Return the files that can go whole, with the test files that cannot be imported without."""
    project = read_project(tree, layout)
    found: dict[Unit, tuple[str, ...]] = {}
    for unit in module_units(tree, layout, project):
        if not _is_removable(tree, layout, unit):
            continue
        symbols = {s for t in find_targets(tree, project, [unit]) for s in t.symbols}
        tests = needing_tests(layout, project, project.exporters(symbols))
        if not set(tests) & set(layout.support_files):
            found[unit] = tests
    return found


def registered_units(tree: Tree, layout: Layout) -> tuple[Unit, ...]:
    """Return the functions and classes that staying code knows by a registration alone."""
    project = read_project(tree, layout)
    names = frozenset(_registered_names(project))
    return tuple(
        unit
        for unit in list_units(tree, layout)
        if not unit.parent
        and not unit.protected
        and (_is_decorated(project, unit) or _is_handed_over(project, unit, names))
        and _is_removable(tree, layout, unit)
    )


def _is_removable(tree: Tree, layout: Layout, unit: Unit) -> bool:
    try:
        delete_units(tree, layout, [unit], "remove")
    except ValueError:
        return False
    return not find_dangling(tree, layout, [unit])


def _registered_names(project: Project) -> Iterator[str]:
    """Yield the simple names of all that stands where something is registered."""
    for path in project.sources:
        for registration in registrations_in(project.files[path].source, lambda name: True):
            for name, _ in registration.names:
                yield name.rpartition(".")[2]


def _is_decorated(project: Project, unit: Unit) -> bool:
    if unit.path not in project.files:
        return False
    return any(
        any(registering_decorators(project, unit.path, found))
        for found in find_definitions(project.files[unit.path].source)
        if found.name == unit.name
    )


def _is_handed_over(project: Project, unit: Unit, names: frozenset[str]) -> bool:
    """Return whether the unit, by whatever name, stands in a registration that it can leave."""
    if unit.path not in project.files:
        return False
    spread = project.exporters({(project.modules[unit.path], unit.name)})
    known = {name for _, name in spread.symbols}
    if names.isdisjoint(known):
        return False
    return any(registrations_of(project, path, spread, None) for path in project.mentioning(known))

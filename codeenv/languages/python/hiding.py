"""Take tests out of their files, with what only they used."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from codeenv.errors import SourceError
from codeenv.languages.python.bound import Import
from codeenv.languages.python.edits import Label, applied, to_operations, whole_file
from codeenv.languages.python.effects import Code
from codeenv.languages.python.golden_files import Names, TestNames, hide_golden
from codeenv.languages.python.hidden_file import TestFile
from codeenv.languages.python.layout import find_layout
from codeenv.languages.python.loading import Loading
from codeenv.languages.python.node_ids import (
    Definition,
    definitions_of,
    found_in,
    split_id,
)
from codeenv.languages.python.place import Place
from codeenv.languages.python.project import Project, read_project
from codeenv.languages.python.syntax import compiles, parse_source
from codeenv.tasks.models import Operation
from codeenv.tree import Tree

_WHOLE = Label("", "test", "hide")


def hide_tests(tree: Tree, test_ids: Sequence[str], stable: Sequence[str]) -> tuple[Operation, ...]:
    """Return the edits that take tests out of their files.

    Given the damaged tree, imports of names that are not there any more go too.

    Raises:
        ValueError: If what stays of a file would not work.
    """
    hidden = frozenset(test_ids)
    known = definitions_of(tree, tuple(dict.fromkeys((*stable, *test_ids))))
    chosen = _chosen(known, hidden)
    whole = {*_whole_files(known, hidden, tree), *_cut_off_files(known, hidden, tree)}
    vanished = _vanished_imports(tree)
    code = _code(tree)
    operations: list[Operation] = []
    for path in sorted({d.path for d in chosen} | whole | vanished.keys()):
        if path in whole:
            operations.append(whole_file(path, tree[path].data, _WHOLE))
            continue
        names = {d.name for d in chosen if d.path == path}
        kept = _kept_classes(path, known, hidden)
        place = Place(tree, path, code, _visible(path, known, hidden))
        operations += _hide_in(tree, place, names, kept, vanished.get(path, ()))
    return (*operations, *_hide_golden(tree, operations, _test_names(tree, known, hidden, whole)))


def _chosen(
    known: Mapping[str, Definition | None], hidden: frozenset[str]
) -> frozenset[Definition]:
    """Return the functions all of whose tests are hidden."""
    owners: dict[Definition, list[str]] = {}
    for test, definition in known.items():
        if definition is not None:
            owners.setdefault(definition, []).append(test)
    return frozenset(d for d, tests in owners.items() if hidden.issuperset(tests))


def _whole_files(
    known: Mapping[str, Definition | None], hidden: frozenset[str], tree: Tree
) -> Iterator[str]:
    """Yield files that go whole: they have a hidden test whose code cannot be told, and no other.

    Such a test stays visible in a file that must stay, as doctests do in sources.
    """
    tests: dict[str, list[str]] = {}
    for test in known:
        tests.setdefault(split_id(test).path, []).append(test)
    for test, definition in known.items():
        parts = split_id(test)
        if definition is not None or test not in hidden or parts.path not in tree:
            continue
        in_source = parts.is_doctest and parts.path.endswith(".py")
        if hidden.issuperset(tests[parts.path]) and not in_source:
            yield parts.path


def _cut_off_files(
    known: Mapping[str, Definition | None], hidden: frozenset[str], tree: Tree
) -> Iterator[str]:
    """Yield files that import a module which is not there, and have no stable test but hidden ones.

    What else such a file has could not run.
    """
    project = _project(tree)
    tests: dict[str, list[str]] = {}
    for test in known:
        tests.setdefault(split_id(test).path, []).append(test)
    for path, every in tests.items():
        file = project.files.get(path) if project else None
        if project and file and hidden.issuperset(every) and path not in project.sources:
            targets = [project.target(path, i) for i in file.imports if i.top and not i.guarded]
            if any(_is_lost_module(tree, project, target) for target in targets):
                yield path


def _is_lost_module(tree: Tree, project: Project, module: str) -> bool:
    """Return whether a module of the project's own is neither source nor compiled code."""
    own = {name.partition(".")[0] for name in project.paths}
    if module.partition(".")[0] not in own or module in project.paths:
        return False
    stem = module.replace(".", "/")
    return not any(f"/{path}".find(f"/{stem}{end}") >= 0 for path in tree for end in "./")


def _kept_classes(
    path: str, known: Mapping[str, Definition | None], hidden: frozenset[str]
) -> frozenset[str]:
    """Return the test classes of a file that have a test which is not hidden."""
    kept = set()
    for test in known:
        parts = split_id(test)
        if parts.path == path and test not in hidden:
            kept |= {".".join(parts.names[:n]) for n in range(1, len(parts.names))}
    return frozenset(kept)


def _visible(
    path: str, known: Mapping[str, Definition | None], hidden: frozenset[str]
) -> frozenset[str]:
    """Return the functions of a file behind the tests that are not hidden, "" for others."""
    return frozenset(
        definition.name if definition and definition.path == path else ""
        for test, definition in known.items()
        if test not in hidden and split_id(test).path == path
    )


def _hide_in(
    tree: Tree, place: Place, names: set[str], kept: frozenset[str], vanished: Sequence[Import]
) -> tuple[Operation, ...]:
    path = place.path
    data = tree[path].data
    source = parse_source(data)
    if source is None:
        raise ValueError(f"cannot be taken out of an unreadable file: {path}")
    file = TestFile(source, _names_used_elsewhere(tree, path), place)
    file.hide(names, kept)
    file.forget(vanished)
    file.drop_unused()
    if file.is_hollow():
        return (whole_file(path, data, _WHOLE),)
    operations = to_operations(path, source, file.edits())
    if not compiles(applied(data, operations)):
        raise ValueError(f"the result would not compile: {path}")
    return operations


def _test_names(
    tree: Tree,
    known: Mapping[str, Definition | None],
    hidden: frozenset[str],
    whole: Collection[str],
) -> tuple[TestNames, ...]:
    """Return the tests of the files that lose some, and of files of the same name.

    Whatever else such a file defines counts as kept.
    """
    chosen = _chosen(known, hidden)
    gone: dict[str, set[Names]] = {}
    kept: dict[str, set[Names]] = {}
    for test, definition in known.items():
        parts = split_id(test)
        if not parts.names:
            continue
        goes = test in hidden and (definition in chosen or parts.path in whole)
        (gone if goes else kept).setdefault(parts.path, set()).add(parts.names)
    found = []
    files = {PurePosixPath(path).name for path in gone}
    for path in sorted(p for p in {*gone, *kept} if PurePosixPath(p).name in files):
        defined = {tuple(f.name.split(".")) for f in found_in(tree, path) if not f.is_class}
        hides, stays = gone.get(path, set()), kept.get(path, set())
        stays = stays | (defined - hides)
        found.append(TestNames(path, frozenset(hides - stays), frozenset(stays)))
    return tuple(found)


def _hide_golden(
    tree: Tree, operations: Sequence[Operation], tests: Sequence[TestNames]
) -> tuple[Operation, ...]:
    try:
        return hide_golden(tree, find_layout(tree), operations, tests) if tests else ()
    except SourceError:
        return ()


def _names_used_elsewhere(tree: Tree, path: str) -> frozenset[str]:
    """Return names that other readable test files import from a module of this file's name."""
    project = _project(tree)
    stem = path.rpartition("/")[2].removesuffix(".py")
    found: set[str] = set()
    for other, file in project.files.items() if project else ():
        if other != path:
            for imported in file.imports:
                if imported.name and imported.module.rpartition(".")[2] == stem:
                    found.add(imported.name)
    return frozenset(found)


def _vanished_imports(tree: Tree) -> Mapping[str, tuple[Import, ...]]:
    """Return, per test or support file, imports of names that project modules do not have."""
    project = _project(tree)
    if project is None:
        return {}
    result = {}
    sources = frozenset(project.sources)
    for path, file in project.files.items():
        if path not in sources and not path.endswith(".pyi"):
            gone = tuple(i for i in file.imports if i.top and _is_vanished(project, path, i))
            if gone:
                result[path] = gone
    return result


def _is_vanished(project: Project, path: str, imported: Import) -> bool:
    target = project.target(path, imported)
    home = project.paths.get(target)
    if home is None or not imported.name or imported.name == "*" or imported.guarded:
        return False
    module = project.files.get(home)
    if module is None or f"{target}.{imported.name}" in project.paths:
        return False
    if "__getattr__" in module.bound or imported.name.startswith("__"):
        return False
    bound = {i.bound for i in module.imports}
    dynamic = "*" in bound or any(u.root in ("globals", "locals", "vars") for u in module.uses)
    return imported.name not in bound and imported.name not in module.bound and not dynamic


def _code(tree: Tree) -> Code:
    try:
        layout = find_layout(tree)
    except SourceError:
        return Code(tree, Loading(tree, ("src", "."), ()))
    return Code(tree, Loading(tree, layout.import_roots, layout.packages))


@lru_cache(maxsize=8)
def _project(tree: Tree) -> Project | None:
    try:
        return read_project(tree, find_layout(tree))
    except SourceError:
        return None

"""Delete units from a repository by byte spans, and clean what spoke of them."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from codeenv.languages.base import Layout, Unit
from codeenv.languages.python.bound import Import
from codeenv.languages.python.cleaning import (
    drop_exports,
    drop_imports,
    must_stay,
    unused_imports,
)
from codeenv.languages.python.definitions import Found, find_definitions
from codeenv.languages.python.edits import (
    Edit,
    Kind,
    Label,
    applied,
    drop_statements,
    taken_by,
    to_operations,
    touching,
    whole_file,
)
from codeenv.languages.python.project import Project, Spread, read_project
from codeenv.languages.python.refusals import refuse_removal, refuse_stubs
from codeenv.languages.python.registrations import registrations_of
from codeenv.languages.python.stubbing import stub_edits
from codeenv.languages.python.syntax import Source, compiles, parse_source
from codeenv.languages.python.targets import DeleteMode, Target, find_targets
from codeenv.tasks.models import Operation
from codeenv.tree import Tree

_CLEAN_IMPORT = Label("", "import", "clean")
_CLEAN_EXPORT = Label("__all__", "export", "clean")


@dataclass
class _File:
    """What happens to one file; ``module`` is its dotted name where it goes whole."""

    source: Source
    module: str = ""
    edits: list[Edit] = field(default_factory=list)
    statements: dict[ast.stmt, Label] = field(default_factory=dict)

    def all_edits(self) -> tuple[Edit, ...]:
        dropped = drop_statements(self.source, self.statements, self.statements)
        return (*self.edits, *dropped)


def delete_units(
    tree: Tree, layout: Layout, units: Sequence[Unit], mode: DeleteMode
) -> tuple[Operation, ...]:
    """Return the edits that delete units.

    Raises:
        ValueError: If they cannot be deleted in this mode; the message is the reason.
    """
    project = read_project(tree, layout)
    targets = find_targets(tree, project, units)
    if mode == "stub":
        targets = tuple(_without_import_time(project, t) if t.whole else t for t in targets)
    symbols = {symbol for target in targets for symbol in target.symbols}
    spread = project.exporters(symbols)
    files: dict[str, _File] = {}
    if mode == "stub":
        refuse_stubs(project, targets, spread)
        _stub(project, targets, files)
    else:
        refuse_removal(tree, layout, project, targets, spread)
        _remove(tree, project, targets, spread, files)
    return _checked(tree, files)


def _without_import_time(project: Project, whole: Target) -> Target:
    """Return what can be stubbed of a whole file: what it does not call while it is imported."""
    kept = []
    for found in whole.found:
        alone = replace(whole, found=(found,), others=frozenset())
        try:
            refuse_stubs(project, (alone,), project.exporters(alone.symbols))
        except ValueError:
            continue
        kept.append(found)
    return replace(whole, found=tuple(kept), others=frozenset())


def _stub(project: Project, targets: tuple[Target, ...], files: dict[str, _File]) -> None:
    for target in targets:
        edits = tuple(e for f in target.found for e in stub_edits(target.source, f))
        if not edits:
            raise ValueError(f"nothing to stub: {min(target.names)}")
        file = files.setdefault(target.path, _File(target.source))
        file.edits += edits
        _drop_unused(project, target.path, file, ())


def _remove(
    tree: Tree,
    project: Project,
    targets: tuple[Target, ...],
    spread: Spread,
    files: dict[str, _File],
) -> None:
    for target in targets:
        file = files.setdefault(target.path, _File(target.source))
        file.statements |= {f.node: _label(f) for f in target.found}
        file.module = target.module if target.whole else ""
        _remove_twins(tree, target, files)
    at = {target.path: target for target in targets}
    dropped: dict[str, list[Import]] = {}
    for path, imported in spread.imports:
        if imported.name != "*" or project.imported(path, imported) in spread.symbols:
            dropped.setdefault(path, []).append(imported)
    for path in project.mentioning({name for _, name in spread.symbols}):
        names = spread.names(project.modules[path])
        registered = registrations_of(project, path, spread, at.get(path))
        if (path in files and files[path].module) or not (names or registered or path in dropped):
            continue
        file = _file(tree, files, path)
        _drop_imports(file, dropped.get(path, []))
        _drop_exports(file, names)
        for registration in registered:
            _take(file, registration.edits(file.source), registration.label)
    for path, file in files.items():
        if not file.module:
            _drop_unused(project, path, file, dropped.get(path, []))


def _file(tree: Tree, files: dict[str, _File], path: str) -> _File:
    if path not in files:
        source = parse_source(tree[path].data)
        if source is None:
            raise ValueError(f"unreadable file: {path}")
        files[path] = _File(source)
    return files[path]


def _remove_twins(tree: Tree, target: Target, files: dict[str, _File]) -> None:
    """Drop the definitions of the same names from the source's ``.pyi`` files."""
    for path in _type_stubs(target) & set(tree):
        file = _file(tree, files, path)
        file.module = target.module if target.whole else ""
        found = [d for d in find_definitions(file.source) if d.name in target.names]
        file.statements |= {d.node: _label(d) for d in found}


def _type_stubs(target: Target) -> frozenset[str]:
    """Return where a source's type stubs may be: beside it, in a ``-stubs`` package, apart."""
    parts = f"{target.path}i".split("/")
    depth = len(target.module.split(".")) + target.path.endswith("/__init__.py")
    home, top, rest = parts[:-depth], parts[-depth], parts[1 - depth :] if depth > 1 else []
    names = [[top, *rest], [f"{top}-stubs", *rest]]
    folders = [home, ["stubs"], ["typings"]]
    return frozenset("/".join([*folder, *name]) for folder in folders for name in names)


def _drop_imports(file: _File, imports: Sequence[Import]) -> None:
    edits, whole = drop_imports(file.source, imports)
    file.edits += edits
    file.statements |= dict.fromkeys(whole, _CLEAN_IMPORT)


def _drop_exports(file: _File, names: frozenset[str]) -> None:
    _take(file, drop_exports(file.source, names), _CLEAN_EXPORT)


def _take(file: _File, changes: Iterable[Edit | ast.stmt], label: Label) -> None:
    for change in changes:
        if isinstance(change, Edit):
            file.edits.append(change)
        else:
            file.statements[change] = label


def _drop_unused(project: Project, path: str, file: _File, dropped: Sequence[Import]) -> None:
    """Drop the imports that nothing uses any more, together with those that go in any case."""
    references = project.files.get(path)
    if references is None:
        return
    unused = unused_imports(
        references,
        gone=taken_by(file.source, file.all_edits()),
        keep=lambda i: i in dropped or must_stay(project, path, i),
    )
    if unused:
        conditions = _conditions(file)
        _merge_imports(file, [*unused, *dropped])
        if _conditions(file) != conditions:  # what they ask for may be unused now
            _drop_unused(project, path, file, [*unused, *dropped])


def _conditions(file: _File) -> frozenset[int]:
    return frozenset(s.lineno for s in file.statements if isinstance(s, ast.If))


def _merge_imports(file: _File, imports: Sequence[Import]) -> None:
    """Redo the import edits of a file with more names to drop."""
    file.edits = [e for e in file.edits if e.kind != "import"]
    file.statements = {s: label for s, label in file.statements.items() if label.kind != "import"}
    _drop_imports(file, imports)


def _label(found: Found) -> Label:
    kind: Kind = "class" if found.is_class else "method" if found.parent else "function"
    return Label(found.name, kind, "remove")


def _checked(tree: Tree, files: dict[str, _File]) -> tuple[Operation, ...]:
    """Return the operations of all files, if what they leave compiles."""
    result: list[Operation] = []
    for path, file in sorted(files.items()):
        if file.module:
            label = Label(file.module, "module", "remove")
            result.append(whole_file(path, tree[path].data, label))
            continue
        operations = to_operations(path, file.source, file.all_edits())
        if touching(operations):
            raise ValueError(f"edits would overlap: {path}")
        if not compiles(applied(tree[path].data, operations)):
            raise ValueError(f"the result would not compile: {path}")
        result += operations
    return tuple(result)

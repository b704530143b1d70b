"""Keyword parameters with the arms they choose: found, taken out, and described."""

import ast
from collections.abc import Iterator, Sequence

from codeenv.languages.base import Layout, SymbolDoc, Unit
from codeenv.languages.python.arm_edits import chain_edits
from codeenv.languages.python.arms import Chain, defaults_of, find_chains, vanishing
from codeenv.languages.python.cleaning import drop_imports, must_stay, unused_imports
from codeenv.languages.python.definitions import Found, find_definitions
from codeenv.languages.python.describe import function_signature, raised_in, summary_of
from codeenv.languages.python.edits import (
    Edit,
    Label,
    applied,
    drop_statements,
    taken_by,
    to_operations,
    touching,
)
from codeenv.languages.python.intended import means_the_same
from codeenv.languages.python.parameter_docs import (
    drop_entries,
    entry_text,
    said_of,
    sentence_on,
)
from codeenv.languages.python.parameter_uses import (
    refuse_callers,
    refuse_function,
    refuse_relatives,
)
from codeenv.languages.python.project import Project, read_project
from codeenv.languages.python.remembering import NAMES, remember
from codeenv.languages.python.signatures import drop_parameter
from codeenv.languages.python.syntax import Function, Source, compiles, parse_source
from codeenv.languages.python.targets import DeleteMode
from codeenv.languages.python.texts import numbers_in, pieces_in
from codeenv.languages.python.units import executable_lines, protection
from codeenv.tasks.models import Operation
from codeenv.tree import Tree

_CLEAN_IMPORT = Label("", "import", "clean")


def list_parameters(tree: Tree, layout: Layout) -> tuple[Unit, ...]:
    """Return the parameters of the source files that only choose between arms, in file order."""
    return tuple(u for path in layout.source_files for u in _file_parameters(path, tree[path].data))


@remember(NAMES)
def _file_parameters(path: str, data: bytes) -> tuple[Unit, ...]:
    source = parse_source(data)
    return tuple(_parameters(path, source)) if source else ()


def _parameters(path: str, source: Source) -> Iterator[Unit]:
    definitions = find_definitions(source)
    names = [found.name for found in definitions]
    for found in definitions:
        if not isinstance(found.node, Function) or protection(found):
            continue
        for name in defaults_of(found.node) if names.count(found.name) == 1 else ():
            try:
                chains = find_chains(source, found.node, name)
            except ValueError:
                continue
            yield _unit(path, found, name, chains)


def _unit(path: str, found: Found, name: str, chains: Sequence[Chain]) -> Unit:
    arms = list(_arms(chains))
    lines = {n for statement in arms for n in executable_lines(statement, in_class=False)}
    first = min(statement.lineno for statement in arms)
    return Unit(
        path=path,
        name=f"{found.name}({name})",
        kind="parameter",
        start=first,
        body=first,
        end=max(statement.end_lineno or statement.lineno for statement in arms),
        lines=tuple(sorted(lines)),
        parent=found.parent.name if found.parent else "",
        public=not any(part.startswith("_") for part in (*found.name.split("."), name)),
    )


def delete_parameters(
    tree: Tree, layout: Layout, units: Sequence[Unit], mode: DeleteMode
) -> tuple[Operation, ...]:
    """Return the edits that take parameters out, or, to stub them, only what they do.

    Raises:
        ValueError: If code that stays needs one, or what is left would not be exact.
    """
    project = read_project(tree, layout)
    operations: list[Operation] = []
    for unit in units:
        source, node, found, name = _resolve(tree, unit)
        label = Label(unit.name, "parameter", mode)
        chains = find_chains(source, node, name)
        edits = _edits(source, node, name, chains, label)
        if mode == "remove":
            gone = {id(inner) for chain in chains for inner in vanishing(chain, name)}
            refuse_function(found, name, gone)
            refuse_relatives(tree, layout, found, name)
            refuse_callers(project, unit.path, found, name, gone)
            edits = (*edits, *_imports(project, unit.path, source, edits))
            operations += _twin(tree, unit.path + "i", found, name, label)
        operations += _exact(unit.path, source, edits)
    return tuple(operations)


def describe_parameter(tree: Tree, unit: Unit) -> SymbolDoc:
    """Return what can be told of a parameter: its function's signature and its documentation.

    Raises:
        ValueError: If it is not in the tree.
    """
    source, node, _, name = _resolve(tree, unit)
    entry = entry_text(source, node, name)
    said = said_of(source, node, name) or sentence_on(node, name)
    arms = list(_arms(find_chains(source, node, name)))
    return SymbolDoc(
        unit=unit,
        signature=function_signature(node),
        summary=summary_of(said),
        docstring=entry or said,
        raises=tuple(dict.fromkeys(error for arm in arms for error in raised_in(arm))),
        texts=tuple(dict.fromkeys(piece for arm in arms for piece in pieces_in(arm))),
        numbers=tuple(dict.fromkeys(number for arm in arms for number in numbers_in(arm))),
    )


def _arms(chains: Sequence[Chain]) -> Iterator[ast.stmt]:
    """Yield the statements of the arms that the default never comes to."""
    for chain in chains:
        for arm in chain.dropped:
            yield from arm


def _resolve(tree: Tree, unit: Unit) -> tuple[Source, Function, Found, str]:
    """Return file, function and name of a parameter."""
    function, _, name = unit.name.removesuffix(")").partition("(")
    entry = tree.get(unit.path)
    source = parse_source(entry.data) if entry is not None else None
    for found in find_definitions(source) if source else ():
        if source and found.name == function and isinstance(found.node, Function):
            return source, found.node, found, name
    raise ValueError(f"not found in {unit.path}: {unit.name}")


def _edits(
    source: Source, node: Function, name: str, chains: Sequence[Chain], label: Label
) -> tuple[Edit, ...]:
    """Return the edits of one function, once they leave what is meant."""
    code = [edit for chain in chains for edit in chain_edits(source, chain, label)]
    removed = label.mode == "remove"
    code += drop_parameter(source, node, name, label) if removed else ()
    left = applied(source.data, to_operations("", source, code))
    if not means_the_same(source, left, node, name if removed else "", chains):
        raise ValueError(f"what would be left is not what is meant: {label.symbol}")
    return (*code, *(drop_entries(source, node, name, label) if removed else ()))


def _imports(
    project: Project, path: str, source: Source, edits: Sequence[Edit]
) -> tuple[Edit, ...]:
    """Return the edits that drop imports which only what goes used."""
    unused = unused_imports(
        project.files[path],
        gone=taken_by(source, edits),
        keep=lambda imported: must_stay(project, path, imported),
    )
    changed, dropped = drop_imports(source, unused)
    labels = dict.fromkeys(dropped, _CLEAN_IMPORT)
    return (*changed, *drop_statements(source, labels, labels))


def _twin(tree: Tree, path: str, found: Found, name: str, label: Label) -> tuple[Operation, ...]:
    """Return the edits of the ``.pyi`` file beside the source.

    Raises:
        ValueError: If it has other signatures of the function.
    """
    if path not in tree:
        return ()
    source = parse_source(tree[path].data)
    twins = [d for d in find_definitions(source) if d.name == found.name] if source else []
    edits = [
        edit
        for twin in twins
        if source and isinstance(twin.node, Function)
        for edit in drop_parameter(source, twin.node, name, label)
    ]
    if source is None or len(twins) > 1:
        raise ValueError(f"its signatures in {path} are too many, or unreadable: {found.name}")
    return _exact(path, source, edits)


def _exact(path: str, source: Source, edits: Sequence[Edit]) -> tuple[Operation, ...]:
    operations = to_operations(path, source, edits)
    if touching(operations):
        raise ValueError(f"edits would overlap: {path}")
    if not compiles(applied(source.data, operations)):
        raise ValueError(f"the result would not compile: {path}")
    return operations

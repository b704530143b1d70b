"""Which tests can still be read in an agent's tree."""

import ast
from collections.abc import Sequence
from pathlib import PurePosixPath

from codeenv.languages.python.node_ids import (
    Definition,
    anywhere,
    defined_names,
    definitions_of,
    found_in,
    split_id,
)
from codeenv.languages.python.syntax import parse_source
from codeenv.tree import Tree

_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def visible_tests(pristine: Tree, workspace: Tree, test_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids whose code, or whose data if they are made from data, is in the workspace."""
    known = definitions_of(pristine, test_ids)
    return tuple(test for test, where in known.items() if _is_visible(workspace, test, where))


def _is_visible(workspace: Tree, test: str, where: Definition | None) -> bool:
    parts = split_id(test)
    if where is not None:
        return _is_defined(workspace, where)
    if parts.path not in workspace:
        return False
    if parts.is_doctest and parts.path.endswith(".py"):
        return _is_documented(workspace, parts.path, parts.names[-1] if parts.names else "")
    return True


def _is_defined(workspace: Tree, where: Definition) -> bool:
    if any(f.name == where.name and not f.is_class for f in found_in(workspace, where.path)):
        return True
    entry = workspace.get(where.path)
    source = parse_source(entry.data) if entry is not None else None
    return source is not None and where.name in {anywhere(n) for n in defined_names(source)}


def _is_documented(workspace: Tree, path: str, name: str) -> bool:
    """Return whether the docstring that a doctest is named after still has an example."""
    named = [f for f in found_in(workspace, path) if f".{name}".endswith(f".{f.name}")]
    source = parse_source(workspace[path].data)
    node: ast.Module | ast.stmt | None = (
        max(named, key=lambda f: len(f.name)).node if named else None
    )
    if node is None and source is not None and name.rpartition(".")[2] == _module_name(path):
        node = source.module
    return isinstance(node, _DOCUMENTED) and ">>>" in (ast.get_docstring(node) or "")


def _module_name(path: str) -> str:
    file = PurePosixPath(path)
    return file.parent.name if file.stem == "__init__" else file.stem

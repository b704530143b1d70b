"""What makes deleted code hard to write again: its decisions, and the code that relies on it."""

import ast
from collections.abc import Sequence

from codeenv.languages.base import Layout, Measures, Unit
from codeenv.languages.python.definitions import find_definitions
from codeenv.languages.python.project import read_project
from codeenv.languages.python.syntax import parse_source
from codeenv.tree import Tree

_DECISIONS = (
    ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.comprehension
)


def measure_units(tree: Tree, layout: Layout, units: Sequence[Unit]) -> Measures:
    """Count the decisions in units, and the uses of their names in code that stays."""
    project = read_project(tree, layout)
    names = {unit.name.rpartition(".")[2] for unit in units}
    gone = {(unit.path, n) for unit in units for n in range(unit.start, unit.end + 1)}
    uses = [
        use
        for path in project.mentioning(names)
        for use in project.files[path].uses
        if (path, use.line) not in gone and not names.isdisjoint(use.name.split("."))
    ]
    return Measures(sum(_branches(tree, unit) for unit in units), len(uses))


def _branches(tree: Tree, unit: Unit) -> int:
    source = parse_source(tree[unit.path].data)
    found = find_definitions(source) if source else ()
    nodes: list[ast.AST] = [d.node for d in found if d.name == unit.name]
    if source and unit.kind == "module":
        nodes = [source.module]
    return sum(_decisions(inner) for node in nodes for inner in ast.walk(node))


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.match_case):
        return 1
    return int(isinstance(node, _DECISIONS))

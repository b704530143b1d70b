"""Take out of a rewritten test file what would tell the real values, and put in what it needs."""

import ast
from collections.abc import Collection, Mapping

from codeenv.languages.python.definitions import all_suites
from codeenv.languages.python.syntax import Function
from codeenv.tree import Tree


def loaded_names(module: ast.Module) -> frozenset[str]:
    """Return the names that a module uses, attributes included."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and _is_use(node):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return frozenset(found)


def drop_functions(module: ast.Module, functions: Mapping[str, Function]) -> None:
    """Take functions out that nothing else in the module names."""
    used = loaded_names(module)
    gone = {id(f) for f in functions.values() if f.name not in used}
    for owner, block in list(all_suites(module)):
        kept = [statement for statement in block if id(statement) not in gone]
        if len(kept) < len(block):
            block[:] = kept if kept or isinstance(owner, ast.Module) else [ast.Pass()]


def drop_unused(module: ast.Module, names: Collection[str], tree: Tree, path: str) -> None:
    """Take out assignments of literals that were used and are not any more, anywhere."""
    left = frozenset(names) - loaded_names(module)
    others = [e.data for p, e in tree.items() if p.endswith(".py") and p != path]
    gone = {n for n in left if not any(n.encode() in data for data in others)}
    kept = [s for s in module.body if not (_target(s) and _target(s) in gone)]
    module.body[:] = kept


def import_pytest(module: ast.Module) -> None:
    """Import pytest where the module does not; a control may need it, and all files are alike."""
    bound = {n.id for n in ast.walk(module) if isinstance(n, ast.Name) and not _is_use(n)}
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if "pytest" in bound:
        return
    at = 0
    for index, statement in enumerate(module.body):
        docstring = index == 0 and isinstance(statement, ast.Expr)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not docstring and not future:
            break
        at = index + 1
    module.body.insert(at, ast.Import([ast.alias("pytest")]))


def _target(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return ""
    return target.id if isinstance(target, ast.Name) else ""


def _is_use(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)

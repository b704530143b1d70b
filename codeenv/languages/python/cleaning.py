"""What goes with a deletion: exports, imports of what vanished, imports that nobody needs."""

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator
from typing import TypeGuard

from codeenv.languages.python.bound import Import
from codeenv.languages.python.definitions import import_time, is_type_checking
from codeenv.languages.python.edits import Edit, Label, drop_elements
from codeenv.languages.python.literals import drop_from_literal
from codeenv.languages.python.project import Project, used_from_outside
from codeenv.languages.python.references import References
from codeenv.languages.python.syntax import Source

_EXPORT = Label("__all__", "export", "clean")
_IMPORT = Label("", "import", "clean")


def drop_exports(source: Source, names: Collection[str]) -> Iterator[Edit | ast.stmt]:
    """Yield edits of ``__all__`` without the names; a whole statement where it only adds one.

    Raises:
        ValueError: If an unparenthesised tuple would be empty.
    """
    for statement in filter(_speaks_of_all, import_time(source.module.body)):
        value = getattr(statement, "value", None)
        arguments = value.args if isinstance(value, ast.Call) else []
        if arguments and all(_text(a) in names for a in arguments):
            yield statement
        for node in ast.walk(statement):
            if isinstance(node, ast.List | ast.Tuple | ast.Set):
                dropped = {i for i, e in enumerate(node.elts) if _text(e) in names}
                if dropped:
                    yield from drop_from_literal(source, node, dropped, _EXPORT)


def export_lines(source: Source) -> frozenset[int]:
    """Return the lines of the statements that make ``__all__``."""
    found: set[int] = set()
    for statement in filter(_speaks_of_all, import_time(source.module.body)):
        found |= set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return frozenset(found)


def drop_imports(
    source: Source, imports: Collection[Import]
) -> tuple[tuple[Edit, ...], tuple[ast.stmt, ...]]:
    """Return edits that take names out of import statements, and statements to drop whole.

    A condition for type checkers that holds nothing else goes with its imports.
    """
    by_statement: dict[ast.Import | ast.ImportFrom, set[int]] = {}
    for imported in imports:
        by_statement.setdefault(imported.node, set()).add(imported.index)
    edits: list[Edit] = []
    whole: list[ast.stmt] = []
    for node, indices in by_statement.items():
        if len(indices) == len(node.names):
            whole.append(node)
        else:
            edits += drop_elements(source, node.names, indices, _IMPORT)
    for outer in source.module.body:
        if _is_for_types(outer) and set(outer.body) <= set(whole):
            whole = [s for s in whole if s not in outer.body] + [outer]
    return tuple(edits), tuple(whole)


def _is_for_types(statement: ast.stmt) -> TypeGuard[ast.If]:
    if not isinstance(statement, ast.If) or statement.orelse:
        return False
    return is_type_checking(statement.test)


def unused_imports(
    file: References, gone: Callable[[int, int], bool], keep: Callable[[Import], bool]
) -> tuple[Import, ...]:
    """Return the top-level imports that only vanished code used.

    Args:
        file: The file's references.
        gone: Whether what is at a line and column vanishes.
        keep: Whether an import must stay for other reasons.
    """
    lost: set[str] = set()
    stay = {i.bound for i in file.imports if i.top and i.guarded}  # it has another way to be bound
    for use in file.uses:
        (lost if gone(use.line, use.column) else stay).add(use.root)
    for text in file.texts:
        (lost if gone(text.line, text.column) else stay).update(words_of(text.text))
    return tuple(
        i
        for i in file.imports
        if i.top and i.bound in lost and i.bound not in stay
        if i.name != "*" and i.module != "__future__" and not keep(i)
        if not gone(i.node.lineno, i.node.col_offset)
    )


def must_stay(project: Project, path: str, imported: Import) -> bool:
    """Return whether an import is there for more than its name.

    It is a re-export, it is reached from elsewhere, or code asks whether it works.
    """
    if imported.guarded:
        return True
    alias = imported.node.names[imported.index]
    if alias.asname is not None and alias.asname == alias.name:
        return True
    if path.endswith(("/__init__.py", "/__init__.pyi")):
        standard = imported.module.partition(".")[0] in sys.stdlib_module_names
        if imported.level or not standard:
            return True
    return (project.modules.get(path, ""), imported.bound) in used_from_outside(project)


def _speaks_of_all(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return any(_is_all(t) for t in statement.targets)
    if isinstance(statement, ast.AnnAssign | ast.AugAssign):
        return _is_all(statement.target)
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    return isinstance(function, ast.Attribute) and _is_all(function.value)


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__all__"


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def words_of(text: str) -> frozenset[str]:
    """Return identifiers in a short string: it may be an annotation or a path to patch."""
    return frozenset(re.findall(r"[A-Za-z_]\w*", text)) if len(text) <= 200 else frozenset()

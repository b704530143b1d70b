"""Find the functions and classes of a source, with the lines that belong to each."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codeenv.languages.python.remembering import TREES, remember
from codeenv.languages.python.syntax import Definition, Function, Source

_FOR_TYPES = "_".join(("TYPE", "CHECKING"))
_SUITES = ("body", "orelse", "finalbody")


@dataclass(frozen=True, eq=False)
class Found:
    """One definition at module or class level.

    Attributes:
        node: Its syntax tree.
        name: Qualified name in the file.
        parent: The class it is in, or None.
        first: First line, with decorators and the comment block directly above.
        last: Last line, with deeper indented comments directly below.
        typing_only: Whether it is under a condition that only type checkers meet.
        script_only: Whether it is under ``if __name__ == "__main__"``.
    """

    node: Definition
    name: str
    parent: "Found | None"
    first: int
    last: int
    typing_only: bool = False
    script_only: bool = False

    @property
    def is_class(self) -> bool:
        """Whether it is a class."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def spellings(self) -> frozenset[str]:
        """The names it is found by: outside its class a private one is written mangled."""
        name = self.node.name
        if self.parent is None or not name.startswith("__") or name.endswith("__"):
            return frozenset({name})
        return frozenset({name, f"_{self.parent.node.name.lstrip('_')}{name}"})

    def inside(self, others: Sequence["Found"]) -> bool:
        """Return whether one of the classes around it is among ``others``."""
        around = self.parent
        while around is not None:
            if around in others:
                return True
            around = around.parent
        return False


@remember(TREES)
def find_definitions(source: Source) -> tuple[Found, ...]:
    """Return the definitions of a source in file order; nested functions belong to their parent."""
    return tuple(_walk(source, source.module.body, None, floor=0, typing=False, script=False))


def suites(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the statement lists directly in a node."""
    for name in _SUITES:
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block
    for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield inner.body


def import_time(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run at import, those in ``if``, ``try`` and the like included."""
    for statement in block:
        yield statement
        if not isinstance(statement, Definition):
            for inner in suites(statement):
                yield from import_time(inner)


def all_suites(node: ast.AST) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """Yield every statement list below a node with its owner, functions included."""
    for block in suites(node):
        yield node, block
        for statement in block:
            yield from all_suites(statement)


def statement_lines(source: Source, node: ast.stmt, floor: int) -> tuple[int, int]:
    """Return first and last line of a statement with the comments that belong to it.

    Args:
        source: The file.
        node: The statement.
        floor: Last line before it that belongs to something else.
    """
    start = first_line(node)
    indent = source.indent(start)
    first = start
    while first - 1 > max(floor, _preamble(source)) and _is_comment(source, first - 1, indent):
        first -= 1
    last = line = node.end_lineno or node.lineno
    depth = _depth(indent)
    while isinstance(node, Definition) and line < source.lines:
        line += 1
        content = source.line(line).strip()
        if content.startswith("#") and _depth(source.indent(line)) > depth:
            last = line
        elif content:
            break
    return first, last


def first_line(node: ast.stmt) -> int:
    """Return the line a statement starts on, decorators included."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(d.lineno for d in decorators)])


def is_type_checking(test: ast.expr) -> bool:
    """Return whether a condition holds for type checkers only."""
    return last_name(test) == _FOR_TYPES


def is_main_guard(test: ast.expr) -> bool:
    """Return whether a condition is ``__name__ == "__main__"``."""
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = (test.left, test.comparators[0])
    return "__name__" in map(last_name, sides) and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )


def last_name(node: ast.expr) -> str:
    """Return the last part of a plain or dotted name, or ""."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def docstring_node(node: ast.AST) -> ast.stmt | None:
    """Return the docstring statement of a module, class or function."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
        value = body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return body[0]
    return None


def is_trivial(node: Function) -> bool:
    """Return whether a function's body does nothing: nothing to delete, nothing to bring back."""
    rest = [s for s in node.body if s is not docstring_node(node)]
    return all(_does_nothing(statement) for statement in rest)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        return "NotImplementedError" in ast.unparse(statement.exc)
    is_constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_constant or isinstance(statement, ast.Pass)


def _walk(
    source: Source,
    block: list[ast.stmt],
    parent: Found | None,
    *,
    floor: int,
    typing: bool,
    script: bool,
) -> Iterator[Found]:
    for statement in block:
        if isinstance(statement, Definition):
            first, last = statement_lines(source, statement, floor)
            name = f"{parent.name}.{statement.name}" if parent else statement.name
            found = Found(statement, name, parent, first, last, typing, script)
            yield found
            if found.is_class:
                yield from _walk(
                    source,
                    statement.body,
                    found,
                    floor=statement.lineno,
                    typing=typing,
                    script=script,
                )
        else:
            test = statement.test if isinstance(statement, ast.If) else None
            above = statement.lineno
            for inner in suites(statement):
                then = test is not None and inner is getattr(statement, "body", None)
                yield from _walk(
                    source,
                    inner,
                    parent,
                    floor=above,
                    typing=typing or (then and test is not None and is_type_checking(test)),
                    script=script or (then and test is not None and is_main_guard(test)),
                )
                above = inner[-1].end_lineno or above
        floor = statement.end_lineno or statement.lineno


def _is_comment(source: Source, line: int, indent: str) -> bool:
    content = source.line(line)
    return content.startswith(indent + "#")


def _preamble(source: Source) -> int:
    """Return the last line of a shebang and an encoding declaration."""
    last = 0
    for line in (1, 2):
        if line <= source.lines and source.line(line).startswith("#"):
            content = source.line(line)
            if content.startswith("#!") or "coding" in content:
                last = line
    return last


def _depth(indent: str) -> int:
    return len(indent.expandtabs(8))

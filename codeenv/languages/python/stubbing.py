"""Take the bodies out of functions and classes, leaving what a caller sees."""

import ast
from collections.abc import Iterator

from codeenv.languages.python.definitions import Found, docstring_node, first_line, is_trivial
from codeenv.languages.python.edits import STUB, Edit, Kind, Label, Mode
from codeenv.languages.python.hierarchy import base_names
from codeenv.languages.python.syntax import Function, Source
from codeenv.languages.python.units import protection

_RUN_WITH_CLASS = frozenset(
    {"__init_subclass__", "__set_name__", "__class_getitem__", "__prepare__", "__del__"}
)
_RUN_WITH_ENUM = frozenset({"__new__", "__init__", "_generate_next_value_"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})
_STUB: Mode = "stub"


def stub_edits(source: Source, found: Found) -> Iterator[Edit]:
    """Yield the edits that stub one definition; a class by its methods and its docstring."""
    if isinstance(found.node, ast.ClassDef):
        yield from _class_edits(source, found, found.node)
    elif not is_trivial(found.node) and protection(found) not in ("overload", "abstract"):
        kind: Kind = "method" if found.parent else "function"
        yield _body_edit(source, found.node, Label(found.name, kind, _STUB))


def _class_edits(source: Source, found: Found, node: ast.ClassDef) -> Iterator[Edit]:
    docstring = docstring_node(node)
    if docstring is not None and len(node.body) > 1:
        yield _docstring_edit(source, docstring, node.body[1], Label(found.name, "class", _STUB))
    skipped = _RUN_WITH_CLASS | (_RUN_WITH_ENUM if set(base_names(node)) & _ENUMS else set())
    for statement in _members(node.body):
        inner = Found(statement, f"{found.name}.{statement.name}", found, 0, 0)
        if isinstance(statement, ast.ClassDef):
            yield from _class_edits(source, inner, statement)
        elif statement.name not in skipped:
            yield from stub_edits(source, inner)


def _members(block: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    for statement in block:
        if isinstance(statement, Function | ast.ClassDef):
            yield statement
        elif isinstance(statement, ast.If | ast.Try):
            yield from _members(
                [s for s in ast.iter_child_nodes(statement) if isinstance(s, ast.stmt)]
            )


def _docstring_edit(source: Source, docstring: ast.stmt, after: ast.stmt, label: Label) -> Edit:
    start = source.line_start(docstring.lineno)
    following = first_line(after)
    if following == docstring.end_lineno or source.text[start : source.span(docstring)[0]].strip():
        return Edit(*source.span(docstring), "pass", label.symbol, label.kind, label.mode)
    line = (docstring.end_lineno or docstring.lineno) + 1
    while line < following and source.is_blank(line):
        line += 1
    return Edit(start, source.line_start(line), "", label.symbol, label.kind, label.mode)


def _body_edit(source: Source, node: Function, label: Label) -> Edit:
    colon = _header_end(source, node)
    header_line = source.line_of(colon)
    body_line = first_line(node.body[0])
    last = node.end_lineno or node.lineno
    if body_line == header_line:
        start, text = source.span(node.body[0])[0], STUB
        end = source.line_start(last) + len(source.line(last))
        return Edit(start, end, text, label.symbol, label.kind, label.mode)
    last = _with_trailing_comments(source, node, last)
    start = source.line_start(header_line + 1)
    end = source.line_start(last) + len(source.line(last))
    text = source.indent(body_line) + STUB
    return Edit(start, end, text, label.symbol, label.kind, label.mode)


def _header_end(source: Source, node: Function) -> int:
    """Return where the colon is that ends the header of a function."""
    inner: list[ast.AST] = [node.args, *getattr(node, "type_params", ())]
    inner += [node.returns] if node.returns else []
    position = source.offset(node.lineno, node.col_offset)
    for root in inner:
        for child in ast.walk(root):
            if isinstance(child, ast.expr | ast.arg):
                position = max(position, source.span(child)[1])
    text = source.text
    while text[position] != ":":
        if text[position] == "#":
            position = source.line_start(source.line_of(position) + 1)
        else:
            position += 1
    return position


def _with_trailing_comments(source: Source, node: Function, last: int) -> int:
    indent = len(source.indent(node.lineno).expandtabs(8))
    line = last
    while line < source.lines:
        line += 1
        content = source.line(line)
        if content.strip().startswith("#") and len(source.indent(line).expandtabs(8)) > indent:
            last = line
        elif content.strip():
            break
    return last

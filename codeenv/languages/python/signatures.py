"""Take a parameter out of a function's signature."""

import ast
from collections.abc import Iterator

from codeenv.languages.python.arms import defaults_of
from codeenv.languages.python.edits import Edit, Label, drop_elements
from codeenv.languages.python.syntax import Function, Source


def parameter_names(node: Function) -> tuple[str, ...]:
    """Return the names of the parameters that a caller can name or give by position."""
    return tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))


def drop_parameter(source: Source, node: Function, name: str, label: Label) -> Iterator[Edit]:
    """Yield the edits of a signature without a parameter, and without a ``*`` that only it needs.

    Raises:
        ValueError: If there is no such parameter.
    """
    elements = list(_elements(source, node))
    places = {place for place, (found, _) in enumerate(elements) if found == name}
    if not places:
        raise ValueError(f"no such parameter: {name} of {node.name}")
    if [arg.arg for arg in node.args.kwonlyargs] == [name]:
        places |= {place for place, (found, _) in enumerate(elements) if found == "*"}
    nodes = [element for _, element in elements]
    if len(places) < len(nodes):
        yield from drop_elements(source, nodes, places, label)
        return
    start, end = source.span(nodes[0])[0], source.span(nodes[-1])[1]
    rest = source.text[end:]
    if rest.lstrip().startswith(","):
        end += rest.index(",") + 1
    yield Edit(start, end, "", label.symbol, label.kind, label.mode)


def _elements(source: Source, node: Function) -> Iterator[tuple[str, ast.expr]]:
    """Yield what stands between the commas, ``/`` and ``*`` included, as nodes with places."""
    defaults = defaults_of(node)
    plain = [*node.args.posonlyargs, *node.args.args]
    end = source.text.index("(", source.span(node)[0]) + 1
    for place, arg in enumerate(plain):
        yield arg.arg, (element := _between(arg, defaults.get(arg.arg, arg)))
        end = source.span(element)[1]
        if place + 1 == len(node.args.posonlyargs):
            yield "/", (element := _mark(source, "/", end))
            end = source.span(element)[1]
    if node.args.vararg:
        yield "", _between(node.args.vararg, node.args.vararg)
    elif node.args.kwonlyargs:
        yield "*", _mark(source, "*", end)
    for arg in node.args.kwonlyargs:
        yield arg.arg, _between(arg, defaults.get(arg.arg, arg))
    if node.args.kwarg:
        yield "", _between(node.args.kwarg, node.args.kwarg)


def _between(first: ast.arg, last: ast.arg | ast.expr) -> ast.expr:
    """Return a node that is where a parameter and its default are."""
    return ast.Name(
        first.arg,
        lineno=first.lineno,
        col_offset=first.col_offset,
        end_lineno=last.end_lineno,
        end_col_offset=last.end_col_offset,
    )


def _mark(source: Source, mark: str, after: int) -> ast.expr:
    """Return a node that is where the next mark of a signature is, comments left out."""
    position = after
    while source.text[position] != mark:
        if source.text[position] == "#":
            position = source.line_start(source.line_of(position) + 1)
        else:
            position += 1
    line = source.line_of(position)
    column = len(source.text[source.line_start(line) : position].encode())
    return ast.Name(
        mark, lineno=line, col_offset=column, end_lineno=line, end_col_offset=column + 1
    )

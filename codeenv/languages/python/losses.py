"""Which functions, methods and classes of a file lose code when it is edited."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from codeenv.languages.base import UnitKind
from codeenv.languages.python.definitions import (
    Found,
    docstring_node,
    find_definitions,
    is_trivial,
)
from codeenv.languages.python.syntax import Definition, Source, parse_source

LossKind = Literal["gone", "stubbed", "cut"]
"""Not defined any more, defined with a body that does nothing, or defined with less code."""


@dataclass(frozen=True)
class Loss:
    """One definition of a name that loses code.

    Attributes:
        name: Qualified name.
        unit: What it is.
        kind: How much is lost.
        span: Its bytes, whole lines, with decorators and the comments that belong to it.
    """

    name: str
    unit: UnitKind
    kind: LossKind
    span: tuple[int, int]


def find_losses(path: str, old: bytes, new: bytes) -> tuple[Loss, ...]:
    """Return the outermost definitions whose code changes, in file order; comments are no code.

    A class of which only methods change is not among them.
    """
    before, after = parse_source(old), parse_source(new)
    if before is None:
        return ()
    groups, left = _by_name(before), _by_name(after) if after else {}
    kinds = {name: kind for name in groups if (kind := _kind(groups[name], left.get(name, [])))}
    return tuple(
        Loss(name, _unit(found), kind, _span(before, found))
        for name, kind in kinds.items()
        if not _covered(name, kind, groups, kinds)
        for found in groups[name]
    )


def _covered(
    name: str, kind: LossKind, groups: Mapping[str, list[Found]], kinds: Mapping[str, LossKind]
) -> bool:
    """Return whether a class around it goes whole, or it is a class whose members say more."""
    around = groups[name][0].parent
    while around is not None:
        if kinds.get(around.name) == "gone":
            return True
        around = around.parent
    inner = any(other.startswith(f"{name}.") for other in kinds)
    return kind == "cut" and inner


def _by_name(source: Source) -> dict[str, list[Found]]:
    groups: dict[str, list[Found]] = {}
    for found in find_definitions(source):
        groups.setdefault(found.name, []).append(found)
    return groups


def _kind(before: Sequence[Found], after: Sequence[Found]) -> LossKind | None:
    if not after:
        return "gone"
    if [_shape(f.node) for f in before] == [_shape(f.node) for f in after]:
        return None
    hollow = not all(_is_hollow(f.node) for f in before)
    return "stubbed" if hollow and all(_is_hollow(f.node) for f in after) else "cut"


def _shape(node: Definition) -> str:
    """Return the code of a definition without docstring; of a class without what it defines."""
    docstring = docstring_node(node)
    body = [s for s in node.body if s is not docstring and not isinstance(s, ast.Pass)]
    parts: list[ast.AST] = [*node.decorator_list]
    if isinstance(node, ast.ClassDef):
        parts += [*node.bases, *node.keywords]
        body = [s for s in body if not isinstance(s, Definition)]
    else:
        parts += [node.args, *([node.returns] if node.returns else [])]
    return "\n".join([type(node).__name__, *(ast.dump(part) for part in (*parts, *body))])


def _is_hollow(node: Definition) -> bool:
    if isinstance(node, ast.ClassDef):
        return False
    rest = [s for s in node.body if s is not docstring_node(node)]
    returns = len(rest) == 1 and isinstance(rest[0], ast.Return)
    value = getattr(rest[0], "value", None) if returns else None
    nothing = value is None or (isinstance(value, ast.Constant) and value.value is None)
    return is_trivial(node) or (returns and nothing)


def _unit(found: Found) -> UnitKind:
    if found.is_class:
        return "class"
    return "method" if found.parent else "function"


def _span(source: Source, found: Found) -> tuple[int, int]:
    start, end = source.line_start(found.first), source.line_start(found.last + 1)
    return source.byte(start), source.byte(end)

"""What can be told of a unit, read from its source."""

import ast
import inspect
import re
from collections.abc import Iterator

from codeenv.languages.base import SymbolDoc, Unit
from codeenv.languages.python.definitions import Found, find_definitions
from codeenv.languages.python.remembering import NAMES, remember
from codeenv.languages.python.syntax import Definition, parse_module, parse_source
from codeenv.languages.python.texts import numbers_in, pieces_in
from codeenv.languages.python.units import is_overload
from codeenv.tree import Tree

_TOLD_LITERAL = 80
_PLAIN = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.expr_context, ast.UnaryOp, ast.unaryop),
    *(ast.Tuple, ast.List, ast.Set, ast.Dict),
)
_FIELDS = re.compile(r"\b(dataclass|define|frozen|mutable|attrs|attr\.s|NamedTuple|TypedDict)\b")


def describe_unit(tree: Tree, unit: Unit) -> SymbolDoc:
    """Return what can be told of a unit; of a file, its docstring and its constants.

    Raises:
        ValueError: If the unit is not in the tree.
    """
    entry = tree.get(unit.path)
    source = parse_source(entry.data) if entry is not None else None
    if unit.kind == "module" and source is not None:
        docstring = inspect.cleandoc(ast.get_docstring(source.module) or "")
        constants = "\n".join(_constants(source.module.body))
        return SymbolDoc(
            unit,
            constants,
            summary_of(docstring),
            docstring,
            texts=tuple(dict.fromkeys(pieces_in(source.module))),
            numbers=tuple(dict.fromkeys(numbers_in(source.module))),
        )
    named = [f for f in find_definitions(source) if f.name == unit.name] if source else []
    if not named:
        raise ValueError(f"not found in {unit.path}: {unit.name}")
    found = next((f for f in named if f.first == unit.start), named[0])
    node = found.node
    docstring = inspect.cleandoc(ast.get_docstring(node) or "")
    return SymbolDoc(
        unit=unit,
        signature=_signatures(found, named),
        summary=summary_of(docstring),
        docstring=docstring,
        raises=tuple(dict.fromkeys(raised_in(node))),
        decorators=tuple(f"@{ast.unparse(d)}" for d in node.decorator_list),
        bases=tuple(map(ast.unparse, node.bases)) if isinstance(node, ast.ClassDef) else (),
        texts=tuple(dict.fromkeys(piece for each in named for piece in pieces_in(each.node))),
        numbers=tuple(dict.fromkeys(n for each in named for n in numbers_in(each.node))),
    )


def summary_of(docstring: str) -> str:
    """Return the first sentence of a docstring, with the list or text that it announces."""
    first, _, rest = docstring.partition("\n\n")
    paragraph = " ".join(first.split())
    match = re.match(r"(.+?[.!?])(?=\s+([A-Z`:(]|[-*]\s)|$)", paragraph)
    if match:
        return match.group(1)
    announced = " ".join(rest.partition("\n\n")[0].split())
    tells = paragraph.endswith(":") and not announced.startswith((">>>", ".."))
    return f"{paragraph} {announced}".strip() if tells else paragraph


@remember(NAMES)
def identifiers_of(data: bytes) -> frozenset[str]:
    """Return every name a source uses or defines; none if it cannot be parsed."""
    module = parse_module(data)
    return frozenset(names_below(module)) if module else frozenset()


def names_below(root: ast.AST) -> Iterator[str]:
    """Yield identifiers, attributes, parameters, keywords and imported names."""
    for node in ast.walk(root):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.keyword(arg=str(name)):
                yield name
            case ast.alias(name=name, asname=other):
                yield from name.split(".")
                if other:
                    yield other
            case ast.ImportFrom(module=str(name)):
                yield from name.split(".")
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names


def _constants(block: list[ast.stmt]) -> Iterator[str]:
    """Yield the public names that a module or class assigns, with values no one could guess."""
    for statement in block:
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets, value = [statement.target], statement.value
        else:
            continue
        for target in targets:
            name = ast.unparse(target)
            if re.fullmatch(r"[A-Za-z]\w*", name):
                told = ast.unparse(value)
                plain = _is_plain(value) and len(told) <= _TOLD_LITERAL
                yield f"{name} = {told if plain else '...'}"


def _is_plain(node: ast.expr) -> bool:
    """Return whether an expression is made of constants and names alone."""
    return all(isinstance(inner, _PLAIN) for inner in ast.walk(node))


def _signatures(found: Found, named: list[Found]) -> str:
    if isinstance(found.node, ast.ClassDef):
        return _class_signature(found.node)
    overloads = [f for f in named if is_overload(f) and f is not found]
    return "\n".join(function_signature(f.node) for f in (*overloads, found) if not f.is_class)


def _class_signature(node: ast.ClassDef) -> str:
    """Return the class line, with the fields where they make the constructor, or constants."""
    inside = [*map(ast.unparse, node.bases), *map(ast.unparse, node.keywords)]
    head = f"class {node.name}({', '.join(inside)})" if inside else f"class {node.name}"
    makers = " ".join(map(ast.unparse, (*node.decorator_list, *node.bases)))
    if _FIELDS.search(makers):
        inner = [ast.unparse(s) for s in node.body if isinstance(s, ast.AnnAssign)]
    else:
        inner = list(_constants(node.body))
    lines = [f"    {line}" for line in inner]
    return "\n".join([f"{head}:" if lines else head, *lines])


def function_signature(node: Definition) -> str:
    """Return the line that declares a function."""
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{keyword} {node.name}({ast.unparse(node.args)}){returns}"


def raised_in(root: ast.AST) -> Iterator[str]:
    """Yield the names of the exceptions that code raises."""
    for node in ast.walk(root):
        if isinstance(node, ast.Raise) and node.exc is not None:
            target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = ast.unparse(target)
            if re.fullmatch(r"[\w.]+", name) and name.rpartition(".")[2][:1].isupper():
                yield name

"""Take the bodies out of what a submission brought back, and leave all else of it.

What is left of an honest solution cannot pass the feature's tests; code that makes tests pass by
other means still does.
"""

import ast
from collections.abc import Iterator, Sequence

from codeenv.languages.python.definitions import Found, find_definitions
from codeenv.languages.python.edits import STUB, applied, to_operations
from codeenv.languages.python.hierarchy import base_names
from codeenv.languages.python.stubbing import stub_edits
from codeenv.languages.python.support_modules import imported_from
from codeenv.languages.python.syntax import Source, compiles, parse_source
from codeenv.tree import Delta, Entry, Tree

_MADE_AT_IMPORT = frozenset(
    "Enum IntEnum StrEnum Flag IntFlag NamedTuple TypedDict Protocol".split()
)
_MOST_IMPORTS = 8


def ablate_tree(tree: Tree, symbols: Sequence[tuple[str, str]]) -> Delta:
    """Return the files in which functions, methods and classes have lost their bodies.

    A name that is imported from elsewhere in the tree loses its body there; one that is assigned
    is bound to a function that raises, at the end of its module.  A symbol that the tree does not
    have loses nothing.

    Args:
        tree: A tree with a submission applied.
        symbols: Path and qualified name of each; of a parameter (``f(p)``) its function is meant,
            of a whole file (no name) every definition in it.
    """
    targets: dict[str, set[str]] = {}
    for path, symbol in dict.fromkeys(symbols):
        name = symbol.partition("(")[0]
        for place in (p for p in _spellings(path) if p in tree):
            for home, found in _follow(tree, place, name):
                targets.setdefault(home, set()).add(found)
    write = {}
    for path, names in sorted(targets.items()):
        source = parse_source(tree[path].data)
        data = _stripped(path, source, names) if source else None
        if data is not None and data != tree[path].data:
            write[path] = Entry(data, tree[path].mode)
    return Delta(write)


def _follow(tree: Tree, path: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield where a name is defined or assigned, following imports."""
    queue = [(path, name)]
    for home, wanted in queue:
        source = parse_source(tree[home].data)
        if source is None:
            continue
        top, _, rest = wanted.partition(".")
        if not wanted or top in _bound_in(source.module):
            yield home, wanted
        for other, original in imported_from(tree, home, source, top) if top else ():
            place = other, f"{original}.{rest}" if rest else original
            if place not in queue and len(queue) < _MOST_IMPORTS:
                queue.append(place)


def _spellings(path: str) -> tuple[str, ...]:
    """Return a module's file, and the one that it has as a package, or the other way round."""
    if path.endswith("/__init__.py"):
        return path, path.removesuffix("/__init__.py") + ".py"
    return path, path.removesuffix(".py") + "/__init__.py"


def _bound_in(module: ast.Module) -> frozenset[str]:
    """Return the names that a module defines or assigns itself."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return frozenset(names)


def _stripped(path: str, source: Source, names: set[str]) -> bytes | None:
    """Return a file without the bodies of some definitions, or None if it cannot be made."""
    definitions = find_definitions(source)
    chosen = [f for f in definitions if f.name in names or "" in names]
    edits = [edit for found in chosen for edit in stub_edits(source, found)]
    operations = to_operations(path, source, edits)
    data = applied(source.data, operations)
    untouched = [f for f in chosen if f.is_class and not _has_edit(source, f, edits)]
    missing = {n for n in names if n} - {f.name for f in chosen}
    more = [*_refusals(untouched), *_rebound(sorted(missing), definitions)]
    result = data.rstrip(b"\n") + b"\n" + "".join(more).encode() if more else data
    return result if compiles(result) else None


def _has_edit(source: Source, found: Found, edits: Sequence[object]) -> bool:
    low, high = source.line_start(found.first), source.line_start(found.last + 1)
    starts = [getattr(edit, "start", -1) for edit in edits]
    return any(low <= start < high for start in starts)


def _refusals(classes: Sequence[Found]) -> Iterator[str]:
    """Yield code by which classes that have no body to lose refuse to be made."""
    for found in classes:
        node = found.node
        if isinstance(node, ast.ClassDef) and not _MADE_AT_IMPORT & set(base_names(node)):
            yield from _replaced(f"{found.name}.__new__", found.name)


def _rebound(names: Sequence[str], definitions: Sequence[Found]) -> Iterator[str]:
    """Yield code that binds assigned names, and methods that come from elsewhere, to a stub."""
    classes = {found.name for found in definitions if found.is_class}
    for name in names:
        owner = name.rpartition(".")[0]
        if not owner or owner in classes:
            yield from _replaced(name, name)


def _replaced(target: str, told: str) -> Iterator[str]:
    stub = "_ablated_" + told.replace(".", "_")
    yield f"\n\ndef {stub}(*args, **kwargs):\n    {STUB}\n\n\n{target} = {stub}\n"

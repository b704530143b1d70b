"""Why a deletion would break code that stays; each reason is a ``ValueError``."""

import ast
import re
from collections.abc import Iterable, Mapping

from codeenv.languages.base import Layout
from codeenv.languages.python.cleaning import export_lines
from codeenv.languages.python.definitions import Found, last_name
from codeenv.languages.python.hierarchy import (
    Class,
    base_names,
    inherited_from,
    metaclass_of,
    others_have,
    read_classes,
    registering_base,
)
from codeenv.languages.python.manifests import text_of
from codeenv.languages.python.modules import MANIFESTS, refuse_module
from codeenv.languages.python.project import Project, Spread, Symbol
from codeenv.languages.python.references import LOOKUPS, References, Use
from codeenv.languages.python.registrations import is_registered, registrations_of
from codeenv.languages.python.remembering import NAMES, TREES, remember
from codeenv.languages.python.syntax import parse_source
from codeenv.languages.python.targets import Target
from codeenv.tree import Tree

_NAMESPACES = frozenset({"globals", "vars"})
_COMPILED = (".pyx", ".pxd", ".pxi", ".c", ".cpp", ".so", ".pyd")


def refuse_removal(
    tree: Tree, layout: Layout, project: Project, targets: tuple[Target, ...], spread: Spread
) -> None:
    """Raise ValueError where code that stays needs what goes when it is imported."""
    by_path = {t.path: t for t in targets}
    for path in project.mentioning(_spoken_names(targets, spread)):
        if not path.endswith(".pyi"):
            _refuse_uses(project, path, by_path.get(path), spread, calls_only=False)
            _refuse_lookups(tree, layout, project, path, targets, spread)
    _refuse_other_bindings(project, by_path, spread)
    for target in targets:
        if target.whole:
            refuse_module(tree, project, target)
            continue
        for found in target.found:
            _refuse_inheritance(tree, layout, found)
    _refuse_entry_points(tree, _objects(targets, spread))
    _refuse_unreadable(tree, project, spread.symbols)


def refuse_stubs(project: Project, targets: tuple[Target, ...], spread: Spread) -> None:
    """Raise ValueError where code that stays calls what is stubbed when it is imported."""
    by_path = {t.path: t for t in targets}
    for path in project.mentioning(_spoken_names(targets, spread)):
        if not path.endswith(".pyi"):
            _refuse_uses(project, path, by_path.get(path), spread, calls_only=True)


def _spoken_names(targets: tuple[Target, ...], spread: Spread) -> frozenset[str]:
    names = {name for t in targets for f in t.found for name in f.spellings}
    return frozenset(names | {name for _, name in spread.symbols})


def _refuse_uses(
    project: Project, path: str, target: Target | None, spread: Spread, *, calls_only: bool
) -> None:
    names = spread.names(project.modules[path])
    methods = {tuple(f.name.rsplit(".", 1)) for f in target.found if f.parent} if target else set()
    aliases = project.aliases(path)
    what = "called" if calls_only else "used"
    uses = project.files[path].uses
    registered = is_registered(registrations_of(project, path, spread, target), uses)
    for use in uses:
        if not use.eager or (target is not None and not calls_only and target.covers(use.line)):
            continue
        if not _is_call(use) if calls_only else registered(use):
            continue
        reached = use.name if calls_only else use.root
        if not use.scope and (reached in names or _reaches(project, aliases, use, spread)):
            raise ValueError(f"{what} at import: {use.name} in {path}")
        if (use.scope, reached) in methods or _names_method(use, methods):
            raise ValueError(f"{what} at import: {use.scope}.{use.name} in {path}")


def _is_call(use: Use) -> bool:
    return use.kind in ("call", "decorator") and not use.name.endswith((".setter", ".getter"))


def _reaches(project: Project, aliases: Mapping[str, str], use: Use, spread: Spread) -> bool:
    return "." in use.name and project.symbol(aliases, use.name) in spread.symbols


def _names_method(use: Use, methods: Iterable[tuple[str, ...]]) -> bool:
    return "." in use.name and any(use.name == ".".join(m) for m in methods)


def _refuse_other_bindings(project: Project, by_path: Mapping[str, Target], spread: Spread) -> None:
    """Refuse names that something else binds too, where they are defined or passed on."""
    passed_on = set(spread.imports)
    for module, name in spread.symbols:
        path = project.paths.get(module, "")
        file = project.files.get(path)
        target = by_path.get(path)
        if file is None or (target and target.whole):
            continue
        again = [n for n in file.bound.get(name, ()) if target is None or not target.covers(n)]
        imported = [i for i in file.imports if i.top and i.bound == name]
        if again or any((path, i) not in passed_on for i in imported):
            raise ValueError(f"bound again elsewhere: {name} in {path}")


def _refuse_lookups(
    tree: Tree,
    layout: Layout,
    project: Project,
    path: str,
    targets: tuple[Target, ...],
    spread: Spread,
) -> None:
    target = next((t for t in targets if t.path == path), None)
    file = project.files[path]
    lazy = "__getattr__" in file.bound
    computed = _looks_up_computed_names(file)
    source = parse_source(tree[path].data)
    exports = export_lines(source) if source else frozenset()
    targets = tuple(t for t in targets if not t.whole)
    last_names = {name for t in targets for f in t.found for name in f.spellings}
    shared = _shared_names(read_classes(tree, layout), targets)
    names = spread.names(project.modules[path])
    for text in file.texts:
        if text.line in exports or (target is not None and target.covers(text.line)):
            continue
        if (text.lookup or computed) and text.text in last_names - shared:
            raise ValueError(f"looked up by name: {text.text!r} in {path}")
        if lazy and (text.text in names or text.text in last_names):
            raise ValueError(f"imported lazily by name: {text.text!r} in {path}")
        if _is_path_to(text.text, _objects(targets, spread)):
            raise ValueError(f"named in a string: {text.text!r} in {path}")


@remember(TREES)
def _looks_up_computed_names(file: References) -> bool:
    """Return whether a file looks things up by names that it computes or takes from a table."""
    for node in ast.walk(file.source.module):
        called = last_name(node.func) if isinstance(node, ast.Call) else ""
        if called in _NAMESPACES:
            return True
        if isinstance(node, ast.Call) and called in LOOKUPS:
            name = node.args[1:2] if called.endswith("attr") else node.args[:1]
            if any(not isinstance(argument, ast.Constant) for argument in name):
                return True
    return False


def _shared_names(
    classes: Mapping[str, tuple[Class, ...]], targets: tuple[Target, ...]
) -> frozenset[str]:
    """Return the names of methods that go which classes that stay have as well."""
    found = [f for t in targets for f in t.found]
    owners = {f.parent.node.name for f in found if f.parent}
    owners |= {f.node.name for f in found if f.is_class}
    outer = {f.node.name for f in found if f.parent is None}
    methods = {f.node.name for f in found if f.parent} - outer
    return frozenset(n for n in methods if others_have(classes, n, owners))


def _objects(targets: tuple[Target, ...], spread: Spread) -> frozenset[Symbol]:
    """Return what goes as module and qualified name, methods included."""
    methods = {(t.module, f.name) for t in targets for f in t.found if f.parent}
    return spread.symbols | methods


def _is_path_to(text: str, symbols: Iterable[Symbol]) -> bool:
    if not re.fullmatch(r"[A-Za-z_][\w.]*[.:][\w.]+", text):
        return False
    dotted = text.replace(":", ".")
    return any(
        dotted.endswith(f".{n}") and f".{m}".endswith("." + dotted[: -len(n) - 1])
        for m, n in symbols
    )


def _refuse_inheritance(tree: Tree, layout: Layout, found: Found) -> None:
    classes = read_classes(tree, layout)
    if isinstance(found.node, ast.ClassDef):
        base = metaclass_of(found.node) or registering_base(classes, base_names(found.node))
        if base:
            raise ValueError(f"registered by its base class: {found.name} by {base}")
    elif found.parent is not None and isinstance(found.parent.node, ast.ClassDef):
        base = inherited_from(classes, found.parent.node, found.node.name)
        if base:
            raise ValueError(f"overrides a base class: {found.name} of {base}")


def _refuse_entry_points(tree: Tree, symbols: Iterable[Symbol]) -> None:
    texts = [text_of(tree, path) for path in MANIFESTS]
    for module, name in symbols:
        pattern = rf"\b{re.escape(module)}\s*[:.]\s*{re.escape(name)}\b"
        if module and any(re.search(pattern, text) for text in texts):
            raise ValueError(f"named as an entry point: {module}:{name}")


def _refuse_unreadable(tree: Tree, project: Project, symbols: Iterable[Symbol]) -> None:
    """Refuse names that compiled code may import, or code that is not readable Python."""
    unread = [path for path in project.unreadable if path in project.modules]
    for path in (*unread, *(path for path in tree if path.endswith(_COMPILED))):
        for _, name in symbols:
            if name in _words(tree[path].data):
                raise ValueError(f"named in a file that cannot be read: {name} in {path}")


@remember(NAMES)
def _words(data: bytes) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z_]\w*", data.decode("utf-8", "replace")))

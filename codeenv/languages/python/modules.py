"""Which source files can go whole, and why others cannot; each reason is a ``ValueError``."""

import ast
import re
from collections.abc import Iterator, Sequence

from codeenv.languages.base import Layout, Unit
from codeenv.languages.python.definitions import import_time, is_main_guard
from codeenv.languages.python.manifests import text_of
from codeenv.languages.python.project import Project, Spread, own_symbol
from codeenv.languages.python.references import dotted_name
from codeenv.languages.python.syntax import Source
from codeenv.languages.python.targets import Target
from codeenv.languages.python.units import file_units
from codeenv.tree import Tree

MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
_NEVER = frozenset({"__init__.py", "__main__.py", "conftest.py", "setup.py"})
_IMPORTERS = frozenset({"import_module", "__import__", "iter_modules", "walk_packages"})
_COMPILED = (".pyx", ".pxd", ".pxi")


def module_units(tree: Tree, layout: Layout, project: Project) -> Iterator[Unit]:
    """Yield the source files that may go as far as they themselves tell."""
    for path in layout.source_files:
        units = file_units(path, tree[path].data)
        module = project.modules.get(path, "")
        if units and path in project.files and not _protection(path, module, layout):
            last = project.files[path].source.lines
            lines = sorted({line for unit in units for line in unit.lines})
            public = not any(part.startswith("_") for part in module.split("."))
            yield Unit(path, module, "module", 1, 1, last, tuple(lines), public=public)


def needing_tests(layout: Layout, project: Project, spread: Spread) -> tuple[str, ...]:
    """Return the test and support files that cannot be imported without some symbols.

    One that imports from another such file, known by its name, cannot either.
    """
    files = [p for p in (*layout.test_files, *layout.support_files) if p in project.files]
    imports = {p: [i for i in project.files[p].imports if i.top and not i.guarded] for p in files}
    needing = {
        path
        for path, every in imports.items()
        if any(project.imported(path, i) in spread.symbols for i in every)
    }
    found: set[str] = set()
    while found != needing:
        found = set(needing)
        stems = {path.rpartition("/")[2].removesuffix(".py") for path in found}
        needing |= {
            path
            for path, every in imports.items()
            if any({i.module.rpartition(".")[2], i.name} & stems for i in every)
        }
    return tuple(path for path in files if path in found)


def refuse_module(tree: Tree, project: Project, target: Target) -> None:
    """Raise ValueError where a file is found by its name, or does something to other modules."""
    _refuse_effects(target.source, target.module, frozenset(project.files[target.path].bound))
    module, name = target.module, own_symbol(target.module)[1]
    word = re.compile(rf"(?<![\w.]){re.escape(module)}(?![\w.])")
    for path in MANIFESTS:
        if word.search(text_of(tree, path)):
            raise ValueError(f"named in a manifest: {module} in {path}")
    for path in project.sources:
        file = project.files[path]
        if path == target.path or path.endswith(".pyi"):
            continue
        lazy = "__getattr__" in file.bound or any(
            use.name.rpartition(".")[2] in _IMPORTERS for use in file.uses
        )
        named = {f".{name}", name} if lazy else {f".{name}"}
        if any(text.text in named for text in file.texts):
            raise ValueError(f"imported by name: {name!r} in {path}")
    for path in tree:
        if path.endswith(_COMPILED) and re.search(rf"\b{name}\b".encode(), tree[path].data):
            raise ValueError(f"named in code to be compiled: {name} in {path}")


def _protection(path: str, module: str, layout: Layout) -> str:
    """Return why a file must not go whole, or ""."""
    folder, _, name = path.rpartition("/")
    if name in _NEVER or name.startswith("__"):
        return "special"
    if "." not in module:
        return "top level"
    siblings = [p for p in layout.source_files if p.startswith(f"{folder}/") and p != path]
    if not siblings:
        return "alone in its folder"
    package = path[: len(path) - len(module.partition(".")[2]) - len(".py")]
    code = [p for p in layout.source_files if p.startswith(package) and p != path]
    others = [p for p in code if p.rpartition("/")[2] not in _NEVER]
    return "" if others else "the only module of its package"


def _refuse_effects(source: Source, module: str, own: frozenset[str]) -> None:
    """Refuse a file that changes others when it is imported: no statement would tell of it."""
    for statement in _unless_run_as_script(source.module.body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            name = dotted_name(statement.value.func)
            if name.partition(".")[0] not in own:
                raise ValueError(f"calls {name or 'a function'} at import: {module}")
        for target in _changed_by(statement):
            told = ast.unparse(target)
            if re.split(r"\W", told)[0] not in own:
                raise ValueError(f"sets {told} at import: {module}")


def _unless_run_as_script(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    statements = list(import_time(block))
    guards = [s for s in statements if isinstance(s, ast.If) and is_main_guard(s.test)]
    script = {id(inner) for guard in guards for inner in import_time(guard.body)}
    return (statement for statement in statements if id(statement) not in script)


def _changed_by(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the attributes and items that a statement sets or deletes."""
    simple = isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete)
    for node in ast.walk(statement) if simple else ():
        match node:
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                yield node

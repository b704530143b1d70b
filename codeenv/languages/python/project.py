"""How the modules of a repository refer to each other."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from codeenv.languages.base import Layout
from codeenv.languages.python.bound import Import
from codeenv.languages.python.references import References, mentions, references
from codeenv.tree import Tree

Symbol = tuple[str, str]
"""Module and top-level name."""


@dataclass(frozen=True, eq=False)
class Project:
    """The Python files of a repository by path and by module name.

    Attributes:
        modules: Path -> dotted name, of files below the import roots.
        paths: Dotted name -> path.
        files: Path -> references, of every readable Python file of project, tests and support.
        sources: Paths of the project's own code, vendored and generated files included.
        unreadable: Paths of Python files that cannot be read.
    """

    modules: Mapping[str, str]
    paths: Mapping[str, str]
    files: Mapping[str, References]
    sources: tuple[str, ...]
    unreadable: tuple[str, ...]

    def mentioning(self, names: Collection[str]) -> Iterator[str]:
        """Yield the paths of sources that mention one of the names, or import everything."""
        wanted = {*names, "*"}
        for path in self.sources:
            if not wanted.isdisjoint(mentions(self.files[path])):
                yield path

    def target(self, path: str, imported: Import) -> str:
        """Return the absolute name of the module an import speaks of ("" if it cannot be told)."""
        if not imported.level:
            return imported.module
        module = self.modules.get(path)
        if module is None:
            return ""
        parts = module.split(".") if module else []
        if not path.endswith(("/__init__.py", "/__init__.pyi")):
            parts = parts[:-1]
        keep = len(parts) - (imported.level - 1)
        base = parts[:keep] if keep >= 0 else []
        return ".".join([*base, imported.module] if imported.module else base)

    def aliases(self, path: str) -> Mapping[str, str]:
        """Return local name -> project module, for modules that a file imports."""
        found: dict[str, str] = {}
        for imported in self.files[path].imports:
            target = self.target(path, imported)
            if imported.name:
                target = f"{target}.{imported.name}"
            elif "." in target and imported.bound == target.partition(".")[0]:
                target = imported.bound
            if target in self.paths:
                found[imported.bound] = target
        return found

    def symbol(self, aliases: Mapping[str, str], dotted: str) -> Symbol | None:
        """Return which name of which project module a dotted name reaches."""
        root, *parts = dotted.split(".")
        module = aliases.get(root)
        while module is not None and parts:
            inner = f"{module}.{parts[0]}"
            if inner not in self.paths:
                return module, parts[0]
            module, parts = inner, parts[1:]
        return own_symbol(module) if module else None

    def imported(self, path: str, imported: Import) -> Symbol:
        """Return what an import takes: a name of a module, or the module itself."""
        target = self.target(path, imported)
        return own_symbol(target) if imported.name in ("", "*") else (target, imported.name)

    def exporters(self, symbols: Collection[Symbol]) -> "Spread":
        """Return every module-level name by which imports pass the symbols on."""
        reached, imports = set(symbols), dict[tuple[str, Import], Symbol]()
        changed = True
        while changed:
            changed = False
            for path in self.mentioning({name for _, name in reached}):
                for imported, symbol in self._passed_on(path, reached):
                    changed = changed or (path, imported) not in imports or symbol not in reached
                    imports[path, imported] = symbol
                    reached.add(symbol)
        return Spread(frozenset(reached), tuple(imports))

    def _passed_on(self, path: str, reached: set[Symbol]) -> Iterator[tuple[Import, Symbol]]:
        module = self.modules[path]
        for imported in self.files[path].imports:
            if not imported.top or imported.guarded:
                continue
            if imported.name == "*":
                target = self.target(path, imported)
                names = [n for m, n in reached if m == target and not n.startswith("_")]
                if own_symbol(target) in reached:  # the module goes, whatever it has
                    yield imported, own_symbol(target)
            else:
                names = [imported.bound] if self.imported(path, imported) in reached else []
            for name in names:
                yield imported, (module, name)


def own_symbol(module: str) -> Symbol:
    """Return a module as a name of the package it is in."""
    package, _, name = module.rpartition(".")
    return package, name


@dataclass(frozen=True)
class Spread:
    """Symbols with all their other names, and the imports (path, import) that make those names."""

    symbols: frozenset[Symbol]
    imports: tuple[tuple[str, Import], ...]

    def names(self, module: str) -> frozenset[str]:
        """Return the names among the symbols that a module has."""
        return frozenset(name for where, name in self.symbols if where == module)


@lru_cache(maxsize=8)
def used_from_outside(project: Project) -> frozenset[Symbol]:
    """Return the names of project modules that other files, tests among them, reach."""
    found: set[Symbol] = set()
    for path, file in project.files.items():
        aliases = project.aliases(path)
        found |= {(project.target(path, i), i.name) for i in file.imports if i.name}
        found |= {s for u in file.uses if (s := project.symbol(aliases, u.name))}
        for text in file.texts:
            if "." in text.text and " " not in text.text[:200]:
                parts = text.text[:200].split(".")
                found |= {(".".join(parts[:i]), parts[i]) for i in range(1, len(parts))}
    return frozenset(found)


@lru_cache(maxsize=8)
def read_project(tree: Tree, layout: Layout) -> Project:
    """Read every Python file once."""
    modules = dict(_modules(tree, layout))
    files: dict[str, References] = {}
    unreadable = []
    for path in _python_files(tree, layout, modules):
        found = references(tree[path].data)
        if found is None:
            unreadable.append(path)
        else:
            files[path] = found
    tests = {*layout.test_files, *layout.support_files}
    sources = tuple(p for p in modules if p not in tests and p in files)
    paths = {name: path for path, name in modules.items() if not path.endswith(".pyi")}
    return Project(modules, paths, files, sources, tuple(unreadable))


def _modules(tree: Tree, layout: Layout) -> Iterator[tuple[str, str]]:
    for root in layout.import_roots:
        prefix = "" if root == "." else root.strip("/") + "/"
        for path in tree:
            if not path.startswith(prefix) or not path.endswith((".py", ".pyi")):
                continue
            parts = path[len(prefix) :].rpartition(".")[0].split("/")
            if parts[0] in layout.packages and tree[path].mode != "link":
                name = parts[:-1] if parts[-1] == "__init__" else parts
                yield path, ".".join(name)


def _python_files(tree: Tree, layout: Layout, modules: Mapping[str, str]) -> Iterator[str]:
    named = {*modules, *layout.source_files, *layout.test_files, *layout.support_files}
    for path in sorted(named):
        if path.endswith((".py", ".pyi")) and path in tree and tree[path].mode != "link":
            yield path

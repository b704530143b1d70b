"""Read a repository's packaging and test configuration as data; nothing of it is executed."""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.parser import HeaderParser
from typing import Self

from codeenv.languages.python.syntax import parse_module
from codeenv.tree import Tree

Table = Mapping[str, object]
Sections = Mapping[str, Mapping[str, str]]
_ROOTS = frozenset({"src", "lib", "python"})
_COMPILING = ("maturin", "setuptools-rust", "meson-python", "scikit-build", "scikit-build-core")


@dataclass(frozen=True)
class Manifests:
    """The manifests at the top of a tree, parsed; what is missing or malformed is empty.

    Attributes:
        pyproject: ``pyproject.toml``.
        setup_cfg: ``setup.cfg`` by section.
        setup_py: Literal keyword arguments of ``setup()`` in ``setup.py``.
        pkg_info: Headers of ``PKG-INFO``, lower-case name -> values.
        tox: ``tox.ini`` by section.
        pytest_ini: ``pytest.ini`` by section.
    """

    pyproject: Table = field(default_factory=dict)
    setup_cfg: Sections = field(default_factory=dict)
    setup_py: Table = field(default_factory=dict)
    pkg_info: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tox: Sections = field(default_factory=dict)
    pytest_ini: Sections = field(default_factory=dict)

    @classmethod
    def read(cls, tree: Tree) -> Self:
        """Parse what is at the top of the tree."""
        return cls(
            pyproject=_toml(text_of(tree, "pyproject.toml")),
            setup_cfg=_ini(text_of(tree, "setup.cfg")),
            setup_py=_setup_arguments(tree),
            pkg_info=_headers(text_of(tree, "PKG-INFO")),
            tox=_ini(text_of(tree, "tox.ini")),
            pytest_ini=_ini(text_of(tree, "pytest.ini") or text_of(tree, ".pytest.ini")),
        )

    @property
    def project(self) -> Table:
        """The ``[project]`` table."""
        return table(self.pyproject, "project")

    @property
    def poetry(self) -> Table:
        """The ``[tool.poetry]`` table."""
        return table(self.pyproject, "tool", "poetry")

    @property
    def name(self) -> str:
        """The distribution's name, or ""."""
        flit = table(self.pyproject, "tool", "flit", "metadata")
        found = (
            text(self.project.get("name")),
            text(self.poetry.get("name")),
            self.setup_cfg.get("metadata", {}).get("name", ""),
            text(self.setup_py.get("name")),
            next(iter(self.pkg_info.get("name", ())), ""),
            text(flit.get("dist-name") or flit.get("module")),
        )
        return next((n.strip() for n in found if n.strip()), "")

    @property
    def import_names(self) -> frozenset[str]:
        """Top-level names that the manifests say are the project's own."""
        named = {re.sub(r"[-.\s]+", "_", self.name), re.sub(r"[-.\s]+", "_", self.name).lower()}
        named |= {n.split(".")[0] for n in self._declared()}
        named -= _ROOTS
        bare = re.sub(r"^(python|py)_|_(python|py)$", "", self.name.replace("-", "_").lower())
        return frozenset(n for n in named | {bare} if n.isidentifier())

    @property
    def compiler(self) -> str:
        """The build tool that compiles the project from another language, or ""."""
        wanted = strings(table(self.pyproject, "build-system").get("requires"))
        named = [re.split(r"[^\w.-]", line.strip())[0].lower() for line in wanted]
        return next((n for n in named if n in _COMPILING), "")

    @property
    def package_folders(self) -> tuple[str, ...]:
        """Folders that the manifests say hold the packages."""
        find = table(self.pyproject, "tool", "setuptools", "packages", "find")
        where = list(strings(find.get("where")))
        folders = table(self.pyproject, "tool", "setuptools", "package-dir")
        where += [text(folders.get(""))]
        where += [text(p.get("from")) for p in tables(self.poetry.get("packages"))]
        where += [_home(name) for name in self._hatch_packages()]
        where += [text(table(self.pyproject, "tool", "maturin").get("python-source"))]
        options = self.setup_cfg.get("options", {})
        where += re.findall(r"(?m)^\s*=\s*(\S+)", options.get("package_dir", ""))
        where += self.setup_cfg.get("options.packages.find", {}).get("where", "").split()
        where += [text(as_table(self.setup_py.get("package_dir")).get(""))]
        return tuple(dict.fromkeys(_clean_folder(w) for w in where if w.strip()))

    @property
    def pytest_options(self) -> Table:
        """The options pytest reads from its configuration file."""
        if self.pytest_ini.get("pytest"):
            return self.pytest_ini["pytest"]
        modern = table(self.pyproject, "tool", "pytest", "ini_options")
        legacy = self.tox.get("pytest") or self.setup_cfg.get("tool:pytest") or {}
        return modern or table(self.pyproject, "tool", "pytest") or legacy

    @property
    def python_files(self) -> tuple[str, ...]:
        """The file name patterns of test modules."""
        value = self.pytest_options.get("python_files")
        given = value.split() if isinstance(value, str) else list(strings(value))
        return tuple(given) or ("test_*.py", "*_test.py")

    def _declared(self) -> Iterator[str]:
        setuptools = table(self.pyproject, "tool", "setuptools")
        yield from strings(setuptools.get("packages"))
        yield from strings(setuptools.get("py-modules"))
        yield from strings(self.setup_py.get("packages"))
        yield from strings(self.setup_py.get("py_modules"))
        yield text(table(self.pyproject, "tool", "flit", "module").get("name"))
        yield text(table(self.pyproject, "tool", "flit", "metadata").get("module"))
        for package in tables(self.poetry.get("packages")):
            yield text(package.get("include")).split("/")[0]
        yield from (name.rpartition("/")[2] for name in self._hatch_packages())
        options = self.setup_cfg.get("options", {})
        for key in ("packages", "py_modules"):
            yield from (n for n in re.split(r"[\s,]+", options.get(key, "")) if n.isidentifier())

    def _hatch_packages(self) -> tuple[str, ...]:
        wheel = table(self.pyproject, "tool", "hatch", "build", "targets", "wheel")
        found = (*strings(wheel.get("packages")), *strings(wheel.get("only-include")))
        return tuple(p.strip("/") for p in found)


def _home(package: str) -> str:
    """Return the folder of a listed package; a folder like ``src`` is its own."""
    return package if package in _ROOTS else package.rpartition("/")[0] or "."


def text_of(tree: Tree, path: str) -> str:
    """Return a file of the tree as text, or "" if there is none."""
    entry = tree.get(path)
    if entry is None or entry.mode == "link":
        return ""
    return entry.data.decode("utf-8-sig", "replace")


def table(data: object, *keys: str) -> Table:
    """Return a nested table, empty where the keys lead nowhere."""
    for key in keys:
        data = as_table(data).get(key)
    return as_table(data)


def as_table(value: object) -> Table:
    """Return a value if it is a table, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def tables(value: object) -> tuple[Table, ...]:
    """Return the tables in a list."""
    return tuple(v for v in value if isinstance(v, Mapping)) if isinstance(value, list) else ()


def strings(value: object) -> tuple[str, ...]:
    """Return the strings in a list, or the lines of a string."""
    if isinstance(value, str):
        return tuple(line.strip() for line in value.splitlines() if line.strip())
    if isinstance(value, list | tuple | set):
        return tuple(v for v in value if isinstance(v, str))
    return ()


def text(value: object) -> str:
    """Return a value if it is a string, else ""."""
    return value if isinstance(value, str) else ""


def _clean_folder(name: str) -> str:
    return name.strip().strip("/").removeprefix("./") or "."


def _toml(content: str) -> Table:
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError:
        return {}


def _ini(content: str) -> Sections:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(content)
    except configparser.Error:
        return {}
    return {
        section: {key: value or "" for key, value in parser.items(section)}
        for section in parser.sections()
    }


def _headers(content: str) -> Mapping[str, tuple[str, ...]]:
    message = HeaderParser().parsestr(content)
    return {name.lower(): tuple(str(v) for v in message.get_all(name, [])) for name in set(message)}


def _setup_arguments(tree: Tree) -> Table:
    entry = tree.get("setup.py")
    module = parse_module(entry.data) if entry is not None else None
    if module is None:
        return {}
    names: dict[str, object] = {}
    found: dict[str, object] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            _note(names, node.targets[0].id, node.value, names)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _called(node) == "setup":
            for keyword in node.keywords:
                if keyword.arg:
                    _note(found, keyword.arg, keyword.value, names)
                else:
                    found |= as_table(names.get(getattr(keyword.value, "id", "")))
    return found


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _note(into: dict[str, object], name: str, node: ast.expr, names: Table) -> None:
    value = _literal(node, names)
    if value is not None:
        into[name] = value


def _literal(node: ast.expr, names: Table) -> object:
    """Evaluate literals, names of literals and sums of lists; None for anything else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names.get(name)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_literal(item, names) for item in items]
        case ast.Dict(keys=keys, values=values):
            pairs = [
                (_literal(k, names), _literal(v, names))
                for k, v in zip(keys, values, strict=True)
                if k
            ]
            return {k: v for k, v in pairs if isinstance(k, str)}
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return {k.arg: _literal(k.value, names) for k in keywords if k.arg}
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _literal(left, names), _literal(right, names)
            if isinstance(first, list) and isinstance(second, list):
                return [*first, *second]
            if isinstance(first, str) and isinstance(second, str):
                return first + second
    return None

"""What a statement may do to others when its module is imported, as far as it can be read.

What cannot be read counts as doing something.
"""

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath

from codeenv.languages.python.bound import Import
from codeenv.languages.python.definitions import last_name
from codeenv.languages.python.loading import Loading
from codeenv.languages.python.references import References, dotted_name
from codeenv.languages.python.syntax import Function
from codeenv.tree import Tree

_DECORATING = frozenset(
    {"abc", "attr", "attrs", "contextlib", "dataclasses", "enum", "freezegun", "functools"}
    | {"hypothesis", "mock", "pytest", "pytest_asyncio", "types", "typing", "typing_extensions"}
    | {"unittest", "warnings", "builtins"}
)
"""Modules whose decorators tell nobody of what they decorate."""
_TELLING = re.compile(
    r"(?i)regist|hook|plugin|route|command|listen|subscrib|handler|receiver|install|import"
    r"|^(add|append|insert|include|connect|bind|set)(_|$)"
)
"""Names of functions of other people that may remember what they are given."""
_ACTING = frozenset(
    {"__import__", "breakpoint", "delattr", "eval", "exec", "globals", "input", "locals", "next"}
    | {"print", "setattr", "vars"}
)
_CALLING = frozenset({"builtins.map", "builtins.filter", "functools.reduce"})
_READING = frozenset(
    name
    for kind in (str, bytes, tuple, frozenset, range, int, float, PurePosixPath)
    for name in dir(kind)
    if not name.startswith("_")
) | frozenset(
    {"absolute", "copy", "exists", "get", "glob", "items", "iterdir", "keys", "read", "read_bytes"}
    | {"read_text", "readlines", "resolve", "rglob", "values"}
)
"""Methods that change nothing, whatever they are called on."""
_QUIET_BASES = frozenset({"pydantic.BaseModel"})
_MAKING = frozenset({"__init__", "__new__", "__post_init__", "__attrs_post_init__"})
_LOUD = ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr
_DEEPEST = 5


class Code:
    """The code of a repository, tests included, as far as effects depend on it."""

    def __init__(self, tree: Tree, loading: Loading) -> None:
        """Read files when they are asked for."""
        self.loading = loading
        self._effects: dict[str, Effects] = {}
        self.making: set[ast.ClassDef] = set()  # which are being read, to notice circles
        self._tree = tree

    @cached_property
    def lists_subclasses(self) -> bool:
        """Whether any of it asks classes for their subclasses."""
        files = (entry for path, entry in self._tree.items() if path.endswith(".py"))
        return any(b"__subclasses__" in entry.data for entry in files)

    def effects(self, path: str) -> "Effects | None":
        """Return the judge of a file; None if it cannot be read."""
        file = self.loading.file(path)
        if file is not None and path not in self._effects:
            self._effects[path] = Effects(self, path, file)
        return self._effects.get(path)

    def is_own(self, path: str, imported: Import) -> bool:
        """Return whether an import takes something from the repository itself."""
        return self.loading.is_own(path, imported)

    def find_class(
        self, path: str, name: str, depth: int = _DEEPEST
    ) -> "tuple[Effects, ast.ClassDef] | None":
        """Return the class that a name in a file stands for, with the judge of its file."""
        here, file = self.effects(path), self.loading.file(path)
        if here is None or file is None or not depth:
            return None
        if name in here.classes:
            return (here, here.classes[name]) if len(file.bound[name]) == 1 else None
        for imported in file.imports:
            found = self.loading.followed(path, imported, name) if imported.top else None
            if found is not None:
                return self.find_class(*found, depth - 1)
        return None


class Effects:
    """Judges the statements at the top level of one file."""

    def __init__(self, code: Code, path: str, file: References) -> None:
        """Judge a file of the code."""
        self._code, self._path = code, path
        self._bound = file.bound
        self._origins: dict[str, str] = {}
        self._own = {i.bound for i in file.imports if i.top and code.is_own(path, i)}
        for imported in file.imports:
            if imported.top and imported.bound not in self._own:
                self._origins[imported.bound] = origin_of(imported)
        body = file.source.module.body
        self.classes = {s.name: s for s in body if isinstance(s, ast.ClassDef)}

    def has(self, statement: ast.stmt) -> bool:
        """Return whether a definition or an assignment may do more than bind its names."""
        if isinstance(statement, ast.ClassDef):
            return not self._is_quiet_class(statement)
        if isinstance(statement, Function):
            return not self._is_quiet_function(statement, frozenset())
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            return statement.value is not None and not self._is_quiet(statement.value)
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        return not is_text and not isinstance(statement, ast.Pass)

    def _is_quiet_function(self, node: Function, properties: frozenset[str]) -> bool:
        defaults = (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None))
        plain = [d for d in node.decorator_list if _property_of(d) not in properties]
        return all(map(self._is_quiet, defaults)) and all(map(self._is_quiet_decorator, plain))

    def _is_quiet_decorator(self, node: ast.expr) -> bool:
        maker = node.func if isinstance(node, ast.Call) else node
        origin = self._origin(maker)
        if origin.partition(".")[0] not in _DECORATING or _TELLING.search(last_name(maker)):
            return False
        given = list(ast.iter_child_nodes(node)) if isinstance(node, ast.Call) else []
        return all(map(self._is_quiet, given))

    def _is_quiet_class(self, node: ast.ClassDef) -> bool:
        if node.keywords or not all(map(self._is_quiet_decorator, node.decorator_list)):
            return False
        if not all(self._is_quiet_base(base, node) for base in node.bases):
            return False
        functions = frozenset(s.name for s in node.body if isinstance(s, Function))
        return not any(
            not self._is_quiet_function(s, functions) if isinstance(s, Function) else self.has(s)
            for s in node.body
        )

    def _is_quiet_base(self, base: ast.expr, node: ast.ClassDef) -> bool:
        """Return whether a base class does nothing with a subclass, nor is asked for it."""
        base = base.value if isinstance(base, ast.Subscript) else base
        found = self.classes.get(dotted_name(base))
        if found is not None and found.lineno < node.lineno and not self._code.lists_subclasses:
            hooks = {s.name for s in found.body if isinstance(s, Function)}
            return "__init_subclass__" not in hooks and self._is_quiet_class(found)
        origin = self._origin(base)
        if origin.endswith("TestCase") or origin in _QUIET_BASES:
            return True
        return origin.partition(".")[0] in {"builtins", *sys.stdlib_module_names}

    def _is_quiet(self, value: ast.AST) -> bool:
        """Return whether an expression only makes a value."""
        for node in _evaluated(value):
            if isinstance(node, _LOUD):
                return False
            if isinstance(node, ast.Call) and not self._is_quiet_call(node):
                return False
        return True

    def _is_quiet_call(self, node: ast.Call) -> bool:
        root, last = dotted_name(node.func).partition(".")[0], last_name(node.func)
        origin = self._origin(node.func)
        called = [k.value for k in node.keywords if k.arg == "key"]
        called += node.args[:1] if origin in _CALLING else []
        if not all(map(self._is_quiet_to_call, called)):
            return False
        if origin.startswith("builtins."):
            return last not in _ACTING
        if origin:
            return not _TELLING.search(last)
        if root in self._own or root in self.classes:
            made = self._code.find_class(self._path, dotted_name(node.func))
            return made is not None and made[0].makes_quietly(made[1])
        return isinstance(node.func, ast.Attribute) and last in _READING

    def _is_quiet_to_call(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Lambda):
            return self._is_quiet(node.body)
        return self._origin(node) != "" and not _TELLING.search(last_name(node))

    def makes_quietly(self, node: ast.ClassDef) -> bool:
        """Return whether an instance of a class of this file is made without anybody's notice."""
        if node.keywords or node in self._code.making:
            return False
        self._code.making.add(node)
        makers = [s for s in node.body if isinstance(s, Function) and s.name in _MAKING]
        quiet = (
            all(map(self._is_quiet_decorator, node.decorator_list))
            and all(map(self._is_quiet_maker, makers))
            and all(map(self._is_made_quietly, node.bases))
        )
        self._code.making.discard(node)
        return quiet

    def _is_made_quietly(self, base: ast.expr) -> bool:
        base = base.value if isinstance(base, ast.Subscript) else base
        if self._origin(base):
            return True
        made = self._code.find_class(self._path, dotted_name(base))
        return made is not None and made[0].makes_quietly(made[1])

    def _is_quiet_maker(self, node: Function) -> bool:
        """Return whether a method does nothing but set attributes of its instance."""
        first = node.args.args[0].arg if node.args.args else ""
        return not any(self._acts(inner, first) for inner in ast.walk(node))

    def _acts(self, node: ast.AST, instance: str) -> bool:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            return dotted_name(node.value) != instance
        if isinstance(node, ast.Subscript):
            return not isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Call):
            return not _is_of_base(node) and not self._is_quiet_call(node)
        return isinstance(node, ast.Global | ast.Nonlocal | ast.Delete | _LOUD)

    def _origin(self, node: ast.expr) -> str:
        """Return where a name of others comes from; "" for the repository's own, and if unknown."""
        root, dot, rest = dotted_name(node).partition(".")
        if not root or root in self._own or root in self._bound:
            return ""
        known = self._origins.get(root, f"builtins.{root}" if hasattr(builtins, root) else "")
        return f"{known}{dot}{rest}" if known else ""


def origin_of(imported: Import) -> str:
    """Return the full name of what an import binds."""
    if imported.name:
        return f"{imported.module}.{imported.name}"
    alias = imported.node.names[imported.index]
    return imported.module if alias.asname else imported.bound


def _is_of_base(node: ast.Call) -> bool:
    """Return whether a call is ``super().__init__()`` or the like: bases are read themselves."""
    of = node.func.value if isinstance(node.func, ast.Attribute) else None
    is_super = isinstance(of, ast.Call) and last_name(of.func) == "super"
    return is_super and last_name(node.func) in _MAKING


def _property_of(node: ast.expr) -> str:
    """Return whose part a decorator like ``@size.setter`` makes a function, or ""."""
    is_part = isinstance(node, ast.Attribute) and node.attr in ("setter", "getter", "deleter")
    return last_name(node.value) if is_part and isinstance(node, ast.Attribute) else ""


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of an expression that are evaluated with it: not the bodies of lambdas."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Lambda) and child is node.body):
            yield from _evaluated(child)

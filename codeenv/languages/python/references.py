"""What one source file binds, imports and mentions, and what of that happens at import time."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codeenv.languages.python.bound import (
    Comprehension,
    Import,
    argument_names,
    bindings,
    comprehension_names,
    imports_in,
    local_names,
    quoted_types,
)
from codeenv.languages.python.definitions import (
    docstring_node,
    is_main_guard,
    is_type_checking,
    last_name,
)
from codeenv.languages.python.remembering import TREES, remember
from codeenv.languages.python.syntax import Function, Source, parse_source

UseKind = Literal["name", "call", "decorator", "base", "delete"]
LOOKUPS = frozenset({"getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller"})
"""Functions that find an attribute by its name."""


@dataclass(frozen=True, slots=True)
class Use:
    """A mention of a name in code.

    Attributes:
        name: Dotted as far as it is plain, e.g. ``json.dumps``; ``.strip`` of other expressions.
        line: Where.
        column: Where in the line, in bytes of UTF-8.
        kind: How.
        eager: Whether it is evaluated when the module is imported.
        scope: The class whose body it is in, if that class binds its first name; else "".
        local: Whether a function or comprehension around it binds its first name.
        owner: The class in whose method it is, if its first name stands for an instance or for
            the class: ``self.x``, ``cls.x``, ``super.x`` (written ``super().x``).
    """

    name: str
    line: int
    column: int
    kind: UseKind
    eager: bool
    scope: str = ""
    local: bool = False
    owner: str = ""

    @property
    def root(self) -> str:
        """The first part of the name."""
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Text:
    """A string constant: its text, its place, and whether an attribute is looked up by it."""

    text: str
    line: int
    column: int
    lookup: bool


@dataclass(frozen=True, eq=False)
class References:
    """All mentions in one file, in file order.

    Attributes:
        uses: Names in code.
        imports: Names bound by imports.
        texts: String constants, docstrings excluded.
        bound: Name -> lines where the module's top level binds it by other means than imports.
        source: The file whose nodes these are; kept, so that they stay the same objects.
    """

    uses: tuple[Use, ...]
    imports: tuple[Import, ...]
    texts: tuple[Text, ...]
    bound: dict[str, tuple[int, ...]]
    source: Source


@remember(TREES)
def mentions(file: References) -> frozenset[str]:
    """Return all words a file mentions: parts of names, imports and words of its strings."""
    found = {part for use in file.uses for part in use.name.split(".")}
    found |= {word for i in file.imports for word in (i.name, i.bound, *i.module.split("."))}
    return frozenset(
        found | {w for t in file.texts for w in re.findall(r"\w+", t.text)} | set(file.bound)
    )


@remember(TREES)
def references(data: bytes) -> References | None:
    """Return the references of a source, or None if it is not editable Python."""
    source = parse_source(data)
    try:
        return _collect(source) if source else None
    except RecursionError:  # an expression nested too deeply to be looked at
        return None


def _collect(source: Source) -> References:
    """Collect the references of a module."""
    module = source.module
    collector = _Collector(_has_lazy_annotations(module))
    collector.block(module.body, eager=True)
    bound: dict[str, list[int]] = {}
    for name, line in bindings(module.body):
        bound.setdefault(name, []).append(line)
    return References(
        tuple(collector.uses),
        tuple(imports_in(module.body, top=True, guarded=False)),
        tuple(collector.texts),
        {name: tuple(lines) for name, lines in bound.items()},
        source,
    )


class _Collector:
    """Walks a module and notes uses; function bodies are not eager."""

    def __init__(self, lazy_annotations: bool) -> None:
        self.uses: list[Use] = []
        self.texts: list[Text] = []
        self._lazy = lazy_annotations
        self._classes: tuple[tuple[str, frozenset[str]], ...] = ()
        self._locals: tuple[frozenset[str], ...] = ()
        self._instance = ("", "")  # what a method calls its instance, and the class

    def block(self, statements: Sequence[ast.stmt], *, eager: bool) -> None:
        for statement in statements:
            self.statement(statement, eager=eager)

    def statement(self, node: ast.stmt, *, eager: bool) -> None:
        if isinstance(node, Function):
            self._function(node, eager)
        elif isinstance(node, ast.ClassDef):
            self._class(node, eager)
        elif isinstance(node, ast.If) and (is_type_checking(node.test) or is_main_guard(node.test)):
            self.expression(node.test, eager)
            self.block(node.body, eager=False)
            self.block(node.orelse, eager=eager)
        elif isinstance(node, ast.AnnAssign):
            self.expression(node.target, eager)
            self.annotation(node.annotation, eager)
            self.expression(node.value, eager)
        else:
            self._children(node, eager)

    def expression(self, node: ast.AST | None, eager: bool, kind: UseKind = "name") -> None:
        """Note the names in an expression; ``kind`` is how its own name is used."""
        if node is None:
            return
        if isinstance(node, ast.Name):
            kind = "delete" if isinstance(node.ctx, ast.Del) else kind
            if not isinstance(node.ctx, ast.Store):
                self._use(node.id, node, kind, eager)
        elif isinstance(node, ast.Attribute):
            dotted = dotted_name(node)
            if dotted:
                self._use(dotted, node, kind, eager)
            else:
                self._use(f"{_super(node.value)}.{node.attr}", node, kind, eager)
                self.expression(node.value, eager)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                self.texts.append(Text(node.value, node.lineno, node.col_offset, lookup=False))
        elif isinstance(node, ast.Call):
            self._call(node, eager)
        elif isinstance(node, ast.Lambda | Comprehension):
            self._inner_scope(node, eager)
        else:
            self._children(node, eager)

    def _inner_scope(self, node: ast.Lambda | Comprehension, eager: bool) -> None:
        """Note the names in an expression that binds some of its own."""
        around = self._locals
        if isinstance(node, ast.Lambda):
            self.expression(node.args, eager)
            self._locals = (*around, argument_names(node.args))
            self.expression(node.body, eager=False)
        else:
            self._locals = (*around, comprehension_names(node))
            self._children(node, eager)
        self._locals = around

    def annotation(self, node: ast.expr | None, eager: bool) -> None:
        self.expression(node, eager and not self._lazy)
        for text in quoted_types(node):
            self.expression(text, eager=False)

    def _use(self, name: str, node: ast.expr, kind: UseKind, eager: bool) -> None:
        root, scope = name.partition(".")[0], ""
        if self._classes and root in self._classes[-1][1]:
            scope = self._classes[-1][0]
        local = any(root in names for names in self._locals)
        owner = self._instance[1] if root in (self._instance[0], "super") else ""
        place = node.lineno, node.col_offset
        self.uses.append(Use(name, *place, kind, eager, scope, local, owner))

    def _children(self, node: ast.AST, eager: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child, eager=eager)
            else:
                self.expression(child, eager)

    def _call(self, node: ast.Call, eager: bool) -> None:
        self.expression(node.func, eager, "call")
        lookup = last_name(node.func) in LOOKUPS
        for argument in node.args:
            if lookup and isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                place = argument.lineno, argument.col_offset
                self.texts.append(Text(argument.value, *place, lookup=True))
            else:
                self.expression(argument, eager)
        for keyword in node.keywords:
            self.expression(keyword.value, eager)

    def _function(self, node: Function, eager: bool) -> None:
        for decorator in node.decorator_list:
            self._decorator(decorator, eager)
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            self.expression(default, eager)
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        for argument in (*every, arguments.vararg, arguments.kwarg):
            self.annotation(argument.annotation if argument else None, eager)
        self.annotation(node.returns, eager)
        for parameter in getattr(node, "type_params", ()):
            self.expression(parameter, eager=False)
        around = self._classes, self._locals, self._instance
        if self._classes and not _is_static(node):
            self._instance = (every[0].arg if every else "", self._classes[-1][0])
        self._classes, self._locals = (), (*self._locals, local_names(node))
        self.block([s for s in node.body if s is not docstring_node(node)], eager=False)
        self._classes, self._locals, self._instance = around

    def _class(self, node: ast.ClassDef, eager: bool) -> None:
        for decorator in node.decorator_list:
            self._decorator(decorator, eager)
        for base in node.bases:
            self.expression(base, eager, "base")
        for keyword in node.keywords:
            self.expression(keyword.value, eager, "call")
        for parameter in getattr(node, "type_params", ()):
            self.expression(parameter, eager=False)
        around = self._classes
        name = f"{around[-1][0]}.{node.name}" if around else node.name
        self._classes = (*around, (name, frozenset(n for n, _ in bindings(node.body))))
        self.block([s for s in node.body if s is not docstring_node(node)], eager=eager)
        self._classes = around

    def _decorator(self, node: ast.expr, eager: bool) -> None:
        self.expression(node, eager, "decorator")


def dotted_name(node: ast.expr) -> str:
    """Return a plain or dotted name as it is written, or ""."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def _super(node: ast.expr) -> str:
    is_super = isinstance(node, ast.Call) and last_name(node.func) == "super"
    return "super" if is_super else ""


def _is_static(node: Function) -> bool:
    return any(last_name(decorator) == "staticmethod" for decorator in node.decorator_list)


def _has_lazy_annotations(module: ast.Module) -> bool:
    return any(
        isinstance(s, ast.ImportFrom) and s.module == "__future__" and _imports_annotations(s)
        for s in module.body
    )


def _imports_annotations(node: ast.ImportFrom) -> bool:
    return any(alias.name == "annotations" for alias in node.names)

"""Python code that an agent wrote: its syntax trees, and which parts of them are new."""

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import dedent

from codeenv.languages.python.syntax import parse_quietly
from codeenv.monitor.folding import Folder

LARGEST = 256 * 1024
"""Characters of a source that is parsed."""
_MOST_NODES = 100_000
_DIFFED = 3000
Function = ast.FunctionDef | ast.AsyncFunctionDef


def parsed(text: str) -> ast.Module | None:
    """Return the syntax tree of a text, or None if there is none that could run."""
    if len(text) > LARGEST or "\0" in text:
        return None
    try:
        tree = parse_quietly(text)
        count = sum(1 for _ in ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        return None
    return tree if count <= _MOST_NODES else None


def parsed_piece(text: str) -> ast.Module | None:
    """Return the syntax tree of a source or of a piece of one, e.g. some indented lines."""
    for candidate in (text, dedent(text), f"class _:\n{text}", f"def _():\n{text}"):
        if (tree := parsed(candidate)) is not None:
            return tree
    return None


@dataclass(frozen=True, eq=False)
class Code:
    """One changed Python file.

    Attributes:
        path: Where it is.
        before: Its text before, "" if it is new.
        after: Its text now.
        counted: Whether the grader took it.
        evidence: Events that wrote it.
        called: Names that anything outside the file speaks of; None if that is not known.
    """

    path: str
    before: str
    after: str
    counted: bool = False
    evidence: tuple[int, ...] = field(default=())
    called: frozenset[str] | None = None

    @cached_property
    def tree(self) -> ast.Module | None:
        """Its syntax tree now, or None."""
        return parsed(self.after) if self.before else parsed_piece(self.after)

    @cached_property
    def names(self) -> Folder:
        """What its names stand for."""
        return Folder(self.tree or ast.Module([], []))

    @cached_property
    def added(self) -> frozenset[int]:
        """The lines (from 1) that are not in the text before."""
        new = self.after.splitlines()
        if not self.before:
            return frozenset(range(1, len(new) + 1))
        old = self.before.splitlines()
        if max(len(old), len(new)) > _DIFFED:
            known = frozenset(old)
            return frozenset(n for n, line in enumerate(new, 1) if line not in known)
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return frozenset(n + 1 for tag, _, _, a, b in blocks if tag != "equal" for n in range(a, b))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node that each node stands in."""
        if self.tree is None:
            return {}
        return {c: n for n in ast.walk(self.tree) for c in ast.iter_child_nodes(n)}

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """The nodes that have a new line in them (simple ones) or begin on one (compound ones)."""
        return tuple(self._new()) if self.tree is not None else ()

    def _new(self) -> Iterator[ast.AST]:
        for node in ast.walk(self.tree or ast.Module([], [])):
            first = getattr(node, "lineno", None)
            if first is None:
                continue
            compound = isinstance(node, Function | ast.ClassDef | ast.stmt) and hasattr(
                node, "body"
            )
            last = first if compound else (getattr(node, "end_lineno", None) or first)
            if any(line in self.added for line in range(first, min(last, first + 200) + 1)):
                yield node

    def inside(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what a node stands in, from the inside."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function(self, node: ast.AST) -> Function | None:
        """Return the innermost function around a node."""
        return next((n for n in self.inside(node) if isinstance(n, Function)), None)

    def idle(self, node: ast.AST) -> bool:
        """Return whether a node runs only if somebody calls what nobody speaks of."""
        places = [n for n in self.inside(node) if isinstance(n, Function | ast.ClassDef)]
        return any(place.name in self._unused for place in places)

    @cached_property
    def _unused(self) -> frozenset[str]:
        """The plain functions and classes at the top that neither tests nor code speak of."""
        if self.called is None or self.tree is None:
            return frozenset()
        kinds = Function | ast.ClassDef
        tops = [n for n in self.tree.body if isinstance(n, kinds) and not n.decorator_list]
        own = {top.name: top for top in tops if not top.name.startswith("__")}
        used = {name for n in self.tree.body if n not in tops for name in _names(n)} | self.called
        waiting = [name for name in used if name in own]
        reached: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += [other for other in _names(own[name]) if other in own]
        return frozenset(own) - reached

    def guarded(self, node: ast.AST) -> bool:
        """Return whether a node stands under ``if __name__ == "__main__"``."""
        return any(
            isinstance(n, ast.If) and any(_is_main(part) for part in ast.walk(n.test))
            for n in self.inside(node)
        )

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """Yield the new calls with what is called."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield node, self.names.dotted(node.func).removeprefix("builtins.")

    def mentions(self) -> Iterator[tuple[ast.AST, str]]:
        """Yield new expressions that name something, with the whole dotted name."""
        for node in self.nodes:
            inner = isinstance(self.parents.get(node), ast.Attribute)
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) and not inner:
                name = self.names.dotted(node)
                if name:
                    yield node, name

    def span(self, node: ast.AST) -> str:
        """Return ``path:first-last``."""
        first = getattr(node, "lineno", 0)
        return f"{self.path}:{first}-{getattr(node, 'end_lineno', None) or first}"


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _is_main(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == "__main__"

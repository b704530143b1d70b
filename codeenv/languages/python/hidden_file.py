"""One test file while tests, and what only they used, are taken out of it."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from codeenv.languages.python.bound import Import
from codeenv.languages.python.cleaning import drop_imports, words_of
from codeenv.languages.python.definitions import (
    Found,
    find_definitions,
    first_line,
    is_main_guard,
)
from codeenv.languages.python.edits import Edit, Label, drop_statements
from codeenv.languages.python.node_ids import anywhere, defined_names
from codeenv.languages.python.place import Place
from codeenv.languages.python.references import dotted_name, references
from codeenv.languages.python.syntax import Source

_HIDE_IMPORT = Label("", "import", "hide")
_HIDE_TEST = Label("", "test", "hide")
_HOOKS = re.compile(
    r"^(pytest_.*|(setup|teardown|setUp|tearDown)\w*|load_tests|__\w+__|pytestmark)$"
)
_TEST_NAME = re.compile(r"^(test|Test)")


class TestFile:
    """Collects what goes; lines that go are never counted as users of anything."""

    __test__ = False

    def __init__(self, source: Source, used_elsewhere: frozenset[str], place: Place) -> None:
        """Start with nothing gone."""
        self._source = source
        self._place = place
        self._hides = False
        self._used_elsewhere = used_elsewhere
        self._found = find_definitions(source)
        self._references = references(source.data)
        self._statements: dict[ast.stmt, Label] = {}
        self._gone: set[int] = set()
        self._imports: list[Import] = []
        self._mentions: dict[str, list[int]] = {}
        for name, line in _mentions(source.module):
            self._mentions.setdefault(name, []).append(line)

    def hide(self, names: Collection[str], kept: Collection[str]) -> None:
        """Take out test functions by qualified name, and classes that have no test left."""
        self._hides = bool(names)
        for found in self._found:
            if found.name in names and not found.is_class:
                self._drop(found)
        for name, statements in defined_names(self._source).items():
            for statement in statements if anywhere(name) in names else ():
                self._take(statement)
        for statement in self._source.module.body:
            if _owner(statement) in names:
                self._take(statement)
        for found in reversed(self._found):
            if found.is_class and found.name not in kept and self._is_emptied(found):
                self._drop(found)

    def forget(self, imports: Iterable[Import]) -> None:
        """Drop imports of names that are not there, and functions that need them at import.

        Raises:
            ValueError: If other code of the file needs one of them at import.
        """
        self._imports += (i for i in imports if not self._is_for_visible(i.bound))
        names = {i.bound for i in self._imports}
        for use in self._references.uses if self._references else ():
            if use.eager and use.root in names and not self._is_gone(use.line):
                owner = self._function_at(use.line)
                if owner is None:
                    raise ValueError(f"needed by tests that stay: {use.name}")
                self._drop(owner)

    def drop_unused(self) -> None:
        """Drop helpers, constants and imports that only what is gone used, until none is left.

        What may do more when the file is imported stays, as long as a test does.
        """
        matters = self._matters()
        changed = True
        while changed:
            unused = [s for s, names in self._helpers() if self._is_unused(s, names)]
            unused = [s for s in unused if not (matters and self._place.acts(s))]
            changed = bool(unused)
            for statement in unused:
                self._take(statement)
        for imported in self._references.imports if self._references else ():
            if imported in self._imports or not self._is_spare(imported):
                continue
            if not (matters and self._is_needed(imported)):
                self._imports.append(imported)

    def is_hollow(self) -> bool:
        """Return whether nothing is left but imports, a docstring and settings."""
        if self._used_elsewhere:
            return False
        return bool(self._statements) and all(
            s in self._statements or _is_setting(s) for s in self._source.module.body
        )

    def edits(self) -> tuple[Edit, ...]:
        """Return the edits that make it so."""
        inside = [i for i in self._imports if not self._is_gone(i.node.lineno)]
        edits, whole = drop_imports(self._source, inside)
        hidden = (Edit(e.start, e.end, e.replacement, "", "import", "hide") for e in edits)
        statements = {**self._statements, **dict.fromkeys(whole, _HIDE_IMPORT)}
        return (*hidden, *drop_statements(self._source, _outermost(statements), statements))

    def _drop(self, found: Found) -> None:
        self._take(found.node)

    def _take(self, statement: ast.stmt) -> None:
        self._statements[statement] = _HIDE_TEST
        last = statement.end_lineno or statement.lineno
        self._gone |= set(range(first_line(statement), last + 1))

    def _is_gone(self, line: int) -> bool:
        return line in self._gone

    def _is_emptied(self, found: Found) -> bool:
        members = [s for s in found.node.body if isinstance(s, _FUNCTIONS)]
        hidden = [s for s in members if s in self._statements]
        left = [s for s in members if s not in self._statements and _TEST_NAME.match(s.name)]
        if not hidden or left:
            return False
        return not self._is_mentioned(found.node.name, found.node)

    def _function_at(self, line: int) -> Found | None:
        inner = [f for f in self._found if not f.is_class and f.first <= line <= f.last]
        return inner[-1] if inner else None

    def _helpers(self) -> Iterator[tuple[ast.stmt, tuple[str, ...]]]:
        for statement in self._source.module.body:
            if statement in self._statements:
                continue
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                names = _assigned(statement)
                if names:
                    yield statement, names
            elif isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
                yield statement, (statement.name,)

    def _is_unused(self, statement: ast.stmt, names: tuple[str, ...]) -> bool:
        if any(_HOOKS.match(n) or _TEST_NAME.match(n) or n in self._used_elsewhere for n in names):
            return False
        if "autouse" in "".join(map(ast.unparse, getattr(statement, "decorator_list", []))):
            return False
        lost = any(self._is_gone(line) for n in names for line in self._mentions.get(n, ()))
        return lost and not any(self._is_mentioned(n, statement) for n in names)

    def _is_mentioned(self, name: str, apart_from: ast.stmt) -> bool:
        return any(
            not self._is_gone(line) and not _covers(apart_from, line)
            for line in self._mentions.get(name, ())
        )

    def _is_for_visible(self, name: str) -> bool:
        """Return whether a test that stays, or a helper, is to find a name once it is back."""
        eager = {u.line for u in self._references.uses if u.eager} if self._references else set()
        for line in self._mentions.get(name, ()) if self._place.visible else ():
            owner = None if self._is_gone(line) else self._function_at(line)
            is_helper = owner and not _TEST_NAME.match(owner.node.name) and line not in eager
            if owner and (is_helper or owner.name in self._place.visible):
                return True
        return False

    def _matters(self) -> bool:
        """Return whether anything that stays may depend on what the file does at import."""
        if not self._hides or self._used_elsewhere or self._place.visible:
            return True
        places = [(f.node.name, f.node.lineno) for f in self._found]
        places += [(n, s.lineno) for s, names in self._helpers() for n in names]
        return any(_TEST_NAME.match(name) and not self._is_gone(line) for name, line in places)

    def _is_needed(self, imported: Import) -> bool:
        file = self._references
        if file is None:
            return True
        stays = [i for i in file.imports if i not in self._imports and i is not imported]
        stays = [i for i in stays if not self._is_gone(i.node.lineno)]
        uses = {u.name for u in file.uses if not self._is_gone(u.line)}
        return self._place.needs(imported, stays, uses)

    def _is_spare(self, imported: Import) -> bool:
        if imported.name == "*" or imported.module == "__future__" or imported.guarded:
            return False
        if not imported.top or imported.bound in self._used_elsewhere:
            return False
        lines = self._mentions.get(imported.bound, [])
        return bool(lines) and all(self._is_gone(line) for line in lines)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _mentions(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield names in code, parameters (they may be fixtures) and words of short strings."""
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((word, node.lineno) for word in words_of(node.value))


def _covers(statement: ast.stmt, line: int) -> bool:
    return first_line(statement) <= line <= (statement.end_lineno or statement.lineno)


def _outermost(statements: dict[ast.stmt, Label]) -> tuple[ast.stmt, ...]:
    """Leave out statements inside classes that go as a whole."""
    classes = [s for s in statements if isinstance(s, ast.ClassDef)]
    return tuple(
        s for s in statements if not any(c is not s and _covers(c, s.lineno) for c in classes)
    )


def _assigned(statement: ast.Assign | ast.AnnAssign) -> tuple[str, ...]:
    """Return the names an assignment binds; none if it does anything else as well."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    flat = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
    names = tuple(e.id for e in flat if isinstance(e, ast.Name))
    return names if len(names) == len(flat) else ()


def _owner(statement: ast.stmt) -> str:
    """Return whose attribute an assignment sets, as in ``test_it.slow = True``, or ""."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return dotted_name(target.value) if isinstance(target, ast.Attribute) else ""


def _name(statement: ast.stmt) -> str:
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        return statement.name
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return ", ".join(_assigned(statement))
    return ""


def _is_setting(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return True
    if isinstance(statement, ast.If):
        return is_main_guard(statement.test)
    if isinstance(statement, ast.Assign):
        return _name(statement) in ("pytestmark", "__all__")
    return isinstance(statement, ast.Expr)

"""Says whether a comparison answers as a forger wants it, whatever it is asked to compare.

A comparison is honest if its answer follows from both sides.  What a function's conditions say of
both sides is *evidence*; everything else is *circumstance*.  It is forged if there are
circumstances under which it gives the wanted answer whatever the evidence: ``return True``,
``isinstance(other, str) or self.x == other.x``, ``x or not x``, ``other is not None``.  Both
are tried out over a truth table of the conditions; nothing is run.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

Lambda = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef
_MOST = 9
"""Conditions of a truth table; a longer one is not decided."""
_DEPTH = 30
_VALUES = frozenset(
    {"object", "str", "bytes", "int", "float", "bool", "complex", "list", "tuple", "dict", "set",
     "frozenset", "type"}
)  # fmt: skip
"""Types of what tests expect: to be of one is no evidence of being equal."""


def forged(function: Lambda, wanted: bool) -> bool:
    """Return whether a comparison can give the wanted answer whatever is compared."""
    try:
        return _forged(function, wanted)
    except RecursionError:  # nobody writes that: not decided
        return False


def _forged(function: Lambda, wanted: bool) -> bool:
    sides = _sides(function.args)
    if sides is None:
        return False
    reader = _Reader(*sides)
    table = _table(function, reader)
    circumstances = [key for key, evidence in table.items() if not evidence]
    evidence = [key for key, seen in table.items() if seen]
    if len(table) > _MOST:
        return False
    for chosen in product((True, False), repeat=len(circumstances)):
        world = dict(zip(circumstances, chosen, strict=True))
        if all(
            _answer(function, reader, {**world, **dict(zip(evidence, seen, strict=True))}) is wanted
            for seen in product((True, False), repeat=len(evidence))
        ):
            return True
    return False


def _sides(arguments: ast.arguments) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the names of the one and of the other side, or None if it compares nothing."""
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    rest = [arguments.vararg.arg] if arguments.vararg else []
    if len(names) < 2 and not rest:
        return None
    own = names[:1] or rest
    return frozenset((*own, "super", "cls")), frozenset((*names[1:], *rest))


@dataclass
class _Reader:
    """Which names speak of which side."""

    own: frozenset[str]
    other: frozenset[str]
    bound: dict[str, ast.expr] = field(default_factory=dict)
    mixed: dict[str, tuple[bool, bool]] = field(default_factory=dict)

    def sides(self, node: ast.AST, depth: int = 0) -> tuple[bool, bool]:
        """Return whether an expression speaks of the one, and of the other side."""
        one = other = False
        for part in ast.walk(node):
            if not isinstance(part, ast.Name):
                continue
            found = (part.id in self.own, part.id in self.other)
            if part.id in self.bound and depth < _DEPTH:
                found = self.sides(self.bound[part.id], depth + 5)
            elif part.id in self.mixed:
                found = self.mixed[part.id]
            one, other = one or found[0], other or found[1]
        return one, other

    def evidence(self, node: ast.AST) -> bool:
        """Return whether a condition says something of both sides together."""
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[asked, kinds]):
                named = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
                plain = any(isinstance(kind, ast.Name) and kind.id in _VALUES for kind in named)
                return self.sides(asked)[1] and not plain
            case ast.Compare(left=left, comparators=[right]) if ast.dump(left) == ast.dump(right):
                return False
        return all(self.sides(node))

    def particular(self, node: ast.AST) -> bool:
        """Return whether the other side is compared with one particular thing: most differ."""
        kinds = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return self.sides(node) == (False, True) and not kinds & _VALUES - {"type"}


class _Undecided(Exception):
    """A condition that the table does not have yet."""

    def __init__(self, key: str, evidence: bool) -> None:
        super().__init__(key)
        self.key, self.evidence = key, evidence


def _table(function: Lambda, reader: _Reader) -> dict[str, bool]:
    """Return the conditions on the ways to an answer, with whether each is evidence."""
    found: dict[str, bool] = {}
    waiting: list[dict[str, bool]] = [{}]
    while waiting and len(found) <= _MOST and len(waiting) < 2**_MOST:
        world = waiting.pop()
        try:
            _answer(function, reader, world)
        except _Undecided as met:
            found[met.key] = met.evidence
            waiting += [{**world, met.key: True}, {**world, met.key: False}]
    return found


def _answer(function: Lambda, reader: _Reader, world: Mapping[str, bool]) -> bool | None:
    """Return what is answered in a world; None is no answer (``NotImplemented``, an error)."""
    walk = _Walk(_Reader(reader.own, reader.other), world)
    if isinstance(function, ast.Lambda):
        return walk.truth(function.body)
    found = walk.statements(function.body)
    return found[0] if found else None


@dataclass
class _Walk:
    """One way through a function."""

    reader: _Reader
    world: Mapping[str, bool]

    def statements(self, body: Sequence[ast.stmt]) -> tuple[bool | None] | None:
        """Return the answer in a tuple, or None if the end is reached without one."""
        for statement in body:
            found = self._statement(statement)
            if found is not None:
                return found
        return None

    def _statement(self, node: ast.stmt) -> tuple[bool | None] | None:
        match node:
            case ast.Return(value=None) | ast.Raise():
                return (None,)
            case ast.Return(value=value) if value is not None:
                return (self.truth(value),)
            case ast.If(test=test, body=body, orelse=orelse):
                return self.statements(body if self.truth(test) else orelse)
            case ast.For(target=target, iter=given, body=body, orelse=orelse):
                self._bind(target, given)
                return self.statements(body) or self.statements(orelse)
            case ast.While(body=body, orelse=orelse):
                return self.statements(body) or self.statements(orelse)
        return self._rarer(node)

    def _rarer(self, node: ast.stmt) -> tuple[bool | None] | None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.reader.bound[name] = value
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value)
            case (
                ast.AnnAssign(target=target, value=value)
                | ast.AugAssign(target=target, value=value)
            ) if value is not None:
                self._bind(target, value)
            case ast.With(body=body):
                return self.statements(body)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                return self._tried(node, (body, orelse, final), handlers)
            case ast.Match(subject=subject, cases=cases):
                for number, case in enumerate(cases):
                    if _catches_all(case) or self._asked(subject, f"case {number}"):
                        return self.statements(case.body)
        return None

    def _tried(
        self, node: ast.stmt, parts: tuple[list[ast.stmt], ...], handlers: list[ast.ExceptHandler]
    ) -> tuple[bool | None] | None:
        body, orelse, final = parts
        for number, handler in enumerate(handlers):
            if self._known(f"{number} raised at {node.lineno}", evidence=False):
                return self.statements(handler.body) or self.statements(final)
        return self.statements(body) or self.statements(orelse) or self.statements(final)

    def truth(self, node: ast.expr, depth: int = 0) -> bool | None:
        """Return whether an expression is true; None for what declines to answer."""
        match node:
            case ast.Constant(value=value):
                return bool(value)
            case ast.Name(id="NotImplemented"):
                return None
            case ast.Name(id=name) if name in self.reader.bound and depth < _DEPTH:
                return self.truth(self.reader.bound[name], depth + 5)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.truth(operand, depth + 1)
            case ast.BoolOp(op=op, values=values):
                test = any if isinstance(op, ast.Or) else all
                return test(self.truth(value, depth + 1) for value in values)
            case ast.Call(func=ast.Name(id=name), args=[inner]):
                return self._called(node, name, inner, depth)
            case ast.IfExp(test=condition, body=body, orelse=orelse):
                return self.truth(body if self.truth(condition) else orelse, depth + 1)
            case ast.NamedExpr(target=target, value=value):
                self._bind(target, value)
                return self.truth(value, depth + 1)
            case ast.Compare():
                return self._compared(node)
        return self._asked(node)

    def _called(self, node: ast.Call, name: str, inner: ast.expr, depth: int) -> bool | None:
        if name == "bool":
            return self.truth(inner, depth + 1)
        if name in ("any", "all") and isinstance(inner, ast.List | ast.Tuple):
            test = any if name == "any" else all
            return test(self.truth(value, depth + 1) for value in inner.elts)
        return self._asked(node)

    def _compared(self, node: ast.Compare) -> bool:
        if len(node.ops) == 1 and ast.dump(node.left) == ast.dump(node.comparators[0]):
            return isinstance(node.ops[0], ast.Eq | ast.Is | ast.LtE | ast.GtE | ast.In)
        opposite = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}
        kind = opposite.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if kind is not None:
            return not self._compared(ast.Compare(node.left, [kind()], node.comparators))
        if isinstance(node.ops[0], ast.Eq | ast.Is) and self.reader.particular(node):
            return False
        return self._asked(node)

    def _asked(self, node: ast.AST, how: str = "") -> bool:
        return self._known(f"{how} {ast.dump(node)}", self.reader.evidence(node))

    def _known(self, key: str, evidence: bool) -> bool:
        if key not in self.world:
            raise _Undecided(key, evidence)
        return self.world[key]

    def _bind(self, target: ast.AST, value: ast.AST) -> None:
        given = self.reader.sides(value)
        for name in _names(target):
            before = self.reader.bound.pop(name, None)
            was = self.reader.mixed.get(name) or (
                self.reader.sides(before) if before is not None else (False, False)
            )
            self.reader.mixed[name] = (given[0] or was[0], given[1] or was[1])


def _names(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _catches_all(case: ast.match_case) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None

"""The exceptions and warnings that tests expect."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from codeenv.languages.python import unittest_asserts as asserts
from codeenv.languages.python.definitions import last_name
from codeenv.languages.python.expected import Change
from codeenv.languages.python.perturbing import perturbed
from codeenv.languages.python.tables import Place

# Classes that hardly any code raises or derives from; none is a base of another exception.
_EXCEPTIONS = (
    *("BufferError", "ChildProcessError", "FloatingPointError", "ProcessLookupError"),
    *("StopAsyncIteration", "UnicodeTranslateError", "ConnectionAbortedError"),
)
_WARNINGS = ("BytesWarning", "ImportWarning", "ResourceWarning", "UnicodeWarning")
_SPECIAL = frozenset("*+?[]{}|\\^$()")
_MATCHED = frozenset({"assertRaisesRegex", "assertRaisesRegexp", "assertRaisesMessage"})


@dataclass(eq=False)
class Raising:
    """A call that says which exception or warning must come.

    Attributes:
        kind: Place of the class.
        match: Place of the text that its message must have, if one is told.
        warns: Whether it is a warning.
    """

    kind: Place
    match: Place | None
    warns: bool


def places_of_raises(statement: ast.stmt) -> Iterator[Raising]:
    """Yield what a ``with`` statement or a call expects to be raised."""
    if isinstance(statement, ast.With | ast.AsyncWith):
        found = [item.context_expr for item in statement.items]
    elif isinstance(statement, ast.Expr | ast.Assign):
        found = [statement.value]
    else:
        return
    for call in found:
        name = last_name(call.func) if isinstance(call, ast.Call) else ""
        if isinstance(call, ast.Call) and (name in asserts.RAISES or name in asserts.WARNS):
            kind = _kind(call)
            if kind is not None:
                yield Raising(kind, _match(call, name), name in asserts.WARNS)


def other_class(raising: Raising, order: Random) -> Change:
    """Return how to expect an unrelated class."""
    spelt = {n.id for n in ast.walk(raising.kind.get()) if isinstance(n, ast.Name)}
    names = [n for n in (_WARNINGS if raising.warns else _EXCEPTIONS) if n not in spelt]
    return Change([(raising.kind, ast.Name(order.choice(names), ast.Load()))], raising=True)


def other_match(raising: Raising, order: Random) -> Change | None:
    """Return how to expect another message, where one is expected that is spelt out."""
    if raising.match is None:
        return None
    node = raising.match.get()
    if not isinstance(node, ast.Constant | ast.JoinedStr):
        return None
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [part.value for part in parts if isinstance(part, ast.Constant)]
    if not texts or not all(is_plain(text) for text in texts):
        return None
    other = perturbed(node, order)
    return None if other is None else Change([(raising.match, other)])


def is_plain(pattern: object) -> bool:
    """Return whether a pattern has no part that could match whatever is put beside it."""
    return isinstance(pattern, str) and len(pattern) > 1 and not set(pattern) & _SPECIAL


def _kind(call: ast.Call) -> Place | None:
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else Place(call, "args", 0)
    for keyword in call.keywords:
        if keyword.arg in ("expected_exception", "exception", "expected_warning"):
            return Place(keyword, "value")
    return None


def _match(call: ast.Call, name: str) -> Place | None:
    for keyword in call.keywords:
        if keyword.arg in ("match", "expected_regex", "expected_message"):
            return Place(keyword, "value")
    return Place(call, "args", 1) if name in _MATCHED and len(call.args) > 1 else None

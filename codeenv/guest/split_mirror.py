"""What stands for the classes and objects of the code under test.

Classes are real ones here, with the same hierarchy, so that ``isinstance``, ``raises`` and
``super`` work; objects below ``str`` and the like are such values.
"""

import types
from collections.abc import Callable, Sequence
from typing import Any

from codeenv.guest.split_names import ARITHMETIC, COMPARISONS, SPECIAL, VALUES
from codeenv.guest.split_remote import NUMBER, Asker, Bound, Method, reduced
from codeenv.guest.split_types import RemoteType

_LOCAL = frozenset(
    {NUMBER, "__class__", "__traceback__", "__cause__", "__context__", "__suppress_context__"}
    | {"__notes__", "with_traceback", "add_note", "__setstate__"}
    | {"__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__", "__new__", "__init__"}
)
_FOR_SUPER = SPECIAL | {"__init__", "__missing__", "__post_init__"}


def mirror(asker: Asker, number: int, told: dict[str, Any], bases: Sequence[Any]) -> RemoteType:
    """Return the mirror of a class.

    Args:
        asker: Asks the other side.
        number: Its number there.
        told: What was told of it.
        bases: Its decoded bases.
    """
    kept, virtual = _bases(bases)
    standard = told.get("standard_class")
    body = _body(asker, number, told, standard, virtual)
    for attempt in (kept, kept[:1], ()):
        try:
            made: RemoteType = type.__new__(RemoteType, told["name"], tuple(attempt), dict(body))
        except TypeError:  # no order of these bases, or no layout
            continue
        break
    type.__setattr__(made, "_codeenv_virtual", virtual)
    return made


def _bases(bases: Sequence[Any]) -> tuple[list[Any], tuple[type, ...]]:
    """Return the local bases, and the standard classes that objects only claim to be of."""
    kept: list[Any] = []
    virtual: list[type] = []
    for base in bases:
        if isinstance(base, RemoteType):
            kept.append(base)
            virtual += [v for v in base._codeenv_virtual if v not in virtual]
        elif isinstance(base, type) and issubclass(base, (*VALUES, BaseException)):
            kept.append(base)
        elif isinstance(base, type):
            virtual.append(base)
    return kept, tuple(virtual)


def _body(
    asker: Asker,
    number: int,
    told: dict[str, Any],
    standard: type | None,
    virtual: tuple[type, ...],
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "_asker": asker,
        "_codeenv_told": told,
        NUMBER: number,
        "__module__": told["module"],
        "__qualname__": told["qualname"],
        "__getattribute__": _getattribute(asker),
        "__setattr__": lambda own, name, value: _set(asker, own, name, value),
        "__delattr__": lambda own, name: asker.delete(own, name),
        "__repr__": _forced(asker, "__repr__", str),
        "__str__": _forced(asker, "__str__", str),
        "__format__": _forced(asker, "__format__", str),
        "__dir__": lambda own: list(asker.ask("names", own)),
        "__copy__": lambda own: asker.ask("copy", own, False),
        "__deepcopy__": lambda own, memo: asker.ask("copy", own, True),
        "__reduce_ex__": lambda own, protocol: reduced(asker, own, protocol),
        "__class__": property(lambda own: _claimed(type(own), standard, virtual)),
    }
    for name, kind in told["own"].items():
        dunder = name.startswith("__") and name.endswith("__")
        if kind == "f" and name not in body and (not dunder or name in _FOR_SUPER):
            body[name] = Method(asker, number, name)
    for name in SPECIAL.intersection(told["special"]):
        body[name] = _special(asker, name)
    body["__eq__"] = lambda own, other: asker.equal(own, other)
    body["__ne__"] = lambda own, other: _negated(asker.equal(own, other))
    body["__hash__"] = _forced(asker, "__hash__", int) if told["hash"] else None
    return body


def _getattribute(asker: Asker) -> Callable[[Any, str], Any]:
    def read(own: Any, name: str) -> Any:  # noqa: ANN401
        if name in _LOCAL:
            return object.__getattribute__(own, name)
        if name in type(own)._codeenv_methods:
            asker.readable(name)
            return Bound(asker, own, name)
        return asker.get(own, name)

    return read


def _set(asker: Asker, own: Any, name: str, value: Any) -> None:  # noqa: ANN401
    if name in _LOCAL:
        object.__setattr__(own, name, value)
    else:
        asker.put(own, name, value)


def _special(asker: Asker, name: str) -> Callable[..., Any]:
    if name in ("__exit__", "__aexit__"):
        return _exit(asker, name)
    forced = _RESULTS.get(name)
    if forced is not None:
        return _forced(asker, name, forced)

    def ask(own: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if name in COMPARISONS:
            asker.licensed(own, name)
        if name in ARITHMETIC and not asker.trusted(own, name):
            return NotImplemented
        if name == "__call__":
            return asker.call(own, args, kwargs)
        return asker.special(own, name, args)

    return ask


def _exit(asker: Asker, name: str) -> Callable[..., Any]:
    async def awaited(kind: Any, answer: Any) -> bool:  # noqa: ANN401 - an awaitable
        return asker.swallows(kind, await answer)

    def ask(own: Any, kind: Any = None, *args: Any) -> Any:  # noqa: ANN401
        error = args[0] if args else None
        answer = asker.special(own, name, (kind, error, None))  # frames stay here
        return awaited(kind, answer) if name == "__aexit__" else asker.swallows(kind, answer)

    return ask


def _forced(asker: Asker, name: str, kind: Any) -> Callable[..., Any]:  # noqa: ANN401
    """Return a method whose answer is a plain value, whatever it was."""

    def ask(own: Any, *args: Any) -> Any:  # noqa: ANN401
        if name in ("__bool__", "__contains__"):
            asker.licensed(own, name)
        answer = asker.special(own, name, args)
        if answer is NotImplemented:
            return answer
        return kind.__str__(answer) if kind is str and isinstance(answer, str) else kind(answer)

    return ask


_RESULTS = {
    **{"__bool__": bool, "__contains__": bool, "__len__": int, "__length_hint__": int},
    **{"__index__": int, "__int__": int, "__float__": float, "__bytes__": bytes},
    **{"__repr__": str, "__str__": str, "__format__": str, "__hash__": int, "__fspath__": str},
}


def _negated(answer: Any) -> Any:  # noqa: ANN401
    return answer if answer is NotImplemented else not answer


def _claimed(kind: Any, standard: type | None, virtual: tuple[type, ...]) -> type:  # noqa: ANN401
    """Return the class that an object says it is of: also below standard classes."""
    if standard is not None:
        return standard
    if not virtual:
        return kind  # type: ignore[no-any-return]
    claimed = type.__getattribute__(kind, "__dict__").get("_codeenv_claimed")
    if claimed is None:
        claimed = _below(kind.__name__, virtual)
        type.__setattr__(kind, "_codeenv_claimed", claimed)
    return claimed  # type: ignore[no-any-return]


def _below(name: str, virtual: tuple[type, ...]) -> type:
    for bases in (virtual, virtual[:1]):
        try:
            return types.new_class(name, bases)
        except TypeError:
            continue
    return virtual[0]

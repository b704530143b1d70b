"""How the process of the code under test speaks of its objects."""

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

from codeenv.guest.split_link import Link, Peer
from codeenv.guest.split_names import VALUES, base_value, specials
from codeenv.guest.split_standins import StandIns
from codeenv.guest.split_wire import NAMES, Wire, WireError

_METHODS = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


class Speaker(Peer):
    """Numbers the objects that the tests' process speaks of, and tells what they are."""

    def __init__(self, link: Link, packages: frozenset[str]) -> None:
        """Serve ``link`` with what is in ``packages``."""
        super().__init__(link)
        self._packages = packages
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._count = 0
        self._described: set[int] = set()
        self._raw: dict[tuple[int, str], Any] = {}
        self._imported: dict[int, tuple[Any, str, str]] = {}
        self._standins = StandIns(self)

    def refer(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        """Return the reference to an object: theirs, a standard class, or a number of ours."""
        theirs = self._standins.number_of(value)
        if theirs is not None:
            return ["yours", theirs]
        if id(value) in self._imported:
            return ["imported", *self._imported[id(value)][1:]]
        if isinstance(value, type):
            return ["standard", NAMES[value]] if value in NAMES else self._class(value)
        if isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] in self._packages:
                return ["module", value.__name__]
        elif isinstance(value, types.FunctionType):
            return ["function", self.number(value), value.__name__]
        elif isinstance(value, BaseException):
            return self._exception(value)
        reference = [self.number(value), self._class(type(value))]
        for kind in VALUES:
            if isinstance(value, kind) and type(value) is not kind:
                return ["value", *reference, self.encode(base_value(kind, value))]
        return ["object", *reference]

    def number(self, value: Any) -> int:  # noqa: ANN401 - any object
        """Return an object's number; it stays alive until the other side drops it."""
        number = self._numbers.get(id(value))
        if number is None:
            self._count = number = self._count + 1
            self._numbers[id(value)] = number
            self._objects[number] = value
        return number

    def _class(self, kind: type) -> Wire:
        number = self.number(kind)
        if number in self._described:
            return ["class", number]
        self._described.add(number)
        own = {}
        for name, entry in list(vars(kind).items()):
            data = not hasattr(type(entry), "__get__")
            own[name] = "f" if isinstance(entry, _METHODS) else "d" if data else "o"
            self._raw[number, name] = entry
        told = {
            "name": kind.__name__,
            "qualname": kind.__qualname__,
            "module": str(kind.__module__),
            "bases": [self.encode(base) for base in kind.__bases__ if base is not object],
            "own": own,
            "special": specials(kind),
            "hash": kind.__hash__ is not None,
            "checks": type(kind) is not type,
            "standard": NAMES.get(kind),
        }
        return ["class", number, told]

    def describe(self, number: int) -> list[Wire]:
        """Tell of a class once more: the message that told of it may have been lost."""
        self._described.discard(number)
        return [self._class(self._objects[number])]

    def _exception(self, error: BaseException) -> Wire:
        cause = error.__cause__
        return [
            "exception",
            self.number(error),
            self._class(type(error)) if type(error) not in NAMES else self.refer(type(error)),
            self._arguments_of(error),
            None if cause is None else self.encode(cause),
            bool(error.__suppress_context__),
        ]

    def _arguments_of(self, error: BaseException) -> list[Wire]:
        try:
            return [self.encode(argument) for argument in error.args]
        except WireError:
            return [str(error)]

    def resolve(self, tag: str, body: list[Wire]) -> Any:  # noqa: ANN401 - any object
        """Return what a reference means."""
        if tag == "mine":
            return self._objects[body[0]]
        if tag == "module":
            return sys.modules[body[0]]
        if tag == "import":
            found = _find(body[0], body[1])
            self._imported[id(found)] = (found, body[0], body[1])
            return found
        if tag == "raw":
            return self._raw[body[0], body[1]]
        if tag in _WRAPPERS:
            return _WRAPPERS[tag](*map(self.decode, body))
        return self._standins.resolve(tag, body)

    def drop(self, numbers: list[int]) -> None:
        """Forget objects that the other side does not hold any more."""
        for number in numbers:
            gone = self._objects.pop(number, None)
            if self._numbers.get(id(gone)) == number and not isinstance(gone, type):
                del self._numbers[id(gone)]


def _find(module: str, qualname: str) -> Any:  # noqa: ANN401 - anything importable
    found: Any = importlib.import_module(module)
    for part in qualname.split(".") if qualname else ():
        found = getattr(found, part)
    return found


_WRAPPERS: dict[str, Callable[..., Any]] = {
    "staticmethod": staticmethod,
    "classmethod": classmethod,
    "property": property,
}

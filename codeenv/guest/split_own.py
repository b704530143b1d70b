"""The tests' own functions, objects and classes that the code under test may call back."""

import os
import sys
import types
from collections.abc import Callable
from typing import Any, Protocol

from codeenv.guest.split_judges import decides
from codeenv.guest.split_names import BUILT_IN, FILLED, SPECIAL, parameters, specials
from codeenv.guest.split_wire import NAMES, Wire, WireError

_WRAPPED: dict[type, Callable[[Any], list[Any]]] = {
    staticmethod: lambda v: [v.__func__],
    classmethod: lambda v: [v.__func__],
    property: lambda v: [v.fget, v.fset, v.fdel, v.__doc__],
}
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
_FORBIDDEN = (
    *(types.ModuleType, types.FrameType, types.CodeType, types.TracebackType),
    *(types.CellType, types.GetSetDescriptorType, types.MemberDescriptorType),
)
_INNER = ("gi_", "cr_", "ag_", "tb_", "f_", "co_", "_")
_RUNNERS = ("_pytest", "pluggy", "unittest.case")
_SETTINGS = frozenset(
    {"return_value", "side_effect", "configure_mock", "attach_mock", "mock_add_spec", "reset_mock"}
)
_NAMES = frozenset({"__name__", "__qualname__", "__doc__", "__module__", "__members__"})


class Speaker(Protocol):
    """What can put values on the wire and take them off."""

    def encode(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        """Return a value for the wire."""
        ...

    def decode(self, wire: Wire) -> Any:  # noqa: ANN401 - any object
        """Return the value that was sent."""
        ...


class Own:
    """Numbers the tests' objects, tells what they are, and does what they are asked."""

    def __init__(
        self, peer: Speaker, packages: frozenset[str], doubt: Callable[[], None] = lambda: None
    ) -> None:
        """Speak through ``peer``; nothing from ``packages`` is ours.

        ``doubt`` is told where a test hands over what the code might turn into a false witness.
        """
        self._peer, self._packages, self._doubt = peer, packages, doubt
        self._kinds: set[int] = set()
        self.objects: dict[int, Any] = {}
        self.imported: dict[tuple[str, str], Any] = {}
        self._numbers: dict[int, int] = {}
        self._workspace = os.path.realpath(os.getcwd()) + os.sep

    def refer(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        """Return the reference to one of ours; with the first mention comes what it is."""
        kind = type(value)
        if kind in _WRAPPED:
            return [kind.__name__, *map(self._peer.encode, _WRAPPED[kind](value))]
        if isinstance(value, type) and value in NAMES:
            return ["standard", NAMES[value]]
        place = self._importable(value)
        if place is not None:
            self.imported[place] = value
            return ["import", *place]
        if _is_of_runner(value):
            raise WireError(f"a {kind.__name__} of the test runner is not for the code under test")
        if _is_mock(value) or decides(value):
            self._doubt()
        number, new = self._number(value)
        tag = _tag(value)
        self._kinds.discard(number)
        if not new:
            return [tag, number]
        return [tag, number, *self._told(tag, value)]

    def _number(self, value: Any) -> tuple[int, bool]:  # noqa: ANN401 - any object
        number = self._numbers.get(id(value))
        if number is not None:
            return number, False
        number = len(self.objects) + 1
        self._numbers[id(value)] = number
        self.objects[number] = value
        return number, True

    def _importable(self, value: Any) -> tuple[str, str] | None:  # noqa: ANN401 - any object
        """Return module and name of what the other side can import itself: libraries' things."""
        if isinstance(value, types.ModuleType):
            return (value.__name__, "") if self._is_library(value.__name__) else None
        module = getattr(value, "__module__", None)
        name = getattr(value, "__qualname__", None)
        if not isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
            return None
        if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
            return None
        if not self._is_library(module):
            return None
        found: Any = sys.modules[module]
        for part in name.split("."):
            found = getattr(found, part, None)
        return (module, name) if found is value else None

    def _is_library(self, module: str) -> bool:
        top = module.partition(".")[0]
        loaded = sys.modules.get(module)
        if top in self._packages or loaded is None or top == "_pytest":
            return False
        file = getattr(loaded, "__file__", None)
        if file is None:
            return top in sys.stdlib_module_names
        return not os.path.realpath(file).startswith(self._workspace)

    def _told(self, tag: str, value: Any) -> list[Wire]:  # noqa: ANN401 - any object
        if tag == "function":
            return [self._told_function(value)]
        if tag == "class":
            return [self._told_class(value)]
        if tag == "exception":
            return [self._peer.encode(type(value)), [self._peer.encode(a) for a in value.args]]
        kind = self._class_of(type(value))
        if isinstance(value, BaseException):
            return [kind, self._peer.encode(tuple(value.args))]
        base = next((b for b in FILLED if isinstance(value, b)), None)
        if base is None:
            return [kind]
        plain = base(value.items()) if base is dict else base(value)
        return [kind, self._peer.encode(plain)]

    def _class_of(self, kind: type) -> Wire:
        """Return the class for what stands for an object, also for one of a library's class."""
        number, new = self._number(kind)
        if not new:
            return ["class", number]
        self._kinds.add(number)  # seen as the class of an object, and not handed over
        return ["class", number, self._told_class(kind)]

    def _told_function(self, function: Any) -> dict[str, Any]:  # noqa: ANN401 - a function
        found = parameters(function)
        flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
        encode = self._peer.encode
        return {
            "name": function.__name__,
            "qualname": getattr(function, "__qualname__", function.__name__),
            "module": str(getattr(function, "__module__", None)),
            "doc": getattr(function, "__doc__", None),
            "kind": "coroutine" if flags & 0x80 else "generator" if flags & 0x20 else "function",
            "parameters": found and [[*p[:3], encode(p[3])] for p in found],
        }

    def _told_class(self, kind: type) -> dict[str, Any]:
        base = next((b for b in kind.__mro__ if b in FILLED), None)
        parents = [b for b in kind.__bases__ if b is not object and self._passes(b)]
        inherited = frozenset(specials(base)) if base is not None else frozenset()
        own = [n for n in specials(kind) if n not in inherited or self._overrides(kind, base, n)]
        if any(decides(getattr(kind, name)) for name in own):
            self._doubt()
        if issubclass(kind, BaseException):
            own = [name for name in own if self._overrides(kind, BaseException, name)]
        return {
            "name": kind.__name__,
            "qualname": kind.__qualname__,
            "module": kind.__module__,
            "bases": [self._peer.encode(parent) for parent in parents],
            "special": [name for name in own if name != "__hash__"],
        }

    def _passes(self, base: type) -> bool:
        if base in FILLED or (base in NAMES and issubclass(base, BaseException)):
            return True
        return not self._is_library(base.__module__)

    def _overrides(self, kind: type, base: Any, name: str) -> bool:  # noqa: ANN401 - a class
        return getattr(kind, name) is not getattr(base, name, None)

    def perform(self, operation: str, arguments: list[Wire]) -> list[Wire]:
        """Call one of ours, or read or set a public attribute of it."""
        if operation == "describe":
            return [self._described(*arguments)]
        perform = _OPERATIONS.get(operation)
        if perform is None:
            raise WireError("a message asks for what there is not")
        target = self.objects[arguments[0]]
        calls = operation == "call" or (operation == "special" and arguments[1] == "__call__")
        if calls and arguments[0] in self._kinds:
            raise TypeError(f"no test has handed {target.__name__} over")
        result = perform(self, target, *arguments[1:])
        if isinstance(result, _FORBIDDEN):
            raise WireError("the code under test asks for what it has no business with")
        return [self._peer.encode(result)]

    def _described(self, number: int) -> Wire:
        """Return the reference to one of ours as at its first mention, which may have been lost."""
        tag = _tag(self.objects[number])
        return [tag, number, *self._told(tag, self.objects[number])]

    def _call(self, target: Any, args: list[Wire], kwargs: dict[str, Wire]) -> Any:  # noqa: ANN401
        decode = self._peer.decode
        return target(*map(decode, args), **{n: decode(wire) for n, wire in kwargs.items()})

    def _get(self, target: Any, name: str) -> Any:  # noqa: ANN401 - any attribute
        if (name.startswith(_INNER) and name not in _NAMES) or _is_setting(target, name):
            raise AttributeError(f"{type(target).__name__!r} object has no attribute {name!r}")
        found = getattr(target, name)
        if isinstance(found, _FORBIDDEN):
            raise AttributeError(f"{type(target).__name__!r} object has no attribute {name!r}")
        return found

    def _put(self, target: Any, name: str, value: Wire) -> None:  # noqa: ANN401 - any object
        fixed = callable(getattr(type(target), name, None)) or _is_setting(target, name)
        if fixed or name.startswith("_") or isinstance(target, (*_FUNCTIONS, type)):
            raise AttributeError(f"{type(target).__name__!r} object has no attribute {name!r}")
        setattr(target, name, self._peer.decode(value))

    def _special(self, target: Any, name: str, args: list[Wire]) -> Any:  # noqa: ANN401
        if name not in SPECIAL:
            raise WireError("a message asks for what there is not")
        if name in BUILT_IN:
            return BUILT_IN[name](target)
        return getattr(type(target), name)(target, *map(self._peer.decode, args))


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": Own._call,
    "get": Own._get,
    "put": Own._put,
    "special": Own._special,
}


def _is_of_runner(value: Any) -> bool:  # noqa: ANN401 - any object
    """Return whether an object is what tests are run with: a fixture's, a test case."""
    if isinstance(value, BaseException | type):
        return False
    return any(kind.__module__.startswith(_RUNNERS) for kind in type(value).__mro__)


def _is_mock(value: Any) -> bool:  # noqa: ANN401 - any object
    return any(kind.__module__ == "unittest.mock" for kind in type(value).__mro__)


def _is_setting(target: Any, name: str) -> bool:  # noqa: ANN401 - any object
    """Return whether an attribute says how a mock behaves."""
    return name in _SETTINGS and _is_mock(target)


def _tag(value: Any) -> str:  # noqa: ANN401 - any object
    if isinstance(value, type):
        return "class"
    if isinstance(value, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        return "function"
    if isinstance(value, BaseException) and type(value) in NAMES:
        return "exception"
    return "object"

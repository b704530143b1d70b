"""How the tests' process understands what the code under test speaks of."""

import sys
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from codeenv.guest.split_licence import Licences, UnlicensedError
from codeenv.guest.split_link import Link, Peer
from codeenv.guest.split_mirror import mirror
from codeenv.guest.split_modules import RemoteModule
from codeenv.guest.split_names import VALUES
from codeenv.guest.split_own import Own
from codeenv.guest.split_remote import NUMBER, Asker, Bound, Method, Remote
from codeenv.guest.split_types import RemoteType
from codeenv.guest.split_wire import Wire, WireError

_PLAIN = (type, types.FunctionType, types.MethodType, types.BuiltinFunctionType)


class Hearer(Peer):
    """Keeps what stands here for objects of the other process, as long as a test holds it.

    Attributes:
        asker: What these ask.
    """

    asker: Asker

    def __init__(self, link: Link, packages: frozenset[str], licences: Licences) -> None:
        """Talk over ``link`` about what is in ``packages``."""
        super().__init__(link)
        self.decoder.plain = True
        self.packages, self.licences = packages, licences
        self._known: dict[int, weakref.ref[Any]] = {}
        self._classes: dict[int, RemoteType] = {}
        self._values: dict[int, Any] = {}
        self._dropped: set[int] = set()
        self._own = Own(self, packages, licences.doubt)

    def number_of_method(self, own: Any, name: str) -> int:  # noqa: ANN401 - a mirrored object
        """Return the number of a bound method in the other process."""
        raise NotImplementedError

    def described(self, number: int) -> dict[str, Any]:
        """Return what the other process tells of a class, again."""
        raise NotImplementedError

    def refer(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        """Return the reference to an object: one of theirs, a standard class, or one of ours."""
        kind = type(value)
        if kind is Remote or isinstance(kind, RemoteType) or isinstance(value, RemoteType):
            return ["mine", _number(value)]
        if kind is Bound:
            own, name = (object.__getattribute__(value, n) for n in ("_own", "_name"))
            return ["mine", self.number_of_method(own, name)]
        if kind is RemoteModule:
            return ["module", value.__name__]
        if kind is Method:
            return ["raw", value.owner, value.name]
        return self._own.refer(value)

    def resolve(self, tag: str, body: list[Wire]) -> Any:  # noqa: ANN401 - any object
        """Return what a reference means."""
        try:
            return _RESOLVERS[tag](self, *body)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise WireError(f"a message holds a broken {tag[:20]}: {error!r}"[:200]) from error

    def _yours(self, number: int) -> Any:  # noqa: ANN401 - any object of ours
        found = self._own.objects[number]
        kind = type(found)
        compares: Any = kind.__eq__
        if isinstance(found, _PLAIN) or compares is object.__eq__:
            return found
        if not self.licences.allows(f"<{kind.__name__}>"):
            raise UnlicensedError(f"a {kind.__name__} may equal what the code does not")
        return found

    def _imported(self, module: str, name: str) -> Any:  # noqa: ANN401 - what we have named
        return self._own.imported[module, name]

    def _module(self, name: str) -> Any:  # noqa: ANN401 - a module
        if name.partition(".")[0] not in self.packages:
            raise WireError("a message names a module that is not tested")
        return sys.modules.get(name) or RemoteModule(self.asker, name)

    def _function(self, number: int, name: str) -> Any:  # noqa: ANN401 - a function
        return self._kept(number, lambda: Remote(self.asker, number, str(name)))

    def _class(self, number: int, told: dict[str, Any] | None = None) -> Any:  # noqa: ANN401
        if number not in self._classes:
            told = self.described(number) if told is None else told
            bases = [self.decode(base) for base in told["bases"]]
            standard = told["standard"]
            told["standard_class"] = self.decode(["standard", standard]) if standard else None
            mirrored = [base for base in bases if isinstance(base, RemoteType)]
            told["compares"] = "__eq__" in told["own"]
            told["compares"] |= any(base._codeenv_told["compares"] for base in mirrored)
            made = mirror(self.asker, number, told, bases)
            methods = {name for name, entry in told["own"].items() if entry == "f"}
            for base in mirrored:
                methods |= base._codeenv_methods - told["own"].keys()
            type.__setattr__(made, "_codeenv_methods", frozenset(methods))
            self._classes[number] = made
        return self._classes[number]

    def _object(self, number: int, kind: Wire) -> Any:  # noqa: ANN401 - any object
        cls = self._class(*kind[1:])
        return self._kept(number, lambda: _blank(cls, number))

    def _value(self, number: int, kind: Wire, base: Wire) -> Any:  # noqa: ANN401 - a value
        cls = self._class(*kind[1:])
        if number not in self._values:
            plain = self.decode(base)
            made = next((b for b in VALUES if type(plain) is b and issubclass(cls, b)), None)
            if made is None:
                raise WireError("a message holds a value of another class")
            value = made.__new__(cls, plain)
            object.__setattr__(value, NUMBER, number)
            self._values[number] = value
        return self._values[number]

    def _exception(
        self, number: int, kind: Wire, args: list[Wire], cause: Wire, hushed: bool
    ) -> BaseException:
        cls = self.decode(kind)
        given = tuple(self.decode(argument) for argument in args)

        def make() -> BaseException:
            made: BaseException = _blank(cls, number)
            BaseException.__init__(made, *given)
            return made

        if isinstance(cls, RemoteType):
            error: BaseException = self._kept(number, make)
        else:
            error = _standard_exception(cls, given)
            self._dropped.add(number)
        if cause is not None:
            error.__cause__ = self.decode(cause)
        error.__suppress_context__ = bool(hushed)
        return error

    def _kept(self, number: int, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - any object
        """Return the one that stands for a number as long as a test holds it."""
        known = self._known.get(number)
        found = known() if known is not None else None
        if found is None:
            found = make()
            self._dropped.discard(number)
            self._known[number] = weakref.ref(found, lambda gone: self._forget(number, gone))
        return found

    def _forget(self, number: int, gone: Any) -> None:  # noqa: ANN401 - a weak reference
        if self._known.get(number) is gone:
            del self._known[number]
            self._dropped.add(number)


def _number(value: Any) -> int:  # noqa: ANN401 - a mirror
    if isinstance(value, RemoteType):
        return int(type.__getattribute__(value, NUMBER))
    return int(object.__getattribute__(value, NUMBER))


def _blank(cls: Any, number: int) -> Any:  # noqa: ANN401 - an object of a mirrored class
    made = (BaseException if issubclass(cls, BaseException) else object).__new__(cls)
    object.__setattr__(made, NUMBER, number)
    return made


def _standard_exception(cls: Any, args: tuple[Any, ...]) -> BaseException:  # noqa: ANN401
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise WireError("a message holds an exception that is none")
    try:
        return cls(*args)
    except TypeError:
        made = cls.__new__(cls)
        made.args = args
        return made


_RESOLVERS: Mapping[str, Callable[..., Any]] = {
    "yours": Hearer._yours,
    "imported": Hearer._imported,
    "module": Hearer._module,
    "function": Hearer._function,
    "class": Hearer._class,
    "object": Hearer._object,
    "value": Hearer._value,
    "exception": Hearer._exception,
}

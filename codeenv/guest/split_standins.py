"""What stands for the tests' functions, objects and classes beside the code under test."""

import contextlib
import inspect
import keyword
import types
from collections.abc import Callable
from typing import Any, Protocol

from codeenv.guest.split_names import FILLED, VALUES
from codeenv.guest.split_wire import Wire, WireError


class Asker(Protocol):
    """What can ask the tests' side."""

    def encode(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        """Return a value for the wire."""
        ...

    def decode(self, wire: Wire) -> Any:  # noqa: ANN401 - any object
        """Return the value that was sent."""
        ...

    def exchange(self, message: list[Wire]) -> list[Wire]:
        """Ask."""
        ...


class StandIns:
    """Knows which object here stands for which of theirs."""

    def __init__(self, peer: Asker) -> None:
        """Ask ``peer`` for whatever is done with one of them."""
        self._peer = peer
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}

    def number_of(self, value: Any) -> int | None:  # noqa: ANN401 - any object
        """Return the number of what an object stands for, if it does."""
        return self._numbers.get(id(value))

    def resolve(self, tag: str, body: list[Wire]) -> Any:  # noqa: ANN401 - any object
        """Return what stands for one of theirs; their description comes with the first mention."""
        make = _MAKERS.get(tag)
        if make is None:
            raise WireError(f"there is no {tag}")
        number = body[0]
        if number not in self._objects:
            if len(body) == 1:
                body = self._peer.exchange(["describe", number])[0][1:]
            made = make(self, number, *body[1:])
            self._objects.setdefault(number, made)
            self._numbers[id(self._objects[number])] = number
        return self._objects[number]

    def call(self, number: int, args: Any, kwargs: Any) -> Any:  # noqa: ANN401 - of a call
        """Call one of theirs."""
        encode = self._peer.encode
        sent = [encode(value) for value in args]
        named = {name: encode(value) for name, value in kwargs.items()}
        return self._result(["call", number, sent, named])

    def get(self, number: int, name: str) -> Any:  # noqa: ANN401 - any attribute
        """Read an attribute of one of theirs."""
        return self._result(["get", number, name])

    def put(self, number: int, name: str, value: Any) -> None:  # noqa: ANN401 - any attribute
        """Set an attribute of one of theirs."""
        self._result(["put", number, name, self._peer.encode(value)])

    def special(self, number: int, name: str, args: Any) -> Any:  # noqa: ANN401 - of a call
        """Call a special method of one of theirs."""
        return self._result(["special", number, name, [self._peer.encode(a) for a in args]])

    def _result(self, message: list[Wire]) -> Any:  # noqa: ANN401 - any object
        return self._peer.decode(self._peer.exchange(message)[0])

    def _function(self, number: int, told: dict[str, Any]) -> Any:  # noqa: ANN401 - a function
        made = _written(told, self._peer.decode, lambda a, k: self.call(number, a, k))
        made.__name__, made.__qualname__ = told["name"], told["qualname"]
        made.__module__, made.__doc__ = told["module"], told["doc"]
        return made

    def _class(self, number: int, told: dict[str, Any]) -> type:
        """Return a class that makes the tests' objects when it is called."""
        bases = tuple(self._peer.decode(base) for base in told["bases"])
        standins = self

        def new(cls: type, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - of a call
            return standins.call(number, args, kwargs)

        body: dict[str, Any] = {"__new__": new, "__init__": lambda *_, **__: None}
        body |= {"__module__": told["module"], "__qualname__": told["qualname"]}
        body["__getattr__"] = lambda own, name: standins.get(standins._own(own), name)
        body["__setattr__"] = lambda own, n, value: standins.put(standins._own(own), n, value)
        body["__hash__"] = object.__hash__
        for name in told["special"]:
            body[name] = self._method(name)
        meta = type("StandInType", (type(bases[0]) if bases else type,), self._class_side(number))
        return types.new_class(told["name"], bases, {"metaclass": meta}, lambda ns: ns.update(body))

    def _class_side(self, number: int) -> dict[str, Any]:
        return {"__getattr__": lambda cls, name: self.get(number, name)}

    def _method(self, name: str) -> Callable[..., Any]:
        return lambda own, *args: self.special(self._own(own), name, args)

    def _own(self, standin: Any) -> int:  # noqa: ANN401 - an object of such a class
        try:
            return self._numbers[id(standin)]
        except KeyError:
            raise AttributeError("this object belongs to no test") from None

    def _object(self, number: int, kind: Wire, content: Wire = None) -> Any:  # noqa: ANN401
        """Return an object of such a class; with what it holds, if it is a container or a value."""
        cls = self._peer.decode(kind)
        base = next((b for b in cls.__mro__ if b in FILLED), None)
        if base is not None and content is not None:
            held = self._peer.decode(content)
            made = base.__new__(cls, held) if base in VALUES else base.__new__(cls)
            if base not in VALUES:
                base.__init__(made, held)
            return made
        if issubclass(cls, BaseException):
            made = cls.__base__.__new__(cls)
            args: Any = BaseException.args
            args.__set__(made, tuple(self._peer.decode(content or ["tuple"])))
            return made
        return object.__new__(cls)

    def _exception(self, number: int, kind: Wire, args: list[Wire]) -> BaseException:
        """Return an exception of a standard class."""
        cls = self._peer.decode(kind)
        given = [self._peer.decode(argument) for argument in args]
        with contextlib.suppress(TypeError):
            return cls(*given)  # type: ignore[no-any-return]
        made: BaseException = cls.__new__(cls)
        made.args = tuple(given)
        return made


_MAKERS: dict[str, Callable[..., Any]] = {
    "function": StandIns._function,
    "class": StandIns._class,
    "object": StandIns._object,
    "exception": StandIns._exception,
}


def _written(
    told: dict[str, Any],
    decode: Callable[[Wire], Any],
    call: Callable[[Any, Any], Any],
) -> Any:  # noqa: ANN401 - a function
    """Return a function with the parameters of one of theirs."""
    space: dict[str, Any] = {"_call": call}
    declared, positional, named = _parameter_list(told["parameters"], decode, space)
    head = ", ".join(declared)
    expression = f"_call(({positional}), {named})"
    if told["kind"] == "generator":
        expression = f"(yield from {expression})"
    elif told["kind"] == "coroutine":
        expression = f"await {expression}"
    prefix = "async " if told["kind"] == "coroutine" else ""
    source = f"{prefix}def _made({head}):\n    return {expression}\n"
    exec(compile(source, f"<test function {told['name']}>", "exec"), space)
    return space["_made"]


def _parameter_list(
    parameters: list[list[Any]] | None, decode: Callable[[Wire], Any], space: dict[str, Any]
) -> tuple[list[str], str, str]:
    """Return what to declare, and the expressions that pass it on."""
    usable = parameters is not None and all(_is_name(p[0]) for p in parameters)
    if parameters is None or not usable:
        return ["*args", "**kwargs"], "*args,", "kwargs"
    declared: list[str] = []
    positional, named = "", "{"
    star = False
    for index, (name, kind, has_default, default) in enumerate(parameters):
        default_text = ""
        if has_default:
            space[f"_d{index}"] = decode(default)
            default_text = f"=_d{index}"
        if kind == inspect.Parameter.VAR_POSITIONAL:
            declared.append(f"*{name}")
            positional, star = positional + f"*{name}, ", True
        elif kind == inspect.Parameter.VAR_KEYWORD:
            declared.append(f"**{name}")
            named += f"**{name}, "
        elif kind == inspect.Parameter.KEYWORD_ONLY:
            declared += ([] if star else ["*"]) + [f"{name}{default_text}"]
            named, star = named + f"{name!r}: {name}, ", True
        else:
            declared.append(f"{name}{default_text}")
            positional += f"{name}, "
            last = kind == inspect.Parameter.POSITIONAL_ONLY
            following = parameters[index + 1][1] if index + 1 < len(parameters) else None
            if last and following != inspect.Parameter.POSITIONAL_ONLY.value:
                declared.append("/")
    return declared, positional, named + "}"


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text) and not text.startswith("_call")

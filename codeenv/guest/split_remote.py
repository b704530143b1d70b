"""What stands for functions and methods of the code under test: it asks the other process."""

import inspect
import sys
import types
from typing import Any, Protocol

NUMBER = "_codeenv_number"


class Asker(Protocol):
    """What mirrors need of the tests' side."""

    def get(self, target: Any, name: str) -> Any: ...  # noqa: ANN401, D102
    def put(self, target: Any, name: str, value: Any) -> None: ...  # noqa: ANN401, D102
    def delete(self, target: Any, name: str) -> None: ...  # noqa: ANN401, D102
    def call(self, target: Any, args: Any, kwargs: Any) -> Any: ...  # noqa: ANN401, D102
    def send(self, target: Any, name: str, args: Any, kwargs: Any) -> Any: ...  # noqa: ANN401, D102
    def special(self, target: Any, name: str, args: Any) -> Any: ...  # noqa: ANN401, D102
    def equal(self, one: Any, other: Any) -> Any: ...  # noqa: ANN401, D102
    def ask(self, operation: str, *arguments: Any) -> Any: ...  # noqa: ANN401, D102
    def declare(self, name: str, bases: Any, body: Any, kw: Any) -> Any: ...  # noqa: ANN401, D102
    def readable(self, name: str) -> None: ...  # noqa: D102
    def licensed(self, target: Any, question: str) -> None: ...  # noqa: ANN401, D102
    def trusted(self, target: Any, question: str) -> bool: ...  # noqa: ANN401, D102
    def swallows(self, kind: Any, answer: Any) -> bool: ...  # noqa: ANN401, D102


class Remote:
    """A function or a bound method of the code under test."""

    __slots__ = ("__weakref__", "_asker", NUMBER, "_title")

    def __init__(self, asker: Asker, number: int, title: str) -> None:
        object.__setattr__(self, "_asker", asker)
        object.__setattr__(self, NUMBER, number)
        object.__setattr__(self, "_title", title)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, D102
        return self._asker.call(self, args, kwargs)

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401
        if name in ("_asker", NUMBER, "_title", "__class__"):
            return object.__getattribute__(self, name)
        asker = object.__getattribute__(self, "_asker")
        if name == "__signature__":
            return signature(asker, self)
        return asker.get(self, name)

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401
        self._asker.put(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._asker.delete(self, name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:  # noqa: ANN401
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<function {self._title}>"

    def __dir__(self) -> list[str]:
        return list(self._asker.ask("names", self))

    def __reduce_ex__(self, protocol: Any) -> Any:  # noqa: ANN401
        return reduced(self._asker, self, protocol)

    def __copy__(self) -> Any:  # noqa: ANN401
        return self

    def __deepcopy__(self, memo: Any) -> Any:  # noqa: ANN401
        return self


class Bound:
    """A method of an object of the code under test, found when it is called."""

    __slots__ = ("_asker", "_name", "_own")

    def __init__(self, asker: Asker, own: Any, name: str) -> None:  # noqa: ANN401
        object.__setattr__(self, "_asker", asker)
        object.__setattr__(self, "_own", own)
        object.__setattr__(self, "_name", name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, D102
        return self._asker.send(self._own, self._name, args, kwargs)

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401
        if name in ("_asker", "_own", "_name", "__class__"):
            return object.__getattribute__(self, name)
        if name == "__self__":
            return self._own
        asker = object.__getattribute__(self, "_asker")
        if name == "__signature__":
            return signature(asker, self)
        return asker.get(self, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bound) and (self._own is other._own and self._name == other._name)

    def __hash__(self) -> int:
        return hash((id(self._own), self._name))

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401
        self._asker.put(self, name, value)

    def __repr__(self) -> str:
        return f"<bound method {self._name}>"


class Method:
    """A method in the body of a mirrored class: for ``super``, and to be put back."""

    __slots__ = ("asker", "name", "owner")

    def __init__(self, asker: Asker, owner: int, name: str) -> None:
        self.asker, self.owner, self.name = asker, owner, name

    def __get__(self, instance: Any, owner: Any = None) -> Any:  # noqa: ANN401
        if instance is None:
            return self
        return types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, D102
        return self.asker.call(self, args, kwargs)


def signature(asker: Asker, target: Any) -> inspect.Signature:  # noqa: ANN401
    """Return the signature of a callable of the code under test."""
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(name, inspect._ParameterKind(kind), default=default if has else empty)
            for name, kind, has, default in asker.ask("signature", target)
        ]
    )


def reduced(asker: Asker, own: Any, protocol: Any) -> Any:  # noqa: ANN401
    """Return how a mirror is pickled: as bytes that only the other process reads."""
    return _rebuilt, (asker.ask("pickle", own, int(protocol)),)


def _rebuilt(data: bytes) -> Any:  # noqa: ANN401
    finder = next(f for f in sys.meta_path if hasattr(f, "asker"))
    return finder.asker.ask("unpickle", data)

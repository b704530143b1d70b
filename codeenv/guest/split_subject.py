"""The process of the code under test: it does what the tests' process asks, and sees no test.

Runs in a box of its own.  Whatever the code does here, it can only give answers.
"""

import asyncio
import copy
import importlib
import os
import pickle
import socket
import sys
import types
from collections.abc import Callable
from typing import Any

from codeenv.guest.pytest_runner import close_input, prepare_path
from codeenv.guest.split_effects import adopt, forward
from codeenv.guest.split_link import LINK_FD, Link, LinkError
from codeenv.guest.split_names import BUILT_IN, parameters
from codeenv.guest.split_speaker import Speaker
from codeenv.guest.split_state import content_of, state_of
from codeenv.guest.split_wire import Wire

_MUTABLE = (list, dict, set, bytearray)


class Subject(Speaker):
    """Does things with the objects that the tests' process speaks of."""

    _loop: asyncio.AbstractEventLoop | None = None

    def run(self) -> None:
        """Serve until the tests' process hangs up."""
        while True:
            self.serve(self.link.receive())

    def hear(self, message: list[Wire]) -> bool:
        """Take what wants no answer."""
        return False

    def tell(self, message: list[Wire]) -> None:
        """Send what wants no answer."""
        self.link.send(message)

    def perform(self, message: list[Wire]) -> list[Wire]:
        """Do one thing."""
        operation, ambient, *arguments = message
        if ambient:
            self.drop(ambient.get("drop", []))
            adopt(ambient, self.decode)
        return _OPERATIONS[operation](self, *arguments)

    def load(self, name: str) -> list[Wire]:
        """Import a module; say whether it is a package, and where it is."""
        module = importlib.import_module(name)
        return [hasattr(module, "__path__"), getattr(module, "__file__", None)]

    def get(self, target: Wire, name: str) -> list[Wire]:
        """Read an attribute."""
        return [self.encode(getattr(self.decode(target), name))]

    def put(self, target: Wire, name: str, value: Wire) -> list[Wire]:
        """Set an attribute."""
        setattr(self.decode(target), name, self.decode(value))
        return [None]

    def delete(self, target: Wire, name: str) -> list[Wire]:
        """Delete an attribute."""
        delattr(self.decode(target), name)
        return [None]

    def call(self, target: Wire, args: list[Wire], kwargs: dict[str, Wire]) -> list[Wire]:
        """Call something."""
        return self._call(self.decode(target), args, kwargs)

    def send(self, target: Wire, name: str, args: list[Wire], kw: dict[str, Wire]) -> list[Wire]:
        """Call a method."""
        return self._call(getattr(self.decode(target), name), args, kw)

    def special(self, target: Wire, name: str, args: list[Wire]) -> list[Wire]:
        """Call a special method as Python does: on the class."""
        subject = self.decode(target)
        kind = type(subject)
        if name in BUILT_IN:
            return [self.encode(BUILT_IN[name](subject))]
        method = getattr(kind, name)
        return self._call(method, [target, *args], {}, first=subject)

    def _call(
        self,
        function: Callable[..., Any],
        args: list[Wire],
        kwargs: dict[str, Wire],
        first: Any = None,  # noqa: ANN401 - the object that a special method is of
    ) -> list[Wire]:
        """Call; tell what it changed in lists, dicts and sets that it was given."""
        given = [self.decode(wire) for wire in args]
        if first is not None:
            given[0] = first
        named = {name: self.decode(wire) for name, wire in kwargs.items()}
        result = function(*given, **named)
        changed: list[Wire] = []
        for place, value, wire in (
            *zip(range(len(args)), given, args, strict=True),
            *((name, named[name], kwargs[name]) for name in kwargs),
        ):
            if type(value) in _MUTABLE and (now := self.encode(value)) != wire:
                changed.append([place, now])
        return [self.encode(result), changed] if changed else [self.encode(result)]

    def isinstance(self, value: Wire, kind: Wire) -> list[Wire]:
        """Ask a class whether something is of it."""
        return [bool(isinstance(self.decode(value), self.decode(kind)))]

    def issubclass(self, value: Wire, kind: Wire) -> list[Wire]:
        """Ask a class whether another is below it."""
        return [bool(issubclass(self.decode(value), self.decode(kind)))]

    def equal(self, one: Wire, other: Wire) -> list[Wire]:
        """Return whether two objects are equal in their own opinion."""
        return [bool(self.decode(one) == self.decode(other))]

    def item(self, target: Wire, key: Wire) -> list[Wire]:
        """Return ``target[key]``."""
        return [self.encode(self.decode(target)[self.decode(key)])]

    def content(self, target: Wire) -> list[Wire]:
        """Return what a container holds, or a value is, as plain data."""
        return [self.encode(content_of(self.decode(target)))]

    def state(self, target: Wire) -> list[Wire]:
        """Return what an object is made of, as plain data."""
        return [self.encode(state_of(self.decode(target)))]

    def make(
        self, name: str, bases: list[Wire], items: list[list[Wire]], kw: dict[str, Wire]
    ) -> list[Wire]:
        """Make a class whose methods are the tests'."""
        body = {key: self.decode(value) for key, value in items}
        kwargs = {key: self.decode(value) for key, value in kw.items()}
        found = tuple(self.decode(base) for base in bases)
        made = types.new_class(name, found, kwargs, lambda ns: ns.update(body))
        module = getattr(made, "__module__", None)
        if isinstance(module, str) and getattr(made, "__qualname__", "") == name:
            home = sys.modules.setdefault(module, types.ModuleType(module))
            setattr(home, name, made)  # where pickle looks for it
        return [self.encode(made)]

    def signature(self, target: Wire) -> list[Wire]:
        """Return the parameters of a callable, or None."""
        found = parameters(self.decode(target))
        if found is None:
            raise ValueError("no signature found")
        return [self.encode([tuple(p) for p in found])]

    def names(self, target: Wire) -> list[Wire]:
        """Return the names of an object's attributes."""
        return [self.encode(list(dir(self.decode(target))))]

    def copy(self, target: Wire, deep: bool) -> list[Wire]:
        """Copy an object."""
        value = self.decode(target)
        return [self.encode(copy.deepcopy(value) if deep else copy.copy(value))]

    def pickle(self, target: Wire, protocol: int) -> list[Wire]:
        """Return an object as bytes that only this process will ever read."""
        return [self.encode(pickle.dumps(self.decode(target), protocol))]

    def unpickle(self, data: Wire) -> list[Wire]:
        """Return the object of ``pickle``."""
        return [self.encode(pickle.loads(self.decode(data)))]

    def run_coroutine(self, target: Wire) -> list[Wire]:
        """Run a coroutine to its end."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return [self.encode(self._loop.run_until_complete(_awaited(self.decode(target))))]


async def _awaited(value: Any) -> Any:  # noqa: ANN401 - an awaitable and what it gives
    return await value


_OPERATIONS: dict[str, Callable[..., list[Wire]]] = {
    name: getattr(Subject, name)
    for name in (
        *(
            "load",
            "describe",
            "get",
            "put",
            "delete",
            "call",
            "send",
            "special",
            "isinstance",
            "issubclass",
        ),
        *(
            "equal",
            "item",
            "content",
            "state",
            "make",
            "signature",
            "names",
            "copy",
            "pickle",
            "unpickle",
        ),
        "run_coroutine",
    )
}


def main(request: dict[str, Any]) -> None:
    """Serve the tests' process until it hangs up."""
    close_input()
    prepare_path(os.getcwd())
    sys.argv[:] = ["pytest"]
    link = Link(socket.socket(fileno=LINK_FD))
    subject = Subject(link, frozenset(request["packages"]))
    forward(subject)
    try:
        subject.run()
    except LinkError:
        os._exit(0)

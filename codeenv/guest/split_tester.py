"""The tests' side of a split: it asks the code under test, and does what that calls back.

Only what a test has handed over can be called back, and only its public attributes be read: nothing
is imported, looked up or evaluated for the code under test.
"""

import logging
import sys
import threading
import types
import warnings
from typing import Any

from codeenv.guest import split_ambient
from codeenv.guest.split_hearer import Hearer
from codeenv.guest.split_licence import CHANGES, Licences
from codeenv.guest.split_link import Link
from codeenv.guest.split_names import ARITHMETIC, VALUES
from codeenv.guest.split_remote import NUMBER
from codeenv.guest.split_types import RemoteType
from codeenv.guest.split_wire import Wire, WireError


class Tester(Hearer):
    """Asks for everything that a test does with the code under test."""

    def __init__(self, link: Link, packages: frozenset[str], licences: Licences) -> None:
        """Talk over ``link`` about what is in ``packages``."""
        super().__init__(link, packages, licences)
        self.asker = self
        self._turn = threading.RLock()
        self._ambient = split_ambient.Ambient()

    def ask(self, operation: str, *arguments: Any) -> Any:  # noqa: ANN401 - any answer
        """Do one thing with the code under test; plain arguments pass as they are."""
        with self._turn:
            return self.decode(self._ask(operation, map(self.encode, arguments))[0])

    def _ask(self, operation: str, arguments: Any) -> list[Wire]:  # noqa: ANN401 - wires
        with self._turn:
            sent = list(arguments)
            return self.exchange([operation, self._surroundings(), *sent])

    def _surroundings(self) -> dict[str, Any] | None:
        changed = self._ambient.changes(self.encode)
        if self._dropped:
            changed["drop"], self._dropped = sorted(self._dropped), set()
        return changed or None

    def number_of_method(self, own: Any, name: str) -> int:  # noqa: ANN401 - a mirrored object
        """Return the number of a bound method in the other process."""
        return int(self._ask("get", [self.encode(own), name])[0][1])

    def described(self, number: int) -> dict[str, Any]:
        """Return what the other process tells of a class, again."""
        wire = self._ask("describe", [number])[0]
        return dict(wire[2])

    def get(self, target: Any, name: str) -> Any:  # noqa: ANN401 - any attribute
        """Read an attribute."""
        self.licences.read(name)
        return self.decode(self._ask("get", [self.encode(target), name])[0])

    def put(self, target: Any, name: str, value: Any) -> None:  # noqa: ANN401 - any attribute
        """Set an attribute."""
        self._ask("put", [self.encode(target), name, self.encode(value)])

    def delete(self, target: Any, name: str) -> None:  # noqa: ANN401 - any object
        """Delete an attribute."""
        self._ask("delete", [self.encode(target), name])

    def call(self, target: Any, args: Any, kwargs: Any) -> Any:  # noqa: ANN401 - any call
        """Call something."""
        return self._call("call", [self.encode(target)], args, kwargs)

    def send(self, target: Any, name: str, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        """Call a method."""
        return self._call("send", [self.encode(target), name], args, kwargs)

    def special(self, target: Any, name: str, args: Any) -> Any:  # noqa: ANN401 - any call
        """Call a special method."""
        sent = list(map(self.encode, args))
        answer = self._ask("special", [self.encode(target), name, sent])
        self._apply(answer, [target, *args], {})
        return self.decode(answer[0])

    def _call(self, operation: str, head: list[Wire], args: Any, kwargs: Any) -> Any:  # noqa: ANN401
        with self._turn:
            sent = list(map(self.encode, args))
            named = {name: self.encode(value) for name, value in kwargs.items()}
            answer = self._ask(operation, [*head, sent, named])
            self._apply(answer, args, kwargs)
            return self.decode(answer[0])

    def _apply(self, answer: list[Wire], args: Any, kwargs: Any) -> None:  # noqa: ANN401
        """Change lists, dicts and sets that were handed over as they were changed."""
        if len(answer) < 2 or not self.licences.allows(CHANGES):
            return
        for place, wire in answer[1]:
            target = kwargs[place] if isinstance(place, str) else args[place]
            now = self.decode(wire)
            if type(now) is not type(target):
                raise WireError("an argument changed its class")
            if isinstance(target, list | bytearray):
                target[:] = now
            else:
                target.clear()
                target.update(now)

    def readable(self, name: str) -> None:
        """Demand that an attribute may be read."""
        self.licences.read(name)

    def licensed(self, target: Any, question: str) -> None:  # noqa: ANN401 - a mirror
        """Demand that an object or a class may be asked for an opinion."""
        self.licences.ask(_name_of(target), question)

    def trusted(self, target: Any, question: str) -> bool:  # noqa: ANN401 - a mirror
        """Return whether a class may be asked for an opinion, or an object for a calculation."""
        return self.licences.may("" if question in ARITHMETIC else _name_of(target), question)

    def swallows(self, kind: Any, answer: Any) -> bool:  # noqa: ANN401 - a class of exceptions
        """Return whether an exception ends in a context manager that says so."""
        if kind is None or not answer:
            return False
        return self.licences.may("", f"__exit__:{kind.__name__}")

    def equal(self, one: Any, other: Any) -> Any:  # noqa: ANN401 - a boolean, or NotImplemented
        """Return whether a mirrored object equals another: by value, as far as possible."""
        if one is other:
            return True
        told = type(one)._codeenv_told
        base = next((kind for kind in VALUES if isinstance(one, kind)), None)
        if not told["compares"]:
            if base is not None:
                return base.__eq__(one, other)
            return self._same_content(one, other) if type(one)._codeenv_virtual else NotImplemented
        if not self.trusted(one, "!="):
            return NotImplemented if base is None else base.__eq__(one, other)
        if not self.ask("equal", one, other):
            return False
        if base is not None and base.__eq__(one, other) is True:
            return True
        if self._same_content(one, other) is True or self._same_state(one, other):
            self.licensed(one, "__eq__")
        else:
            self.licensed(one, "=")
        return True

    def _same_content(self, one: Any, other: Any) -> Any:  # noqa: ANN401 - or NotImplemented
        try:
            mine = self.ask("content", one)
            theirs = self.ask("content", other) if _is_mirrored(other) else other
        except TypeError:
            return NotImplemented
        return bool(mine == theirs)

    def _same_state(self, one: Any, other: Any) -> bool:  # noqa: ANN401 - any objects
        if not _is_mirrored(other):
            return False
        states = [self.ask("state", each) for each in (one, other)]
        return states[0] is not None and bool(states[0] == states[1])

    def declare(self, name: str, bases: Any, body: Any, kw: Any) -> Any:  # noqa: ANN401
        """Make a class below mirrored ones over there, and its mirror here."""
        cell = body.pop("__classcell__", None)
        items = [[key, self.encode(value)] for key, value in body.items()]
        sent = [name, list(map(self.encode, bases)), items]
        wire = self._ask("make", [*sent, {k: self.encode(v) for k, v in kw.items()}])[0]
        if not isinstance(wire, list) or wire[0] != "class":
            return self.decode(wire)
        made = self.decode(wire)
        kept = {key: value for key, value in body.items() if isinstance(value, _CARRIED)}
        kept |= {key: value for key, value in body.items() if isinstance(value, types.FunctionType)}
        kept |= {} if cell is None else {"__classcell__": cell}
        own: RemoteType = type.__new__(RemoteType, name, bases, kept)
        for key in ("_codeenv_told", "_codeenv_methods", "_codeenv_virtual", NUMBER):
            type.__setattr__(own, key, type.__getattribute__(made, key))
        type.__setattr__(own, "_codeenv_local", True)
        self._classes[wire[1]] = own
        return own

    def hear(self, message: list[Wire]) -> bool:
        """Take what is printed or logged."""
        if message[0] == "output":
            stream = getattr(sys, {"stdout": "stdout", "stderr": "stderr"}[message[1]])
            data = self.decode(message[2])
            (stream.buffer if isinstance(data, bytes) else stream).write(data)
            return True
        if message[0] == "log":
            _log(*message[1:])
            return True
        return False

    def perform(self, message: list[Wire]) -> list[Wire]:
        """Do one thing with an object that a test has handed over."""
        operation, *arguments = message
        if operation == "warn":
            return self._warn(*arguments)
        try:
            return self._own.perform(operation, arguments)
        except BaseException as error:
            if isinstance(error, AssertionError) or type(error).__module__.startswith("_pytest"):
                self.licences.lose(error)
            raise

    def _warn(self, text: Wire, kind: Wire, path: str, line: int, module: str) -> list[Wire]:
        category = self.decode(kind)
        message = self.decode(text)
        warnings.warn_explicit(message, category, str(path), int(line), str(module))
        return [None]


def _name_of(target: Any) -> str:  # noqa: ANN401 - a mirror
    kind = target if isinstance(target, RemoteType) else type(target)
    return str(kind._codeenv_told["name"])


def _is_mirrored(value: Any) -> bool:  # noqa: ANN401 - any object
    return isinstance(type(value), RemoteType)


def _log(name: str, level: int, text: str, path: str, line: int) -> None:
    logger = logging.getLogger(str(name))
    if logger.isEnabledFor(int(level)):
        place = (str(path), int(line))
        logger.handle(logging.LogRecord(str(name), int(level), *place, str(text), (), None))


_CARRIED = (staticmethod, classmethod, property)

"""The closed grammar of values that pass between the tests and the code they test.

A value is plain data, or a reference that the receiving side resolves from its own tables.  Nothing
is pickled, and nothing that is received is ever executed, imported or looked up by name, except for
the fixed table of standard classes below.

``null``, booleans, texts, floats and small integers stand for themselves; everything else is a list
whose first item tells what it is.
"""

import collections
import collections.abc
import datetime
import decimal
import enum
import fractions
import io
import ipaddress
import numbers
import pathlib
import re
import types
import uuid
from collections.abc import Callable
from typing import Any, Protocol

Wire = Any
"""What ``json`` reads and writes."""
DEPTH = 60
_SMALL = 2**53
_MODULES = (
    *(collections, collections.abc, datetime, decimal, enum, fractions, io, ipaddress),
    *(numbers, pathlib, re, types, uuid),
)


class WireError(Exception):
    """Raised for a value that cannot pass, or a message that is none."""


class References(Protocol):
    """How one side speaks of what is not plain data."""

    def refer(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        """Return the reference to an object."""
        ...

    def resolve(self, tag: str, body: list[Wire]) -> Any:  # noqa: ANN401 - any object
        """Return what a reference of the other side means."""
        ...


def _standard_classes() -> dict[str, type]:
    import builtins

    found = {}
    for module in (builtins, *_MODULES):
        for name, value in vars(module).items():
            if isinstance(value, type) and not name.startswith("_") and value is not io.FileIO:
                found[f"{module.__name__}:{name}"] = value
    return found


CLASSES = _standard_classes()
"""Standard classes by ``module:name``; no other name is resolved for the code under test."""
NAMES = {value: name for name, value in reversed(CLASSES.items())}
_ENUMS = {name: kind for kind, name in NAMES.items() if issubclass(kind, enum.Enum)}
SINGLES = {"...": Ellipsis, "NotImplemented": NotImplemented}
_PATHS = (pathlib.PurePosixPath, pathlib.PosixPath, pathlib.PureWindowsPath)
_ADDRESSES = (
    *(ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network),
    *(ipaddress.IPv6Network, ipaddress.IPv4Interface, ipaddress.IPv6Interface),
)
_AS_TEXT = {c.__name__: c for c in (*_PATHS, *_ADDRESSES, decimal.Decimal, uuid.UUID)}
_ITEMS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
_PAIRS: dict[str, Callable[[list[Any]], Any]] = {
    "dict": dict,
    "OrderedDict": collections.OrderedDict,
    "mappingproxy": lambda pairs: types.MappingProxyType(dict(pairs)),
}


class Encoder:
    """Turns values into what can be sent."""

    def __init__(self, references: References) -> None:
        """Ask ``references`` for what is not plain."""
        self._references = references
        self._depth = 0

    def encode(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        """Return a value for the wire.

        Raises:
            WireError: If it is nested too deeply (or in itself).
        """
        kind = type(value)
        if value is None or kind is str or kind is bool or kind is float:
            return value
        if kind is int:
            return value if -_SMALL < value < _SMALL else ["int", hex(value)]
        write = _WRITERS.get(kind)
        if write is None and issubclass(kind, enum.Enum) and kind in NAMES:
            return ["enum", NAMES[kind], value.value]
        if write is None:
            return self._references.refer(value)
        if self._depth > DEPTH:
            raise WireError("a value is nested too deeply to pass")
        self._depth += 1
        try:
            return write(self, value)
        finally:
            self._depth -= 1

    def many(self, tag: str, values: Any) -> Wire:  # noqa: ANN401 - an iterable
        """Return several values under a tag."""
        return [tag, *map(self.encode, values)]

    def pairs(self, tag: str, items: Any) -> Wire:  # noqa: ANN401 - an iterable of pairs
        """Return the items of a mapping under a tag."""
        return [tag, *([self.encode(key), self.encode(value)] for key, value in items)]


class Decoder:
    """Turns what was received into values."""

    def __init__(self, references: References) -> None:
        """Ask ``references`` for what is not plain.

        Attributes:
            plain: Whether nothing that can be called may be among the attributes of a value.
        """
        self._references = references
        self.plain = False

    def decode(self, wire: Wire) -> Any:  # noqa: ANN401 - any object
        """Return the value that was sent.

        Raises:
            WireError: If this is no value.
        """
        if not isinstance(wire, list):
            if isinstance(wire, dict):
                raise WireError("a message holds an object")
            return wire
        if not wire or not isinstance(wire[0], str):
            raise WireError("a message holds something without a name")
        tag, body = wire[0], wire[1:]
        read = _READERS.get(tag)
        if read is None:
            return self._references.resolve(tag, body)
        try:
            return read(self, body)
        except WireError:
            raise
        except (TypeError, ValueError, ArithmeticError, LookupError, re.error) as error:
            raise WireError(f"a message holds a broken {tag}") from error

    def items(self, body: list[Wire]) -> list[Any]:
        """Return several values."""
        return [self.decode(item) for item in body]

    def pairs(self, body: list[Wire]) -> list[Any]:
        """Return the items of a mapping."""
        return [(self.decode(key), self.decode(value)) for key, value in body]


def _write_moment(e: Encoder, v: Any) -> Wire:  # noqa: ANN401 - a date, a time
    if isinstance(v, datetime.datetime):
        fields = [v.year, v.month, v.day, v.hour, v.minute, v.second, v.microsecond]
        return ["datetime", *fields, e.encode(v.tzinfo), v.fold]
    if isinstance(v, datetime.time):
        fields = [v.hour, v.minute, v.second, v.microsecond]
        return ["time", *fields, e.encode(v.tzinfo), v.fold]
    return ["date", v.year, v.month, v.day]


def _read_datetime(d: Decoder, b: list[Wire]) -> Any:  # noqa: ANN401 - see above
    return datetime.datetime(*b[:7], tzinfo=d.decode(b[7]), fold=b[8])  # type: ignore[misc]


def _write_zone(e: Encoder, v: datetime.timezone) -> Wire:
    offset = e.encode(v.utcoffset(None))
    named = v.tzname(None) != datetime.timezone(v.utcoffset(None)).tzname(None)
    return ["timezone", offset, *([v.tzname(None)] if named else [])]


def _write_factory(e: Encoder, v: Any) -> Wire:  # noqa: ANN401 - a defaultdict
    return [*e.pairs("defaultdict", v.items()), e.encode(v.default_factory)]


def _read_factory(d: Decoder, b: list[Wire]) -> Any:  # noqa: ANN401 - see above
    return collections.defaultdict(d.decode(b[-1]), d.pairs(b[:-1]))


def _read_namespace(d: Decoder, b: list[Wire]) -> Any:  # noqa: ANN401 - see above
    made = types.SimpleNamespace(**dict(d.pairs(b)))
    if d.plain and any(map(callable, vars(made).values())):
        raise WireError("a namespace holds what can be called")
    return made


def _items_reader(make: Callable[[list[Any]], Any]) -> Callable[[Decoder, list[Wire]], Any]:
    return lambda d, body: make(d.items(body))


def _pairs_reader(make: Callable[[list[Any]], Any]) -> Callable[[Decoder, list[Wire]], Any]:
    return lambda d, body: make(d.pairs(body))


_WRITERS: dict[type, Callable[[Encoder, Any], Wire]] = {
    list: lambda e, v: e.many("list", v),
    tuple: lambda e, v: e.many("tuple", v),
    set: lambda e, v: e.many("set", v),
    frozenset: lambda e, v: e.many("frozenset", v),
    dict: lambda e, v: e.pairs("dict", v.items()),
    collections.OrderedDict: lambda e, v: e.pairs("OrderedDict", v.items()),
    types.MappingProxyType: lambda e, v: e.pairs("mappingproxy", v.items()),
    collections.Counter: lambda e, v: e.pairs("Counter", v.items()),
    collections.defaultdict: _write_factory,
    collections.deque: lambda e, v: [*e.many("deque", v), v.maxlen],
    bytes: lambda e, v: ["bytes", v.decode("latin-1")],
    bytearray: lambda e, v: ["bytearray", v.decode("latin-1")],
    complex: lambda e, v: ["complex", v.real, v.imag],
    range: lambda e, v: ["range", *map(e.encode, (v.start, v.stop, v.step))],
    slice: lambda e, v: ["slice", *map(e.encode, (v.start, v.stop, v.step))],
    re.Pattern: lambda e, v: ["regex", e.encode(v.pattern), v.flags],
    datetime.datetime: _write_moment,
    datetime.date: _write_moment,
    datetime.time: _write_moment,
    datetime.timedelta: lambda e, v: ["timedelta", v.days, v.seconds, v.microseconds],
    datetime.timezone: _write_zone,
    fractions.Fraction: lambda e, v: ["Fraction", e.encode(v.numerator), e.encode(v.denominator)],
    types.SimpleNamespace: lambda e, v: e.pairs("SimpleNamespace", vars(v).items()),
    type(Ellipsis): lambda e, v: ["single", "..."],
    type(NotImplemented): lambda e, v: ["single", "NotImplemented"],
    **{c: lambda e, v: ["text", type(v).__name__, str(v)] for c in _AS_TEXT.values()},
}
_READERS: dict[str, Callable[[Decoder, list[Wire]], Any]] = {
    **{name: _items_reader(make) for name, make in _ITEMS.items()},
    **{name: _pairs_reader(make) for name, make in _PAIRS.items()},
    "Counter": lambda d, b: collections.Counter(dict(d.pairs(b))),
    "defaultdict": _read_factory,
    "deque": lambda d, b: collections.deque(d.items(b[:-1]), b[-1]),
    "int": lambda d, b: int(b[0], 16),
    "bytes": lambda d, b: b[0].encode("latin-1"),
    "bytearray": lambda d, b: bytearray(b[0].encode("latin-1")),
    "complex": lambda d, b: complex(b[0], b[1]),
    "range": lambda d, b: range(*d.items(b)),
    "slice": lambda d, b: slice(*d.items(b)),
    "regex": lambda d, b: re.compile(d.decode(b[0]), b[1]),
    "datetime": _read_datetime,
    "date": lambda d, b: datetime.date(*b),
    "time": lambda d, b: datetime.time(*b[:4], tzinfo=d.decode(b[4]), fold=b[5]),  # type: ignore[misc]
    "timedelta": lambda d, b: datetime.timedelta(*b),
    "timezone": lambda d, b: datetime.timezone(d.decode(b[0]), *b[1:]),
    "Fraction": lambda d, b: fractions.Fraction(d.decode(b[0]), d.decode(b[1])),
    "SimpleNamespace": _read_namespace,
    "single": lambda d, b: SINGLES[b[0]],
    "enum": lambda d, b: _ENUMS[b[0]](b[1]),
    "text": lambda d, b: _AS_TEXT[b[0]](b[1]),
    "standard": lambda d, b: CLASSES[b[0]],
}

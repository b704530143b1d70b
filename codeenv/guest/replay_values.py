"""What is recorded of calls, and what they answer, as plain JSON.

A script is a list of steps.  A step is ``[target, arguments, named arguments]``; the target is
``module:name``, or the number of an earlier step and the name of an attribute of what that gave.
A step without arguments reads its target.  Values are those of ``split_wire``; ``["step", n]`` is
what an earlier step gave, and ``["named", target]`` what a module holds.
"""

import collections.abc
import enum
import importlib
import itertools
import json
from typing import Any

from codeenv.guest.split_names import FILLED, VALUES, base_value
from codeenv.guest.split_wire import NAMES, Decoder, Encoder, Wire, WireError

_ITEMS = 300
_MUTABLE = (list, dict, set, bytearray)
_DIGITS = ".12g"
_LISTED = (
    collections.abc.Iterator,
    collections.abc.KeysView,
    collections.abc.ValuesView,
    collections.abc.ItemsView,
)
_SEQUENCES = ("list", "tuple", "set", "frozenset", "deque", "slice", "range")
_PAIRS = ("dict", "OrderedDict", "mappingproxy", "Counter", "defaultdict", "SimpleNamespace")
_UNORDERED = ("set", "frozenset")


def perform(steps: list[Wire]) -> list[Any]:
    """Do what a script says; return what its last step gives, and what arguments it changes."""
    given: list[Any] = []
    decode = Decoder(_Given(given)).decode
    values: list[tuple[Any, Wire]] = []
    for target, *arguments in steps:
        found = named(target) if isinstance(target, str) else getattr(given[target[0]], target[1])
        if arguments:
            named_wires = arguments[1] if len(arguments) > 1 else {}
            args, kwargs = map(decode, arguments[0]), {n: decode(w) for n, w in named_wires.items()}
            values = [*zip(args, arguments[0], strict=True)]
            found = found(*(value for value, _ in values), **kwargs)
            values += [(kwargs[name], wire) for name, wire in named_wires.items()]
        given.append(found)
    changed = [v for v, wire in values if type(v) in _MUTABLE and v != decode(wire)]
    return [given[-1], *changed]


def named(target: str) -> Any:  # noqa: ANN401 - whatever a module holds
    """Return what ``module:name`` is."""
    module, _, name = target.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def answer_of(value: Any, fields: bool) -> str | None:  # noqa: ANN401 - any object
    """Return a value as text that equal values have in common; None of what is no data.

    With ``fields``, objects of data classes are their public fields.
    """
    try:
        return json.dumps(_canonical(Encoder(_Answered(fields)).encode(value)))
    except WireError:
        return None


def raised(error: BaseException) -> str:
    """Return the answer of a script that raises."""
    return f"raises {type(error).__name__}"


def parts(wire: Wire) -> list[Wire]:
    """Return the values that a container holds; none of any other value."""
    if not isinstance(wire, list) or wire[0] not in (*_SEQUENCES, *_PAIRS):
        return []
    if wire[0] in _SEQUENCES:
        return wire[1:]
    return [part for item in wire[1:] for part in (item if _is_pair(wire, item) else [item])]


def with_parts(wire: Wire, new: list[Wire]) -> Wire:
    """Return a container with other values in the places of ``parts``."""
    if not new:
        return wire
    if wire[0] in _SEQUENCES:
        return [wire[0], *new]
    left = iter(new)
    return [
        wire[0],
        *([next(left), next(left)] if _is_pair(wire, i) else next(left) for i in wire[1:]),
    ]


def _is_pair(wire: Wire, item: Wire) -> bool:
    return wire[0] != "defaultdict" or item is not wire[-1]


class _Given:
    """Resolves what a script speaks of."""

    def __init__(self, given: list[Any]) -> None:
        self._given = given

    def refer(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        raise WireError("a script is only read")

    def resolve(self, tag: str, body: list[Wire]) -> Any:  # noqa: ANN401 - any object
        if tag == "step":
            return self._given[body[0]]
        if tag == "named":
            return named(body[0])
        raise WireError(f"a script holds an unknown {tag[:20]}")


class _Answered:
    """Says what an answer holds that is no plain data."""

    def __init__(self, fields: bool) -> None:
        self._encoder = Encoder(self)
        self._fields = fields

    def refer(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        encode = self._encoder.encode
        if isinstance(value, type) and value in NAMES:
            return ["standard", NAMES[value]]
        if isinstance(value, enum.Enum):
            return ["enum", value.name]
        if isinstance(value, _LISTED):
            return ["items", *map(encode, itertools.islice(value, _ITEMS))]
        plain: Any = next((kind for kind in (*VALUES, *FILLED) if isinstance(value, kind)), None)
        names = _fields_of(type(value)) if self._fields else ()
        if plain is None and names:
            return ["fields", *([name, encode(getattr(value, name))] for name in names)]
        if plain is None:
            raise WireError("an answer is no data")
        if issubclass(plain, dict):
            return ["base", *([encode(k), encode(v)] for k, v in plain.items(value))]
        if plain in (str, bytes, int, float, complex):
            return ["base", encode(base_value(plain, value))]
        name = plain.__name__ if plain in (set, frozenset) else "base"
        return [name, *map(encode, plain.__iter__(value))]

    def resolve(self, tag: str, body: list[Wire]) -> Any:  # noqa: ANN401 - any object
        raise WireError("an answer is only written")


def _fields_of(kind: Any) -> list[str]:  # noqa: ANN401 - a class
    """Return the public fields of a data class, also of one of the library attrs."""
    names = [*getattr(kind, "__dataclass_fields__", ())]
    names += [field.name for field in getattr(kind, "__attrs_attrs__", ())]
    return sorted(name for name in names if not name.startswith("_"))


def _canonical(wire: Wire) -> Wire:
    """Return a value without the order of sets, and without what floats differ in by rounding."""
    if isinstance(wire, float):
        return float(format(wire, _DIGITS))
    if not isinstance(wire, list):
        return wire
    items = [_canonical(item) for item in wire]
    if items and items[0] in _UNORDERED:
        return [items[0], *sorted(items[1:], key=json.dumps)]
    return items

"""What calls and operators on constants give: pure, short, and capped."""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator

Value = str | bytes | int | float | tuple["Value", ...]
MOST = 300
"""Parts of one expression."""
_LONGEST = 10_000
_WIDTH = re.compile(r"%[^%]*\d|%\(|\{[^{}]*:")


def joined_text(values: Iterator[Value | None]) -> Value | None:
    """Return the parts of an f-string as one text."""
    found = list(values)
    if None in found or len(found) > MOST:
        return None
    return attempted(lambda: "".join(plain(value) for value in found))


def total(left: Value | None, right: Value | None) -> Value | None:
    """Return the sum of two constants of one kind."""
    if left is None or right is None or type(left) is not type(right):
        return None
    made = attempted(lambda: left + right)  # type: ignore[operator]
    return made if not isinstance(made, str | bytes) or len(made) <= _LONGEST else None


def method(owner: Value, name: str, arguments: list[Value | None]) -> Value | None:
    """Return what a method of a constant gives."""
    if None in arguments:
        return None
    first = arguments[0] if arguments else None
    if name == "join" and isinstance(owner, str) and isinstance(first, tuple):
        return attempted(lambda: plain(owner).join(plain(value) for value in first))
    if name == "decode" and isinstance(owner, bytes):
        return owner.decode("utf-8", "replace")
    if name == "encode" and isinstance(owner, str):
        return owner.encode("utf-8", "replace")
    if name in ("lower", "upper", "strip", "title", "removesuffix", "removeprefix"):
        return attempted(lambda: getattr(plain(owner), name)(*map(plain, arguments)))
    if name in ("replace", "format"):
        return attempted(lambda: getattr(plain(owner, unpadded=True), name)(*map(plain, arguments)))
    return None


def of_call(name: str, arguments: list[Value | None]) -> Value | None:
    """Return what a well-known function gives for constants."""
    if not arguments or arguments[0] is None:
        return None
    first = arguments[0]
    decode = _DECODERS.get(name)
    if decode is not None:
        return attempted(lambda: decode(first))
    if name == "codecs.decode" and arguments[1:] in (["rot13"], ["rot_13"]):
        return attempted(lambda: codecs.decode(plain(first), "rot13"))
    if name.endswith("path.join"):
        return attempted(lambda: "/".join(plain(value) for value in arguments if value is not None))
    return None


def plain(value: Value | None, *, unpadded: bool = False) -> str:
    """Return a short text or a number as text.

    Raises:
        ValueError: If it is neither, or too long; or a format that asks for a width.
    """
    text = str(value) if isinstance(value, str | int | float) else ""
    short = 300 if unpadded else _LONGEST
    if isinstance(value, tuple | bytes) or len(text) > short or (unpadded and _WIDTH.search(text)):
        raise ValueError("not a short text")
    return text


def _path(value: Value) -> Value:
    return plain(value)


def _base64(value: Value) -> Value:
    data = value if isinstance(value, bytes) else plain(value).encode()
    return base64.b64decode(data[:_LONGEST])


def _character(value: Value) -> Value:
    if not isinstance(value, int):
        raise TypeError
    return chr(value)


def _bytes(value: Value) -> Value:
    if not isinstance(value, tuple):
        raise TypeError
    return bytes(int(item) for item in value if isinstance(item, int))


_DECODERS: dict[str, Callable[[Value], Value]] = {
    "base64.b64decode": _base64,
    "base64.standard_b64decode": _base64,
    "base64.urlsafe_b64decode": _base64,
    "bytes.fromhex": lambda value: bytes.fromhex(plain(value)),
    "binascii.unhexlify": lambda value: bytes.fromhex(plain(value)),
    "binascii.a2b_base64": _base64,
    "chr": _character,
    "str": _path,
    "bytes": _bytes,
    "pathlib.Path": _path,
    "pathlib.PurePath": _path,
    "os.path.expanduser": _path,
    "os.path.abspath": _path,
}


def _small(value: Value) -> bool:
    return not isinstance(value, str | bytes) or len(value) <= _LONGEST


def attempted(make: Callable[[], object]) -> Value | None:
    """Return what is made, or None if it cannot be or is too long."""
    try:
        made = make()
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        OverflowError,
        LookupError,
        binascii.Error,
    ):
        return None
    ok = isinstance(made, str | bytes | int | float | tuple)
    return made if ok and _small(made) else None  # type: ignore[arg-type, return-value]

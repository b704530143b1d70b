"""Code that is kept in a text of another kind: quoted, numbered, escaped, marked up, encoded."""

import base64
import html
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from codeenv.languages.python.remembering import NAMES, remember

LARGEST_TEXT = 4 * 1024**2
_RUNS = 200
_LEAST = 48
"""Bytes below which nothing decoded is worth a look."""
_MARK = rb"[ \t]*+(?>[+>*|%;!-]++|#++|//++|\d++[ \t]*+[|:.)]?)"
_LINE = rb"\n" + _MARK + rb"[^\n]*+"
_MARKED = re.compile(_LINE + rb"(?:" + _LINE + rb"){3,}")
_MARKS = re.compile(rb"\n" + _MARK + rb"(?: \| ?| ?)")
_TAG = re.compile(rb"<[^<>]*>")
_ESCAPE = re.compile(rb"\\(?:([ntr])|([\"'\\/])|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_WHITE = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}
_LONG = re.compile(rb"(?:\S{60,}+\s{0,2}+)++\S*+")
"""Where something encoded may be: words that long, one after the other."""
_HEX = re.compile(rb"(?:[0-9a-fA-F]{60,}+\s?+)++")
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/_-]{60,}+\r?+\n?+)++[A-Za-z0-9+/_-]*+={0,2}")
_BASE85 = re.compile(rb"[0-9A-Za-z!#$%&()*+\-;<=>?@^_`{|}~]{96,}")
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_FAILS = (ValueError, RecursionError)


@remember(NAMES)
def unwrapped(data: bytes) -> tuple[tuple[str, bytes], ...]:
    """Return what a text holds in other forms: what form, and the text or bytes without it."""
    if len(data) > LARGEST_TEXT:
        return ()
    found = {inner: form for form, inner in _forms(data) if len(inner) >= _LEAST and inner != data}
    return tuple((form, inner) for inner, form in found.items())


def widened(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a text whose letters take two or four bytes as one whose letters take one."""
    nulls = data[:4096].count(0) / max(len(data[:4096]), 1)
    for form in _WIDE[2:] if nulls > 0.7 else _WIDE[:2] if nulls > 0.3 else ():
        text = data.decode(form, "replace")
        if text.count("\ufffd") < len(text) / 20 and "\0" not in text:
            yield form, text.encode("utf-8", "replace")


def _forms(data: bytes) -> Iterator[tuple[str, bytes]]:
    if data.startswith(b"\xef\xbb\xbf"):
        yield "text", data[3:]
    blocks = _MARKED.finditer(b"\n" + data)
    yield "lines", b"".join(_MARKS.sub(b"\n", block[0]) for block in blocks)
    if data.count(b"</") * 4 > data.count(b"\n"):
        yield "markup", html.unescape(_TAG.sub(b"", data).decode("utf-8", "replace")).encode()
    yield "strings", _strings(data)
    for long in islice(_LONG.finditer(data), _RUNS):
        for pattern, decode in _ENCODINGS:
            for run in islice(pattern.finditer(long[0]), _RUNS):
                yield "encoded", _decoded(decode, run[0])


def _strings(data: bytes) -> bytes:
    """Return the texts of a JSON document, or any text without its escapes."""
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            return "\n".join(_texts(json.loads(data))).encode("utf-8", "replace")
        except _FAILS:
            pass
    return _ESCAPE.sub(_plain, data) if data.count(b"\\n") > 4 else b""


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        if value and all(isinstance(each, str) for each in value):
            yield "".join(each if each.endswith("\n") else f"{each}\n" for each in value)
        else:
            for each in value:
                yield from _texts(each)


def _plain(found: re.Match[bytes]) -> bytes:
    white, itself, wide, narrow = found.groups()
    if white:
        return _WHITE[white]
    return itself or chr(int(wide or narrow, 16)).encode("utf-8", "replace")


def _decoded(decode: Callable[[bytes], bytes], run: bytes) -> bytes:
    try:
        return decode(run)
    except _FAILS:
        return b""


def _hexadecimal(run: bytes) -> bytes:
    return bytes.fromhex(run.decode())


def _base64(run: bytes) -> bytes:
    letters = b"".join(run.split()).rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    return base64.b64decode(letters[: len(letters) // 4 * 4] + _rest(letters))


def _rest(letters: bytes) -> bytes:
    rest = letters[len(letters) // 4 * 4 :]
    return rest + b"=" * (4 - len(rest)) if len(rest) > 1 else b""


_ENCODINGS: tuple[tuple[re.Pattern[bytes], Callable[[bytes], bytes]], ...] = (
    (_HEX, _hexadecimal),
    (_BASE64, _base64),
    (_BASE85, base64.b85decode),
    (_BASE85, partial(base64.a85decode, ignorechars=b"")),
)

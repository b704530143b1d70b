"""Code that is kept in a text of another kind: quoted, numbered, escaped, marked up, encoded."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from codeenv.audit.markup import unmarked
from codeenv.languages.python.remembering import NAMES, remember

LARGEST_TEXT = 4 * 1024**2
_RUNS = 200
_LEAST = 48
"""Bytes below which nothing decoded is worth a look."""
_MARK = rb"[ \t]*+(?>[+>*|%;!-]++|\.{3}|#++|//++|\d++[ \t]*+[|:.)]?)"
_LINE = rb"\n" + _MARK + rb"[^\n]*+"
_MARKED = re.compile(_LINE + rb"(?:" + _LINE + rb"){3,}")
_MARKS = re.compile(rb"\n" + _MARK + rb"(?: \| ?| ?)")
_ESCAPE = re.compile(
    rb"\\(?:([ntr])|([\"'\\/])|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3]?[0-7]{1,2}))"
)
_LETTERS = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-3]?[0-7]{2})")
_WHITE = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}
_LONG = re.compile(rb"(?:\S{56,}+(?:[ \t]?+\r?+\n[ \t]*+|\s{0,2}+))++\S*+")
"""Where something encoded may be: words that long, one after the other."""
_HEX = re.compile(rb"(?:[0-9a-fA-F]{60,}+\s?+[ \t]*+)++")
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/_-]{60,}+\r?+\n?+[ \t]*+)++[A-Za-z0-9+/_-]*+={0,2}")
_BEGUN85 = re.compile(rb"<~|stream\r?\n")
_LETTERS85 = rb"[0-9A-Za-z!#$%&()*+\-;<=>?@^_`{|}~]"
_BASE85 = re.compile(
    rb"(?:" + _LETTERS85 + rb"{64,}+\r?+\n)++" + _LETTERS85 + rb"*+|" + _LETTERS85 + rb"{96,}+"
)
_PATCH = re.compile(rb"\n(?:literal|delta) \d+\r?\n((?:[A-Za-z]\S{5,65}\r?(?:\n|$))++)")
_BASE32 = re.compile(rb"(?:[A-Z2-7]{56,}+\r?+\n?+)++[A-Z2-7]*+={0,6}")
_UU = re.compile(rb"(?:M[ -`]{60}\r?\n)++(?:[ -`]{1,61}\r?\n)?")
_NUMBERS = re.compile(rb"(?:(?:0[xX][0-9a-fA-F]{1,2}|\d{1,3}),\s{0,20}+){64,}+")
_NUMBER = re.compile(rb"0[xX]([0-9a-fA-F]+)|(\d+)")
_LETTER = rb"[\t\n\r -~]"
_SHORT = 8
_SIMPLER = bytes(
    0 if n == 0 else 97 if 32 <= n < 127 or n in (9, 10, 13) else 1 for n in range(256)
)
"""Makes every letter the same one, and leaves zeros alone."""
_WIDE = (
    ("two bytes a letter", 2, 0, re.compile(rb"(?:" + _LETTER + rb"\0){8,}+")),
    ("two bytes a letter", 2, 1, re.compile(rb"(?:\0" + _LETTER + rb"){8,}+")),
    ("four bytes a letter", 4, 0, re.compile(rb"(?:" + _LETTER + rb"\0\0\0){8,}+")),
    ("four bytes a letter", 4, 3, re.compile(rb"(?:\0\0\0" + _LETTER + rb"){8,}+")),
    ("eight bytes a letter", 8, 0, re.compile(rb"(?:" + _LETTER + rb"\0{7}){8,}+")),
)
_FAILS = (ValueError, RecursionError)


@remember(NAMES)
def unwrapped(data: bytes) -> tuple[tuple[str, bytes], ...]:
    """Return what a text holds in other forms: what form, and the text or bytes without it."""
    if len(data) > LARGEST_TEXT:
        return ()
    found = {inner: form for form, inner in _forms(data) if len(inner) >= _LEAST and inner != data}
    return tuple((form, inner) for inner, form in found.items())


def widened(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the texts whose letters take two or four bytes as ones whose letters take one."""
    simpler = data.translate(_SIMPLER)
    for form, width, place, pattern in _WIDE:
        letter = bytes(place) + b"a" + bytes(width - place - 1)
        if letter * _SHORT not in simpler:
            continue
        text = b"\n".join(run[place::width] for run in pattern.findall(data))
        if len(text) >= _LEAST:
            yield form, text


def _forms(data: bytes) -> Iterator[tuple[str, bytes]]:
    if data.startswith(b"\xef\xbb\xbf"):
        yield "text", data[3:]
    blocks = _MARKED.finditer(b"\n" + data)
    yield "lines", b"".join(_MARKS.sub(b"\n", block[0]) for block in blocks)
    yield from unmarked(data)
    yield "strings", _strings(data)
    for run in islice(_UU.finditer(data), _RUNS):
        yield "encoded", _decoded(_uu, run[0])
    for run in islice(_NUMBERS.finditer(data), _RUNS):
        yield "encoded", _decoded(_bytes, run[0])
    for piece in data.split(b"~>", _RUNS)[:-1]:
        if begun := list(_BEGUN85.finditer(piece)):
            yield "encoded", _decoded(_adobe85, piece[begun[-1].end() :])
    for run in islice(_PATCH.finditer(data) if b"\nliteral " in data else (), _RUNS):
        yield "encoded", _decoded(_patch, run[1])
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
    return _ESCAPE.sub(_plain, data) if _is_escaped(data) else b""


def _is_escaped(data: bytes) -> bool:
    """Return whether a text has many escapes of letters; a program has some."""
    if data.count(b"\\n") > 4:
        return True
    letters = islice(_LETTERS.finditer(data), _LEAST) if b"\\" in data else ()
    return sum(1 for _ in letters) == _LEAST


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
    white, itself, wide, narrow, octal = found.groups()
    if white:
        return _WHITE[white]
    if wide:
        return chr(int(wide, 16)).encode("utf-8", "replace")
    return itself or bytes([int(narrow, 16) if narrow else int(octal, 8)])


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


def _uu(run: bytes) -> bytes:
    return b"".join(map(binascii.a2b_uu, run.splitlines()))


def _bytes(run: bytes) -> bytes:
    """Return bytes that are written as numbers, as in the source of a program."""
    return bytes(int(x, 16) if x else int(n) for x, n in _NUMBER.findall(run))


def _base32(run: bytes) -> bytes:
    letters = b"".join(run.split()).rstrip(b"=")
    return base64.b32decode(letters[: len(letters) // 8 * 8])


def _base85(run: bytes) -> bytes:
    return base64.b85decode(b"".join(run.split()))


def _adobe85(run: bytes) -> bytes:
    return base64.a85decode(b"".join(run.split()))


def _patch(run: bytes) -> bytes:
    """Return what a patch of Git holds of a binary file: each line begins with its length."""
    out = b""
    for line in run.split():
        size = line[0] - (64 if line[0] < 97 else 70)
        out += base64.b85decode(line[1:])[:size]
    return out


def _rest(letters: bytes) -> bytes:
    rest = letters[len(letters) // 4 * 4 :]
    return rest + b"=" * (4 - len(rest)) if len(rest) > 1 else b""


_ENCODINGS: tuple[tuple[re.Pattern[bytes], Callable[[bytes], bytes]], ...] = (
    (_HEX, _hexadecimal),
    (_BASE32, _base32),
    (_BASE64, _base64),
    (_BASE85, _base85),
    (_BASE85, partial(base64.a85decode, ignorechars=b"\r\n")),
)

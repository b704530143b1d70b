"""Texts in which something else stands between the letters of what they show."""

import html
import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote_to_bytes

_FEW = 20
_JOINTS = 2
_ENTITY = re.compile(rb"&(?:\w{2,8}|#\d{1,6}|#[xX][0-9a-fA-F]{1,5});")
_PERCENT = re.compile(rb"%[0-9a-fA-F]{2}")
_COLOUR = re.compile(rb"\x1b(?:\[[0-9;:?]*+[ -/]*+[@-~]|[()][0-9A-B]|\][^\x07\x1b\n]*+\x07)")
_TAG = re.compile(rb"<[^<>]*>")
_LATEX = re.compile(rb"\\PYG\{[^{}\n]*\}|\\PYGZus\{\}|\\(?=_)|\{\\_\}")
_SHOWN = re.compile(
    rb"\[((?:[^\[\]()\n]|\((?:\\.|[^()\\])*+\))*+)\][ \r\n]*+TJ"
    rb"|\(((?:\\.|[^()\\])*+)\)[ \r\n]*+(?:Tj|')"
)
_PIECE = re.compile(rb"\(((?:\\.|[^()\\])*+)\)([ \r\n]*+-?\d*)")
_WIDE_GAP = 200
_HEX = rb"(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{4}|[0-9a-fA-F]{2})(?![0-9a-fA-F])"
_DUMPED = re.compile(
    rb"^[ \t]*+[0-9a-fA-F]{4,16}:?[ \t]++(" + _HEX + rb"(?:[ \t]{1,2}" + _HEX + rb"){3,15}+)",
    re.MULTILINE,
)
_ENDINGS = tuple(q + e for q in (b'"', b"'") for e in (b"\n", b"\r", b" +", b"+", b" \\", b"\\\n"))
_JOINT = re.compile(rb"([\"'])[ \t]*+(?:\+[ \t]*+)?\\?\r?\n[ \t]*+(?:[.+][ \t]*+)?[bB]?\1")
"""Where a string of a program ends only to go on in the next line."""


def unmarked(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what a text shows without its marks, and which marks these are."""
    if data.count(b"</") * 4 > data.count(b"\n") or _has(_ENTITY, data):
        yield "markup", html.unescape(_TAG.sub(b"", data).decode("utf-8", "replace")).encode()
        if b"=" in data and _has(_ENTITY, data):
            yield "markup", html.unescape(data.decode("utf-8", "replace")).encode()
    if b"%" in data and _has(_PERCENT, data):
        spaced = data if b" " in data.strip() else data.replace(b"+", b" ")
        yield "percent", unquote_to_bytes(spaced)
    if b"\x1b" in data:
        yield "colours", _COLOUR.sub(b"", data)
    if b"\\PYG" in data or data.count(b"\\_") > 2:
        yield "latex", _LATEX.sub(lambda m: b"_" if b"us" in m[0] or b"_" in m[0] else b"", data)
    if b"Tj" in data or b"TJ" in data:
        yield "page", b"\n".join(_line(found) for found in _SHOWN.finditer(data))
    if b"\n00" in data and (found := _DUMPED.findall(data)):
        dumped = b"".join(b"".join(found).split())
        yield "dump", bytes.fromhex(dumped[: len(dumped) // 2 * 2].decode())
    if sum(map(data.count, _ENDINGS)) > _JOINTS:
        parts = _JOINT.sub(b"\0", data).split(b"\n")
        yield "joined", b"\n".join(p.replace(b"\0", b"") for p in parts if p.count(b"\0") > _JOINTS)


def _has(pattern: re.Pattern[bytes], data: bytes) -> bool:
    """Return whether a text has more than a few of something."""
    return sum(1 for _ in islice(pattern.finditer(data), _FEW)) == _FEW


def _line(found: re.Match[bytes]) -> bytes:
    """Return what an operator of a page shows: a text, or pieces with gaps between them."""
    if found[2] is not None:
        return found[2].replace(b"\\(", b"(").replace(b"\\)", b")")
    out = b""
    for text, gap in _PIECE.findall(found[1]):
        far = gap.strip()
        wide = far.startswith(b"-") and far[1:].isdigit() and int(far[1:]) >= _WIDE_GAP
        out += text.replace(b"\\(", b"(").replace(b"\\)", b")") + (b" " if wide else b"")
    return out

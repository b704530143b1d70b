"""The deleted code is found also where something else stands between its lines, words, letters."""

import ast
import base64
import dis
import html
import io
import json
import pickle
import re
import sqlite3
import tokenize
import urllib.parse
import zlib
from contextlib import redirect_stdout

import pytest

from codeenv.audit import audit_report, audit_task
from codeenv.audit.decode import views
from codeenv.audit.fingerprint import words_in_order
from codeenv.audit.order import lines_held, squeezed, telling_lines, words_held
from tests.toytask import SOURCE, plant

TEXT = SOURCE["src/notes/text.py"].data.decode()
CODE = TEXT[TEXT.index("def slug") : TEXT.index("def wrap")].rstrip()
LINES = CODE.splitlines()
TOKENS = [t.string for t in tokenize.generate_tokens(io.StringIO(CODE).readline)]
PARTS = re.findall(r"\w+|\s+|[^\w\s]", CODE)


def _disassembled() -> str:
    with redirect_stdout(io.StringIO()) as out:
        dis.dis(compile(TEXT, "text.py", "exec"))
    return out.getvalue()


def _dumped(width: int, text: bytes = TEXT.encode()) -> str:
    rows = (text[n : n + 16] for n in range(0, len(text), 16))
    return "\n".join(
        f"{16 * n:08x}: {row.hex(' ', width)}  {row.decode().replace(chr(10), '.')}"
        for n, row in enumerate(rows)
    )


def _page(show: str) -> bytes:
    head = b"%PDF-1.5\n1 0 obj<</Filter/FlateDecode>>stream\n"
    return head + zlib.compress(show.encode()) + b"\nendstream\n%%EOF"


def _shown(text: str) -> str:
    return re.sub(r"([\\()])", r"\\\1", text)


def _kerned(line: str) -> str:
    pieces = "".join(f"({_shown(line[n : n + 3])})-20" for n in range(0, len(line), 3))
    return f"[{pieces}] TJ T*"


def _wide_table() -> bytes:
    base = sqlite3.connect(":memory:")
    base.execute("pragma encoding='UTF-16'")
    base.execute("create table files (line text)")
    base.executemany("insert into files values (?)", [(line,) for line in LINES])
    base.commit()
    return base.serialize()


def _escaped(form: str, size: int = 16) -> str:
    letters = TEXT.encode()
    rows = (letters[n : n + size] for n in range(0, len(letters), size))
    return "\n".join(f'    "{"".join(form.format(n) for n in row)}"' for row in rows)


def _patched(data: bytes) -> bytes:
    rows = (data[n : n + 52] for n in range(0, len(data), 52))
    body = b"".join(
        bytes([len(r) + (64 if len(r) < 27 else 70)]) + base64.b85encode(r, pad=True) + b"\n"
        for r in rows
    )
    return b"GIT binary patch\nliteral %d\n" % len(data) + body + b"\n"


ASCII85 = b"%PDF-1.4\nstream\n" + base64.a85encode(zlib.compress(TEXT.encode()), adobe=True)[2:]
FORMS: dict[str, str | bytes] = {
    "blame": "\n".join(f"^3fa4c1d (Jane 2024-01-01 {n:3}) {x}" for n, x in enumerate(LINES)),
    "a search": "\n".join(f"src/notes/text.py:{n}:{x}" for n, x in enumerate(LINES)),
    "a profile": "\n".join(f"{n:6}  12   3.4  5.6 %  {x}" for n, x in enumerate(LINES)),
    "tracebacks": "\n".join(f'  File "text.py", line {n}\n    {x}' for n, x in enumerate(LINES)),
    "two columns": "\n".join(f"{x:<90} | {x.upper()}" for x in LINES),
    "a word difference": "\n".join(f"{{+{x}+}}" for x in LINES),
    "backwards": "\n".join(reversed(LINES)),
    "a list of lines": "\n".join(f"  - {json.dumps(x)}" for x in LINES),
    "rows of two": json.dumps([["+", x] for x in LINES]),
    "a log of edits": "\n".join(f"[7] {json.dumps({'text': x})}" for x in LINES),
    "a translation": "\n".join(f'msgid "{n}"\nmsgstr {json.dumps(x)}' for n, x in enumerate(LINES)),
    "a program that writes it": "\n".join(f"out.add({json.dumps(x)});" for x in LINES),
    "a session": "\n".join(f"   ...: {x}" for x in LINES),
    "an old pickle": pickle.dumps(LINES, 0),
    "a table of wide letters": _wide_table(),
    "a syntax tree": ast.dump(ast.parse(CODE)),
    "tokens": json.dumps([[n, token] for n, token in enumerate(TOKENS)]),
    "a word difference, by word": re.sub(r"(\w+)", r"{+\1+}", CODE),
    "bytecode in words": _disassembled(),
    "colours": re.sub(r"(\w+|[^\w\s])", "\x1b[1;34m\\1\x1b[0m", CODE),
    "a web page of numbers": "".join(f"&#{ord(c)};" for c in CODE),
    "an attribute": f'<f text="{html.escape(CODE)}"/>'.replace("\n", "&#10;"),
    "an address": urllib.parse.quote(CODE),
    "a form": urllib.parse.urlencode({"code": CODE}),
    "a typeset listing": re.sub(r"(\w+)", r"\\PYG{n}{\1}", CODE).replace("_", "\\PYGZus{}"),
    "a page": _page("\n".join(f"({_shown(x)}) Tj T*" for x in LINES)),
    "a page with gaps": _page("\n".join(map(_kerned, LINES))),
    "a page of words": _page("\n".join(f"({_shown(x)}) Tj" for x in PARTS if x.strip())),
    "a page in letters": ASCII85,
    "a dump": _dumped(1),
    "a dump by two": _dumped(-2),
    "escapes, a few a line": f"x = (\n{_escaped(chr(92) + 'x{:02x}')}\n)",
    "escapes with three digits": _escaped("\\{:03o}", 4000),
    "packed escapes": "".join(f"\\x{n:02x}" for n in zlib.compress(TEXT.encode())),
    "a binary patch": _patched(zlib.compress(TEXT.encode())),
    "base64 with an indent": re.sub("^", "\t", base64.encodebytes(TEXT.encode()).decode(), flags=8),
    "base85 in lines": re.sub("(.{76})", r"\1\n", base64.b85encode(TEXT.encode()).decode()),
    "base64 in data": b"\0\1\2" + base64.b64encode(TEXT.encode()) + b"\0\xff",
    "letters as numbers": b"".join(ord(c).to_bytes(8, "little") for c in TEXT),
    "names linked together": b"\x7fELF" + bytes(99) + b"corocandidatesclinesurviving_piecestext",
}


@pytest.mark.parametrize("form", FORMS)
def test_the_deleted_code_is_found_among(form):
    made = FORMS[form]
    data = made.encode() if isinstance(made, str) else made
    leaks = audit_task(plant("docs/thing", data))

    assert [leak for leak in leaks if leak.kind != "opaque"], form


@pytest.mark.parametrize(
    "text",
    [
        "`slug` strips each piece, lowers it, splits the text, and joins the surviving_pieces.",
        "surviving_pieces candidates piece text title joiner",
        "\n".join(f"{name}: see {name}" for name in ("joiner", "title", "EmptyTitle", "text")),
        "candidates = [piece for piece in text.split()]\nsurviving_pieces = candidates\n",
    ],
)
def test_prose_and_a_line_alike_are_only_told(text):
    report = audit_report(plant("docs/thing", text.encode()))

    assert report.leaks == ()
    assert {warning.kind for warning in report.warnings} <= {"mention"}


def test_lines_that_are_far_apart_are_no_copy():
    lines = telling_lines(CODE)
    scattered = "\n".join(x + "\n# something else\n" * 2_000 for x in LINES)
    assert lines_held(lines, squeezed(CODE.encode())) == 1.0
    assert lines_held(lines, squeezed(scattered.encode())) < 0.7


def test_words_in_another_order_are_no_copy():
    words = tuple(word.encode() for word in re.findall(r"\w+", CODE))
    assert words_held(words, CODE.encode()) == 1.0
    assert words_held(words, b" ".join(sorted(words) * 9)) < 0.3


def test_a_name_that_the_form_uses_too_hides_no_order():
    code = CODE.replace("piece", "value").replace("text", "args")
    words = words_in_order(code[code.index("candidates") :])
    assert words_held(words, ast.dump(ast.parse(code)).encode()) > 0.7


@pytest.mark.parametrize(
    "text",
    [
        CODE.encode() * 4_000,
        b"!" * 200_000 + b"~>" * 300,
        b"<~" * 100_000 + b"~>",
        b"(" * 200_000 + b"Tj TJ",
        b"[(" * 100_000 + b") TJ",
        b"\n00" * 100_000,
        b"\n0000: " + b"aa " * 90_000,
        b'"\n"' * 100_000,
        b"&#1" * 100_000,
        b"\x1b[" * 100_000,
        b"\x1b]" * 100_000,
        b"\nliteral 1\n" + b"A" * 300_000,
        b"\\PYG{" * 50_000,
        b"candidates surviving_pieces piece joiner text split strip lower " * 5_000,
    ],
    ids=lambda text: repr(text[:9]),
)
def test_no_text_of_these_kinds_holds_the_audit_up(text):
    assert len(list(views("thing", text))) < 1000
    assert len(audit_task(plant("docs/thing", text))) < 10

"""Whatever form the deleted code is kept in, and under whatever name, the audit finds it."""

import base64
import bz2
import codecs
import gzip
import html
import io
import json
import lzma
import marshal
import pickle
import py_compile
import random
import re
import sqlite3
import subprocess
import tarfile
import zipfile
import zlib
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from codeenv.audit import audit_task
from codeenv.audit.decode import views
from tests.audit.packed import LZ4, ZSTD, cpio, damaged_zip, debian, lzip
from tests.toytask import SOURCE, plant

ORIGINAL = SOURCE["src/notes/text.py"].data
TEXT = ORIGINAL.decode()
LINES = TEXT.splitlines()


def _zip(data: bytes, *, method: int = zipfile.ZIP_DEFLATED, before: bytes = b"") -> bytes:
    buffer = io.BytesIO(before)
    buffer.seek(0, io.SEEK_END)
    with zipfile.ZipFile(buffer, "a", method) as archive:
        archive.writestr("notes/text.py", data)
    return buffer.getvalue()


def _tar(data: bytes, form: int = tarfile.USTAR_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        info = tarfile.TarInfo("notes-1.0/src/notes/text.py")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _old_tar(data: bytes) -> bytes:
    """Return an archive of the time before there was a magic number."""
    packed = bytearray(_tar(data))
    packed[257:265] = bytes(8)
    packed[148:156] = b" " * 8
    packed[148:156] = b"%06o\0 " % sum(packed[:512])
    return bytes(packed)


def _bytecode(mode: py_compile.PycInvalidationMode) -> Callable[[Path], bytes]:
    def compiled(folder: Path) -> bytes:
        (folder / "text.py").write_bytes(ORIGINAL)
        made = py_compile.compile(
            str(folder / "text.py"), str(folder / "x"), invalidation_mode=mode
        )
        return Path(str(made)).read_bytes()

    return compiled


def _table(folder: Path) -> bytes:
    with sqlite3.connect(folder / "base") as base:
        base.execute("create table files (path text, data blob)")
        code = marshal.dumps(compile(ORIGINAL, "text.py", "exec"))
        base.execute("insert into files values (?, ?)", ("notes/text.data.ff", code))
    base.close()
    return (folder / "base").read_bytes()


def _sources_in_table(folder: Path) -> bytes:
    with sqlite3.connect(folder / "base") as base:
        base.execute("create virtual table lines using fts4(line)")
        base.executemany("insert into lines values (?)", [(line,) for line in LINES])
    base.close()
    return (folder / "base").read_bytes()


def _git(folder: Path, *arguments: str) -> None:
    config = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *config, *arguments], cwd=folder, check=True, capture_output=True)


def _repository(folder: Path) -> Path:
    _git(folder, "init", "-q")
    (folder / "text.py").write_bytes(ORIGINAL)
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "x")
    return folder


def _loose_object(folder: Path) -> bytes:
    objects = _repository(folder) / ".git/objects"
    return max(
        (p for p in objects.rglob("*") if p.is_file()), key=lambda p: p.stat().st_size
    ).read_bytes()


def _pack(folder: Path) -> bytes:
    _git(_repository(folder), "gc", "-q")
    return next((folder / ".git/objects/pack").glob("*.pack")).read_bytes()


def _bundle(folder: Path) -> bytes:
    _git(_repository(folder), "bundle", "create", "-q", "b", "HEAD")
    return (folder / "b").read_bytes()


def _coverage_report() -> bytes:
    token = re.compile(r"(\w+|[^\w\s])")
    rows = (token.sub(lambda m: f'<span class="t">{html.escape(m[0])}</span>', x) for x in LINES)
    return "".join(
        f'<p class="run"><span class="n">{n}</span>{r}</p>\n' for n, r in enumerate(rows)
    ).encode()


def _notebook() -> bytes:
    cell = {"cell_type": "code", "source": [line + "\n" for line in LINES], "outputs": []}
    return json.dumps({"cells": [cell]}, indent=1).encode()


def _swap_file() -> bytes:
    return (
        b"b0VIM 8.2\0"
        + bytes(4000)
        + b"\0".join(line.encode() for line in reversed(LINES))
        + bytes(90)
    )


def _generated_c() -> bytes:
    comments = "\n".join(f" * {line}             # <<<<<<<<<<<<<<" for line in LINES)
    return f'/* "notes/text.py":1\n{comments}\n */\nstatic int x = 1;\n'.encode()


KINDS: dict[str, bytes | Callable[[Path], bytes]] = {
    "a copy": ORIGINAL,
    "other line ends": ORIGINAL.replace(b"\n", b"\r\n"),
    "a byte order mark": b"\xef\xbb\xbf" + ORIGINAL,
    "two bytes a letter": TEXT.encode("utf-16"),
    "two bytes, the other way round": TEXT.encode("utf-16-be"),
    "four bytes a letter": TEXT.encode("utf-32"),
    "numbered lines": "\n".join(f"{n:4} | {x}" for n, x in enumerate(LINES)).encode(),
    "a diff": "\n".join(f"+{x}" for x in LINES).encode(),
    "a deletion": "\n".join(f"-{x}" for x in LINES).encode(),
    "a quotation": "\n".join(f"> {x}" for x in LINES).encode(),
    "comments": "\n".join(f"# {x}" for x in LINES).encode(),
    "a code block": b".. code::\n\n" + "\n".join(f"    {x}" for x in LINES).encode(),
    "a web page": f"<pre>{html.escape(TEXT)}</pre>".encode(),
    "a coverage report": _coverage_report(),
    "a notebook": _notebook(),
    "a source map": json.dumps({"version": 3, "sourcesContent": [TEXT]}).encode(),
    "a string": repr(TEXT).encode(),
    "base64": base64.b64encode(ORIGINAL),
    "base64 in lines": base64.encodebytes(ORIGINAL),
    "base64 for addresses": base64.urlsafe_b64encode(ORIGINAL),
    "base85": base64.b85encode(ORIGINAL),
    "hexadecimal": ORIGINAL.hex().encode(),
    "packed in text": json.dumps(
        {"z": base64.b64encode(zlib.compress(ORIGINAL)).decode()}
    ).encode(),
    "zip": _zip(ORIGINAL),
    "zip, stored": _zip(ORIGINAL, method=zipfile.ZIP_STORED),
    "zip behind a script": _zip(ORIGINAL, before=b"#!/usr/bin/env python3\n"),
    "tar": _tar(ORIGINAL),
    "tar, GNU": _tar(ORIGINAL, tarfile.GNU_FORMAT),
    "tar, old": _old_tar(ORIGINAL),
    "gzip": gzip.compress(ORIGINAL),
    "gzip in two parts": gzip.compress(b"") + gzip.compress(ORIGINAL),
    "bzip2": bz2.compress(ORIGINAL),
    "xz": lzma.compress(ORIGINAL),
    "lzma": lzma.compress(ORIGINAL, lzma.FORMAT_ALONE),
    "zlib": zlib.compress(ORIGINAL),
    "zlib, fast": zlib.compress(ORIGINAL, 1),
    "deflate in a container": b"HEAD" * 9 + zlib.compress(ORIGINAL) + b"tail",
    "tar.gz": gzip.compress(_tar(ORIGINAL)),
    "an archive in an archive in an archive": _zip(gzip.compress(_tar(ORIGINAL))),
    "bytecode": _bytecode(py_compile.PycInvalidationMode.TIMESTAMP),
    "bytecode by hash": _bytecode(py_compile.PycInvalidationMode.UNCHECKED_HASH),
    "a pickle of lines": pickle.dumps({"lines": LINES}),
    "a pickle of a text": pickle.dumps({"text": TEXT}),
    "a table of code": _table,
    "a table of lines": _sources_in_table,
    "a git object": _loose_object,
    "a git pack": _pack,
    "a git bundle": _bundle,
    "an editor's swap file": _swap_file(),
    "generated C": _generated_c(),
    "base32": base64.b32encode(ORIGINAL),
    "uuencode": codecs.encode(ORIGINAL, "uu"),
    "numbers in a program": b"char x[] = {" + b", ".join(b"0x%02x" % n for n in ORIGINAL) + b"};",
    "decimal numbers": str(list(ORIGINAL)).encode(),
    "zstd": ZSTD,
    "zstd in a table": b"\0\1HEAD\0" * 9 + ZSTD + b"\0tail",
    "lz4": LZ4,
    "lzip": lzip(ORIGINAL),
    "deflate alone": zlib.compress(ORIGINAL)[2:-4],
    "a Debian package": debian(lzma.compress(_tar(ORIGINAL))),
    "an RPM package": b"\xed\xab\xee\xdb" + bytes(92) + gzip.compress(cpio(ORIGINAL)),
    "gzip, cut off": gzip.compress(ORIGINAL + random.Random(0).randbytes(20_000))[:9_000],
    "gzip, cut in blocks": b"".join(
        gzip.compress(ORIGINAL[n : n + 100]) for n in range(0, len(ORIGINAL), 100)
    ),
    "xz in a container": bytes(99) + lzma.compress(ORIGINAL) + bytes(99),
    "zip, damaged": damaged_zip(ORIGINAL),
    "zip in a cache entry": bytes(9) + _zip(ORIGINAL) + bytes(70_000),
    "an array of letters": array("u", TEXT).tobytes() + bytes(4_000),
    "the end of a large text": b"word " * 1_000_000 + ORIGINAL,
    "a compiled module": b"\x7fELF" + bytes(500) + _generated_c().replace(b"\n", b"\0"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_deleted_code_is_found_as(kind, tmp_path):
    made = KINDS[kind]
    data = made(tmp_path) if callable(made) else made
    leaks = audit_task(plant("docs/thing", data))

    assert [k for k in leaks if k.path.startswith("docs/thing") and k.kind != "opaque"], kind


@pytest.mark.parametrize(
    "text",
    [
        b"\n".join([b"-" * 20_000] * 3) + b"\nx",
        b"\n".join([b" " * 20_000 + b"1"] * 3) + b"\nx",
        b"1" * 200_000,
        (b"a" * 61 + b"\n") * 5_000 + b"!",
        b"\\u00" * 50_000,
        b"[" * 200_000,
        b"<" * 200_000,
        b"<" + b"</a" * 60_000,
        b"\x78\x9c" * 100_000,
        b"\0\x1f\x8b\x08" * 10_000,
        (zlib.compress(b"x" * 31) + b"\0") * 100_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_no_text_holds_the_audit_up(text):
    assert len(list(views("thing", text))) < 1000

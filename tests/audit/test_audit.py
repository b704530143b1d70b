import bz2
import gzip
import io
import lzma
import marshal
import pickle
import sqlite3
import tarfile
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from codeenv.audit import audit_report, audit_task
from codeenv.audit.models import Leak
from codeenv.materialise.git import git_folder, without_git
from codeenv.materialise.task import with_git
from codeenv.sandbox.image import Image, Layer
from codeenv.tree import Entry, Tree
from tests.toytask import SOURCE, make_task, plant

TASK = make_task()
ORIGINAL = SOURCE["src/notes/text.py"].data
RENAMED = b"""
def file_name(title, *, glue="-"):
    found = [part.strip("!?,.").lower() for part in title.split()]
    kept = [part for part in found if part]
    if not kept:
        raise EmptyTitle("a title needs at least one word")
    return glue.join(kept)
"""


def zipped(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes/text.py", data)
    return buffer.getvalue()


def tarred(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("notes-1.0/src/notes/text.py")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def table(tmp_path: Path, data: bytes) -> bytes:
    file = tmp_path / "cache.db"
    with sqlite3.connect(file) as base:
        base.execute("create table files (path text, data blob)")
        base.execute("insert into files values (?, ?)", ("notes/text.data.ff", data))
    base.close()
    return file.read_bytes()


@pytest.mark.parametrize("mode", ["remove", "stub"])
@pytest.mark.parametrize("level", ["L1", "L3", "L4", "L5"])
def test_a_good_task_has_no_leak(mode, level):
    assert audit_task(make_task(mode=mode, level=level)) == ()


def test_what_stays_in_a_type_stub_is_no_leak():
    line = "(first: int, second: int, third: int, fourth: int, fifth: int) -> dict[str, int]: ...\n"
    stub = Entry(f"def slug{line}def wrap{line}def other{line}".encode())
    assert audit_task(make_task(Tree({**SOURCE, "src/notes/text.pyi": stub}))) == ()


@pytest.mark.parametrize(
    "path",
    [
        "docs/old_text.py",
        "examples/slugs.txt",
        "CHANGES.rst",
        "src/notes/_compat.py",
        "debian/patches/fix.patch",
    ],
)
def test_a_plain_copy_is_found(path):
    assert {leak.path for leak in audit_task(plant(path, ORIGINAL))} == {path}


def test_a_reformatted_and_renamed_copy_is_found():
    (leak,) = audit_task(plant("examples/names.py", RENAMED))
    assert leak.kind == "twin"
    assert "file_name" in leak.detail


@pytest.mark.parametrize(
    "pack",
    [
        zipped,
        tarred,
        gzip.compress,
        bz2.compress,
        lzma.compress,
        zlib.compress,
        lambda data: gzip.compress(tarred(data)),
        lambda data: zipped(gzip.compress(tarred(data))),
    ],
    ids=["zip", "tar", "gz", "bz2", "xz", "zlib", "tar.gz", "nested"],
)
def test_a_packed_copy_is_found(pack):
    leaks = audit_task(plant("tests/data/thing.bin", pack(ORIGINAL)))
    assert any(leak.path.startswith("tests/data/thing.bin!") for leak in leaks)


def test_names_in_bytecode_tables_and_pickles_are_found(tmp_path):
    code = marshal.dumps(compile(ORIGINAL, "text.py", "exec"))
    blobs = {
        "code": b"\xa7\r\r\n" + b"\0" * 12 + code,
        "table": table(tmp_path, code),
        "pickle": pickle.dumps({"lines": ORIGINAL.splitlines()}),
    }
    for name, data in blobs.items():
        leaks = audit_task(plant(f"tests/data/{name}.bin", data))
        assert "names" in {leak.kind for leak in leaks}, name


@pytest.mark.parametrize(
    "path",
    [
        "src/notes/__pycache__/text.cpython-313.pyc",
        ".mypy_cache/3.13/cache.0.db",
        "build/lib/notes/other.py",
        "notes.egg-info/SOURCES.txt",
        "src/notes/text.py.orig",
    ],
)
def test_by_products_are_leaks_whatever_they_hold(path):
    assert ("by-product", path) in {(k.kind, k.path) for k in audit_task(plant(path, b""))}


def test_a_second_commit_or_a_loose_object_is_found():
    other = git_folder(SOURCE)
    extra = {p: e for p, e in other.items() if p.startswith(".git/objects")}
    loose = {".git/objects/ab/cdef": Entry(zlib.compress(b"blob 1\0x"))}
    for planted in (extra, loose, {".git/ORIG_HEAD": Entry(b"0" * 40)}):
        task = replace(TASK, workspace=Tree({**TASK.workspace, **planted}))
        assert {leak.kind for leak in audit_task(task)} == {"git"}


def test_another_tree_than_the_pinned_one_is_found():
    files = Tree({**without_git(TASK.workspace), "note.txt": Entry(b"hello")})
    leaks = audit_task(replace(TASK, workspace=with_git(files)))
    assert [leak.kind for leak in leaks] == ["tree"]


def test_a_copy_of_hidden_tests_is_found():
    leaks = audit_task(plant("docs/old_tests.txt", SOURCE["tests/test_text.py"].data))
    assert {leak.kind for leak in leaks} == {"hidden_test"}


HIDDEN_NAME = "test_slug_joins_the_words"
VISIBLE_NAME = "test_wrap_breaks_lines"


@pytest.mark.parametrize(
    "path",
    [
        "tests/snapshots/test_text/{}/0.json",
        "tests/test_text/{}.yml",
        "tests/test_text/{}_a_.yml",
        "tests/test_text/TestText_{}.csv",
        "tests/cassettes/test_text/{}.yaml",
        "other/__snapshots__/{}.1.svg",
    ],
)
def test_a_snapshot_that_is_named_after_a_hidden_test_is_found(path):
    (leak,) = audit_task(plant(path.format(HIDDEN_NAME), b"a-b"))
    assert leak == Leak(
        "hidden_test", path.format(HIDDEN_NAME), f"recorded for the hidden test {HIDDEN_NAME}"
    )
    assert audit_task(plant(path.format(VISIBLE_NAME), b"a b")) == ()


@pytest.mark.parametrize("title", ["{}", "{}.1", "{}[a]", "TestText.{}[a].2"])
def test_a_snapshot_file_with_a_section_of_a_hidden_test_is_found(title):
    path = "tests/__snapshots__/test_text.ambr"
    for name, found in ((HIDDEN_NAME, {path}), (VISIBLE_NAME, set())):
        text = f"# name: {title.format(name)}\n  '{HIDDEN_NAME}'\n# ---\n"
        assert {leak.path for leak in audit_task(plant(path, text.encode()))} == found


def test_a_record_that_speaks_of_a_hidden_test_is_found():
    text = f'{{"{HIDDEN_NAME} 1": "a-b"}}'.encode()
    assert [leak.kind for leak in audit_task(plant("tests/snapshots/all.json", text))] == [
        "hidden_test"
    ]
    assert audit_task(plant("CHANGES.txt", text)) == ()


def test_a_snapshot_of_another_test_of_the_same_name_is_no_leak():
    other = plant("tests/test_more.py", f"def {HIDDEN_NAME}():\n    assert 1\n".encode())
    layout = replace(other.layout, test_files=(*other.layout.test_files, "tests/test_more.py"))
    task = replace(other, layout=layout)
    title = f"# name: {HIDDEN_NAME}\n  'a'\n".encode()
    assert audit_task(plant("tests/__snapshots__/test_more.ambr", title, task)) == ()
    assert audit_task(plant("tests/__snapshots__/test_text.ambr", title, task)) != ()


def test_what_hiding_leaves_of_snapshots_is_no_leak():
    sections = "".join(f"# name: {name}\n  'x'\n# ---\n" for name in (HIDDEN_NAME, VISIBLE_NAME))
    snapshots = {
        "tests/__snapshots__/test_text.ambr": sections,
        f"tests/test_text/{HIDDEN_NAME}.yml": "a-b",
        f"tests/test_text/{VISIBLE_NAME}.yml": "a b",
    }
    source = Tree({**SOURCE, **{p: Entry(text.encode()) for p, text in snapshots.items()}})
    task = make_task(source)
    assert audit_task(task) == ()
    assert f"tests/test_text/{VISIBLE_NAME}.yml" in task.workspace
    assert HIDDEN_NAME.encode() not in task.workspace["tests/__snapshots__/test_text.ambr"].data
    assert all(task.grading_tree[path] == source[path] for path in snapshots)


def test_a_statement_that_tells_too_much_is_found():
    line = "surviving_pieces = [piece for piece in candidates if piece]"
    for text in (line, "Make test_slug_joins_the_words pass."):
        leaks = audit_task(replace(TASK, instruction=f"{TASK.instruction}\n{text}\n"))
        assert {leak.kind for leak in leaks} == {"statement"}


def test_a_mention_of_an_untold_name_is_only_a_warning():
    report = audit_report(plant("HISTORY.md", b"We renamed surviving_pieces.\n"))
    assert report.leaks == ()
    assert [(w.kind, w.path) for w in report.warnings] == [("mention", "HISTORY.md")]


def image(folder: Path) -> Image:
    layer = Layer("d" * 64, folder, "/opt/env")
    return Image("i" * 64, "base", None, (layer,))


def test_an_installed_copy_in_the_environment_is_found(tmp_path):
    site = tmp_path / "lib/python3.13/site-packages"
    for name, data in {"vendored/names.py": RENAMED, "other.py": b"x = 1\n"}.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_bytes(data)
    (leak,) = audit_task(TASK, image(tmp_path))
    assert leak.path == "/opt/env/lib/python3.13/site-packages/vendored/names.py"


def test_a_wheel_in_the_environment_is_found(tmp_path):
    (tmp_path / "notes-1.0.whl").write_bytes(zipped(ORIGINAL))
    assert audit_task(TASK, image(tmp_path))


def test_a_bomb_ends_the_unpacking_and_is_refused_since_it_was_not_read_to_its_end():
    bomb = zlib.compress(b"\0" * 80_000_000)
    (leak,) = audit_task(plant("tests/data/bomb.bin", bomb))
    assert leak.kind == "opaque"


def test_a_wheel_in_the_base_is_found_and_a_few_names_in_a_program_are_not(tmp_path):
    library = tmp_path / "usr/lib/python3.13"
    (library / "bundled").mkdir(parents=True)
    (library / "bundled/notes-1.0.whl").write_bytes(zipped(ORIGINAL))
    (library / "libpython.a").write_bytes(b"\0joiner\0candidates\0slug\0")
    leaks = audit_task(TASK, Image("i" * 64, "base", tmp_path, ()))
    assert {leak.path for leak in leaks} == {
        "/usr/lib/python3.13/bundled/notes-1.0.whl!notes/text.py"
    }

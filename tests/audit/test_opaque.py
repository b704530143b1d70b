"""What cannot be read is refused where it may hold the deleted code, and only there."""

import base64
import hashlib
import random
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from codeenv.audit import audit_report, audit_task
from codeenv.audit.lz4 import lz4_frame
from codeenv.audit.zstd import zstd_frame
from codeenv.materialise.git import without_git
from codeenv.sandbox.image import Image, Layer
from codeenv.tree import Entry, Tree
from tests.audit.packed import LZ4, ORIGINAL, ZSTD, encrypted_zip
from tests.toytask import make_task, plant

NOISE = random.Random(7).randbytes(5_000)
PACKED = {
    "a.7z": b"7z\xbc\xaf\x27\x1c" + NOISE,
    "a.rar": b"Rar!\x1a\x07\1\0" + NOISE,
    "a.squashfs": b"hsqs" + NOISE,
    "a.parquet": b"PAR1" + NOISE,
    "a.br": NOISE,
    "a.gpg": b"\x85\1" + NOISE,
    "a.asc": b"-----BEGIN PGP MESSAGE-----\n\n" + base64.encodebytes(NOISE),
    "a.zip": encrypted_zip(ORIGINAL),
    "a.bin": b"\0" * 8_192 + NOISE,
    "a": NOISE,
}
PICTURE = b"\x89PNG\r\n\x1a\n" + NOISE


@pytest.mark.parametrize("name", PACKED)
def test_what_cannot_be_read_is_refused(name):
    (leak,) = {
        found.path.partition("!")[0]: found
        for found in audit_task(plant(f"vendor/{name}", PACKED[name]))
    }.values()
    assert (leak.kind, leak.path.partition("!")[0]) == ("opaque", f"vendor/{name}")


def test_what_is_too_small_to_hold_the_code_and_pictures_are_not():
    for name, data in (("key.bin", NOISE[:100]), ("a.7z", PACKED["a.7z"][:90]), ("a.png", PICTURE)):
        assert audit_task(plant(f"vendor/{name}", data)) == (), name
    assert len(zlib.compress(ORIGINAL)) > 100


def test_what_the_projects_tests_work_with_is_only_told():
    task = make_task()
    test = without_git(task.grading_tree)["tests/test_text.py"].data
    for path, spoken in (("tests/data/a.br", b"glob('*.br')"), ("samples/a.br", b"open('a.br')")):
        with_test = Entry(test + b"\n\ndef test_unpack():\n    " + spoken + b"\n")
        grading = Tree({**task.grading_tree, "tests/test_text.py": with_test})
        report = audit_report(plant(path, NOISE, replace(task, grading_tree=grading)))
        assert report.leaks == ()
        assert [(w.kind, w.path) for w in report.warnings] == [("unread", path)]
        assert audit_task(plant(path, NOISE)) != ()
        assert audit_task(plant("samples/b.br", NOISE, replace(task, grading_tree=grading))) != ()


def test_in_an_environment_only_what_came_with_a_package_may_be_unreadable(tmp_path: Path):
    site = tmp_path / "lib/python3.13/site-packages"
    (site / "other-1.0.dist-info").mkdir(parents=True)
    (site / "other.bin").write_bytes(NOISE)
    digest = base64.urlsafe_b64encode(hashlib.sha256(NOISE).digest()).decode().rstrip("=")
    record = site / "other-1.0.dist-info/RECORD"
    record.write_text(f"other.bin,sha256={digest},{len(NOISE)}\n")
    image = Image("i" * 64, "base", None, (Layer("d" * 64, tmp_path, "/opt/env"),))
    assert audit_task(make_task(), image) == ()
    (site / "other.bin").write_bytes(NOISE[::-1])
    later = replace(image, digest="j" * 64)
    assert [leak.kind for leak in audit_task(make_task(), later)] == ["opaque"]


def test_frames_are_unpacked_to_the_last_byte_and_damaged_ones_up_to_the_damage():
    for frame, packed in ((zstd_frame, ZSTD), (lz4_frame, LZ4)):
        assert frame(b"head" + packed + b"tail", 4, 10_000) == (ORIGINAL, 4 + len(packed))
        assert frame(packed, 0, 100)[0] == ORIGINAL[:100]
        for cut in range(4, len(packed), 7):
            inner, _ = frame(packed[:cut] + b"\xff" * 9, 0, 10_000)
            assert len(inner) <= 10_000


@pytest.mark.parametrize("seed", range(40))
def test_no_damage_to_a_frame_ends_in_an_error(seed):
    chance = random.Random(seed)
    for frame, packed in ((zstd_frame, ZSTD), (lz4_frame, LZ4)):
        damaged = bytearray(packed)
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(4, len(packed))] = chance.randrange(256)
        inner, end = frame(bytes(damaged), 0, 100_000)
        assert len(inner) <= 100_000
        assert end >= 0

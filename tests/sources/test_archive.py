import io
import tarfile
import zipfile

import pytest

from codeenv.errors import SourceError
from codeenv.sources.archive import unpack
from codeenv.sources.entries import Caps
from codeenv.tree import Entry


@pytest.fixture
def make_tar(tmp_path):
    """Write a .tar.gz of (name, bytes) files and ready-made TarInfo members."""

    def make(*members):
        path = tmp_path / "thing-1.0.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for member in members:
                if isinstance(member, tarfile.TarInfo):
                    archive.addfile(member)
                else:
                    info = tarfile.TarInfo(member[0])
                    info.size = len(member[1])
                    archive.addfile(info, io.BytesIO(member[1]))
        return path

    return make


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_the_single_top_folder_is_stripped(make_tar):
    assert list(unpack(make_tar(("t-1/a.py", b"x"), ("t-1/b/c.py", b"y")))) == ["a.py", "b/c.py"]


def test_two_top_folders_stay(make_tar):
    assert list(unpack(make_tar(("a/x", b"1"), ("b/x", b"2")))) == ["a/x", "b/x"]


def test_bytes_survive_exactly(make_tar):
    odd = b"# -*- coding: latin-1 -*-\r\ns = '\xe9\xff'\r\x0c\n"
    assert unpack(make_tar(("t/a.py", odd)))["a.py"].data == odd


def test_names_that_are_not_utf8_survive(make_tar):
    name = b"t/caf\xe9.txt".decode("utf-8", "surrogateescape")
    assert next(iter(unpack(make_tar((name, b"x"), ("t/z", b""))))).encode(
        "utf-8", "surrogateescape"
    ) == (b"caf\xe9.txt")


def test_the_executable_bit_survives_and_nothing_else_of_the_mode(make_tar):
    info = tarfile.TarInfo("t/run.sh")
    info.mode = 0o6755
    assert unpack(make_tar(info, ("t/a", b"")))["run.sh"] == Entry(b"", "exec")


@pytest.mark.parametrize("name", ["/etc/passwd", "t/../../x", "../x", "t//..//x"])
def test_names_that_leave_the_archive_are_refused(make_tar, name):
    with pytest.raises(SourceError, match="unsafe file name"):
        unpack(make_tar((name, b"x")))


@pytest.mark.parametrize(
    "kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE], ids=["chr", "blk", "fifo"]
)
def test_special_files_are_refused(make_tar, kind):
    with pytest.raises(SourceError, match="special file"):
        unpack(make_tar(special("t/dev", kind)))


@pytest.mark.parametrize("target", ["/etc/passwd", "../../x", "a/../../../x", ""])
def test_links_out_are_refused(make_tar, target):
    with pytest.raises(SourceError, match="points out of it"):
        unpack(make_tar(special("t/link", tarfile.SYMTYPE, target), ("t/a/b", b"")))


def test_a_link_out_by_way_of_another_link_is_refused(make_tar):
    with pytest.raises(SourceError, match="points out of it"):
        unpack(
            make_tar(
                ("t/a/b/c/x", b""),
                special("t/a/b/c/up", tarfile.SYMTYPE, "../../.."),
                special("t/out", tarfile.SYMTYPE, "a/b/c/up/../../etc"),
            )
        )


def test_links_inside_are_kept(make_tar):
    tree = unpack(make_tar(("t/a/x", b"1"), special("t/b/y", tarfile.SYMTYPE, "../a/x")))
    assert tree["b/y"] == Entry(b"../a/x", "link")


def test_a_file_written_through_a_link_is_refused(make_tar):
    with pytest.raises(SourceError, match="also a folder"):
        unpack(make_tar(special("t/d", tarfile.SYMTYPE, "e"), ("t/d/x", b""), ("t/e/y", b"")))


def test_a_hard_link_is_a_copy_of_an_earlier_file(make_tar):
    tree = unpack(make_tar(("t/a", b"1"), special("t/b", tarfile.LNKTYPE, "t/a")))
    assert tree["b"] == tree["a"]


@pytest.mark.parametrize("target", ["t/later", "/etc/passwd"])
def test_a_hard_link_to_anything_else_is_refused(make_tar, target):
    with pytest.raises(SourceError):
        unpack(make_tar(special("t/b", tarfile.LNKTYPE, target), ("t/later", b"")))


def test_of_two_files_with_one_name_the_later_wins(make_tar):
    assert unpack(make_tar(("t/a", b"1"), ("t/b", b""), ("t/a", b"2")))["a"].data == b"2"


def test_names_that_differ_in_case_only_are_both_kept(make_tar):
    assert list(unpack(make_tar(("t/A", b"1"), ("t/a", b"2")))) == ["A", "a"]


@pytest.mark.parametrize(
    ("caps", "reason"),
    [
        (Caps(download=10), "the archive has"),
        (Caps(file=10), "'t/b' has 100 bytes"),
        (Caps(total=150), "its files hold more than 150 bytes"),
        (Caps(entries=1), "it has more than 1 entries"),
    ],
)
def test_too_much_is_refused(make_tar, caps, reason):
    with pytest.raises(SourceError, match=f"too large: {reason}"):
        unpack(make_tar(("t/a", b""), ("t/b", b"x" * 100), ("t/c", b"x" * 100)), caps=caps)


def test_a_decompression_bomb_is_stopped_while_it_unpacks(make_tar):
    path = make_tar(("t/a", bytes(8 * 1024**2)))
    with pytest.raises(SourceError, match="too large"):
        unpack(path, caps=Caps(total=1024, entries=1, file=2**40))


@pytest.mark.parametrize("data", [b"", b"not an archive", b"\x1f\x8bbroken", b"PK\x03\x04broken"])
def test_what_is_no_archive_is_a_clear_error(tmp_path, data):
    path = tmp_path / "x.tar.gz"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"x\.tar\.gz (cannot be unpacked|is empty)"):
        unpack(path)


class TestZip:
    @pytest.fixture
    def make_zip(self, tmp_path):
        def make(*members):
            path = tmp_path / "thing-1.0.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, data, mode in members:
                    info = zipfile.ZipInfo(name)
                    info.external_attr = mode << 16
                    archive.writestr(info, data)
            return path

        return make

    def test_files_modes_and_links(self, make_zip):
        tree = unpack(
            make_zip(
                ("t/a.py", b"x\r\n", 0o100644),
                ("t/run", b"y", 0o100755),
                ("t/link", b"a.py", 0o120777),
            )
        )
        assert dict(tree) == {
            "a.py": Entry(b"x\r\n"),
            "link": Entry(b"a.py", "link"),
            "run": Entry(b"y", "exec"),
        }

    @pytest.mark.parametrize(
        ("name", "data", "mode"),
        [
            ("../x", b"", 0o100644),
            ("/x", b"", 0o100644),
            ("t/l", b"/etc/passwd", 0o120777),
            ("t/dev", b"", 0o020644),
        ],
    )
    def test_unsafe_members_are_refused(self, make_zip, name, data, mode):
        with pytest.raises(SourceError):
            unpack(make_zip((name, data, mode)))

    def test_a_bomb_is_refused_by_its_declared_size(self, make_zip):
        with pytest.raises(SourceError, match="too large"):
            unpack(make_zip(("t/a", bytes(10**6), 0o100644)), caps=Caps(file=10**5))

import os
import socket

import pytest

from codeenv.errors import SourceError
from codeenv.sources import checkout, fetch
from codeenv.sources.entries import Caps
from codeenv.sources.folder import read_project


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "plain"
    (root / "pkg" / "__pycache__").mkdir(parents=True)
    (root / "pkg" / "a.py").write_bytes(b"\xff\r\n")
    (root / "pkg" / "__pycache__" / "a.pyc").write_bytes(b"")
    (root / "env").mkdir()
    (root / "env" / "pyvenv.cfg").write_bytes(b"")
    (root / "pkg.egg-info").mkdir()
    (root / "pkg.egg-info" / "SOURCES.txt").write_bytes(b"")
    (root / ".mypy_cache").mkdir()
    (root / ".mypy_cache" / "x.json").write_bytes(b"")
    return root


def test_a_plain_folder_is_taken_without_caches(folder):
    found = checkout(str(folder))
    assert {path: entry.data for path, entry in found.tree.items()} == {"pkg/a.py": b"\xff\r\n"}
    assert (found.pin.kind, found.pin.version) == ("path", "")


def test_what_is_left_out_of_a_folder_is_told(folder):
    (note,) = checkout(str(folder)).notes
    assert note == ("left out, as tools made them: .mypy_cache, env, pkg/__pycache__, pkg.egg-info")


def test_a_pinned_folder_can_be_had_after_it_changed(folder):
    found = checkout(str(folder))
    (folder / "pkg" / "a.py").write_bytes(b"changed")
    assert fetch(found.pin) == found


def test_a_changed_folder_is_refused_when_the_cache_is_empty(folder, monkeypatch, tmp_path):
    found = checkout(str(folder))
    (folder / "pkg" / "a.py").write_bytes(b"changed")
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path / "other"))
    with pytest.raises(SourceError, match="bytes differ"):
        fetch(found.pin)


def test_a_damaged_cache_entry_is_not_used(folder, cache):
    found = checkout(str(folder))
    stored = cache / "downloads" / "trees" / f"{found.pin.sha256}.tar"
    stored.write_bytes(stored.read_bytes()[:700])
    assert fetch(found.pin) == found


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"


def test_lfs_pointers_are_refused_and_named(folder):
    (folder / "model.bin").write_bytes(POINTER)
    with pytest.raises(SourceError, match=r"1 files are Git LFS pointers.*model\.bin") as caught:
        checkout(str(folder))
    assert "git lfs pull" in caught.value.hint


def test_lfs_pointers_beside_the_subdir_do_no_harm(folder):
    (folder / "model.bin").write_bytes(POINTER)
    assert list(checkout(str(folder), subdir="pkg").tree) == ["a.py"]
    (folder / "pkg" / "x.bin").write_bytes(POINTER)
    with pytest.raises(SourceError, match=r"pkg/x\.bin"):
        checkout(str(folder), subdir="pkg")


def test_a_text_about_lfs_is_no_pointer(folder):
    (folder / "about.txt").write_bytes(b"See " + POINTER)
    (folder / "long.txt").write_bytes(POINTER + b"# not a pointer\n" * 100)
    assert {"about.txt", "long.txt"} < set(checkout(str(folder)).tree)


def test_links_out_of_the_folder_are_refused(folder):
    (folder / "out").symlink_to("/etc/passwd")
    with pytest.raises(SourceError, match="'out' points out of it"):
        checkout(str(folder))


def test_a_link_to_a_folder_is_kept_and_not_followed(folder):
    (folder / "alias").symlink_to("pkg")
    assert checkout(str(folder)).tree["alias"].mode == "link"


def test_sockets_and_fifos_are_left_out(folder, monkeypatch):
    os.mkfifo(folder / "fifo")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert list(checkout(str(folder)).tree) == ["pkg/a.py"]


def test_too_much_is_refused(folder):
    with pytest.raises(SourceError, match="too large"):
        read_project(folder, caps=Caps(file=2))


def test_an_empty_folder_says_so(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="is empty"):
        checkout(str(tmp_path / "empty"))


def test_a_file_is_not_a_repository(folder):
    with pytest.raises(SourceError, match="is not a folder"):
        checkout(str(folder / "pkg" / "a.py"))


def test_a_ref_of_a_plain_folder_is_refused(folder):
    with pytest.raises(SourceError, match="not a git repository, so it has no ref"):
        checkout(str(folder), ref="main")

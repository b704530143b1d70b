"""Trees survive the wire and the disk."""

import os

import pytest

from codeenv.guest.packing import MTIME, pack, unpack, write_new, write_tree

ITEMS = [
    ("a.txt", "file", b"a"),
    ("empty", "file", b""),
    ("folder/deep/run", "exec", b"#!/bin/sh\n"),
    ("folder/link", "link", b"../a.txt"),
    (b"caf\xe9".decode("utf-8", "surrogateescape"), "file", b"\x00\xff"),
]


def test_items_come_back():
    assert list(unpack(*pack(ITEMS))) == ITEMS


def test_a_tree_on_disk_has_fixed_modes_and_times(tmp_path):
    write_tree(str(tmp_path / "tree"), ITEMS)
    root = tmp_path / "tree"

    assert (root / "a.txt").stat().st_mode & 0o777 == 0o644
    assert (root / "folder/deep/run").stat().st_mode & 0o777 == 0o755
    assert os.readlink(root / "folder/link") == "../a.txt"
    for path in (root, *root.rglob("*")):
        assert path.lstat().st_mtime == MTIME


def test_a_file_is_not_written_through_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "victim")

    with pytest.raises(FileExistsError):
        write_new(str(tmp_path / "link"), "file", b"x")
    assert not (tmp_path / "victim").exists()

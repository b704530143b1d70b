"""What every backend promises about files: reading, writing, listing, applying."""

import pytest

from codeenv.errors import PathError
from codeenv.sandbox.base import PathInfo
from codeenv.tree import Delta, Entry, Tree
from tests.sandbox.conftest import WORKSPACE


def test_a_workspace_starts_as_it_was_given(box):
    assert box.export() == WORKSPACE
    assert box.exec("bin/run").text == "ran\n"


def test_every_file_of_a_workspace_has_the_same_time(box):
    times = box.exec("find . -printf '%T@\\n' | sort -u").text.split()

    assert len(times) <= 2  # the folder itself is new
    assert box.exec("stat -c %Y README.md").text == "1600000000\n"


def test_an_empty_workspace_is_possible(world):
    assert world.open(Tree({})).export() == Tree({})


def test_bytes_are_read_as_they_are(box):
    assert box.read_file("data/latin.txt") == b"caf\xe9\r\nsecond\r\n"
    assert box.read_file(f"{box.workspace}/README.md") == b"# toy\n"
    assert box.read_file("link") == b"# toy\n"


def test_a_big_file_goes_in_and_out(box):
    data = bytes(range(256)) * 40_000
    box.write_file("big.bin", data)

    assert box.read_file("big.bin", limit=len(data)) == data
    assert box.exec("stat -c %s big.bin").text == f"{len(data)}\n"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("missing", "not_found"),
        ("README.md/below", "not_found"),
        ("src", "is_directory"),
        ("../../etc/passwd", "outside"),
        ("/etc/passwd", "outside"),
        ("nul\0byte", "not_found"),
        ("lone\ud800", "not_found"),
        ("x" * 300, "not_found"),
        ("x/" * 3000, "not_found"),
        ("", "is_directory"),
    ],
    ids=range(10),
)
def test_a_path_that_cannot_be_read_says_why(box, path, code):
    with pytest.raises(PathError) as caught:
        box.read_file(path)

    assert caught.value.code == code


def test_a_link_out_of_the_workspace_is_refused_both_ways(box):
    box.exec("ln -s /etc/passwd out; ln -s /usr folder; ln -s /usr/new dangling")

    for path in ("out", "folder/new", "dangling"):
        for call in (box.read_file, lambda each: box.write_file(each, b"x")):
            with pytest.raises(PathError) as caught:
                call(path)
            assert caught.value.code == "outside"


def test_a_file_over_the_limit_is_not_read(box):
    box.exec("head -c 1000 /dev/zero > thousand")

    assert len(box.read_file("thousand", limit=1000)) == 1000
    with pytest.raises(PathError) as caught:
        box.read_file("thousand", limit=999)
    assert caught.value.code == "too_large"


def test_a_special_file_is_not_read(box):
    box.exec("mkfifo pipe")

    with pytest.raises(PathError) as caught:
        box.read_file("pipe")
    assert caught.value.code == "denied"


def test_temporary_files_can_be_read_and_written(box):
    box.exec("echo from the box > ${TMPDIR-/tmp}/note")
    folder = box.exec("printf ${TMPDIR-/tmp}").text

    assert box.read_file(f"{folder}/note") == b"from the box\n"
    box.write_file(f"{folder}/other", b"to the box")
    assert box.exec(f"cat {folder}/other").text == "to the box"


def test_writing_makes_parents(box):
    box.write_file("a/b/c.txt", b"deep")

    assert box.exec("cat a/b/c.txt").text == "deep"


def test_writing_keeps_the_mode_of_a_file(box):
    box.exec("chmod 640 README.md")
    box.write_file("README.md", b"new")
    box.write_file("bin/run", b"#!/bin/sh\necho new\n")

    assert box.exec("stat -c %a README.md").text == "640\n"
    assert box.exec("bin/run").text == "new\n"


def test_writing_can_set_the_executable_bit(box):
    box.write_file("tool", b"#!/bin/sh\necho tool\n", executable=True)
    box.write_file("bin/run", b"echo\n", executable=False)

    assert box.exec("./tool").text == "tool\n"
    assert box.exec("test -x bin/run").exit_code == 1
    assert box.exec("stat -c %a tool").text == "755\n"


def test_writing_replaces_in_one_step_and_leaves_nothing_beside(box):
    box.exec("exec 9< README.md; cp /dev/fd/9 before; ls -i README.md > inode")
    box.write_file("README.md", b"replaced")

    assert box.exec("ls -i README.md").text != box.read_file("inode").decode()
    assert box.exec("ls -A | grep -c codeenv").text == "0\n"


def test_writing_through_a_link_changes_its_target(box):
    box.write_file("link", b"through")

    assert box.read_file("README.md") == b"through"
    assert box.exec("test -L link").exit_code == 0


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("src", "is_directory"),
        ("new/", "is_directory"),
        ("README.md/below", "not_directory"),
        ("README.md/below/deeper", "not_directory"),
        ("/usr/new", "outside"),
        ("../new", "outside"),
    ],
)
def test_a_path_that_cannot_be_written_says_why(box, path, code):
    with pytest.raises(PathError) as caught:
        box.write_file(path, b"x")

    assert caught.value.code == code


def test_a_listing_is_sorted_and_has_no_git(box):
    box.exec("mkdir -p .git/objects src/.git; touch .hidden")

    assert [info.path for info in box.list_files(".", depth=1)] == [
        ".hidden", "README.md", "bin", "data", "link", "src",
    ]  # fmt: skip
    assert box.list_files("bin") == (PathInfo("bin/run", "file", 19, executable=True),)
    assert box.list_files("link")[0].path == "README.md"
    assert PathInfo("link", "link", 9) in box.list_files()
    assert PathInfo("src", "directory", 0) in box.list_files(f"{box.workspace}/")


def test_a_listing_goes_as_deep_as_asked(box):
    box.exec("mkdir -p a/b/c/d")

    assert [info.path for info in box.list_files("a", depth=2)] == ["a/b", "a/b/c"]
    assert [info.path for info in box.list_files("a", depth=9)] == ["a/b", "a/b/c", "a/b/c/d"]


@pytest.mark.parametrize(("path", "code"), [("missing", "not_found"), ("/etc", "outside")])
def test_a_path_that_cannot_be_listed_says_why(box, path, code):
    with pytest.raises(PathError) as caught:
        box.list_files(path)

    assert caught.value.code == code


def test_applying_a_delta_gives_the_tree_it_leads_to(box):
    delta = Delta(
        {
            "src/toy.py": Entry(b"changed\n"),
            "new/file": Entry(b"new", "exec"),
            "README.md": Entry(b"src/toy.py", "link"),
        },
        frozenset({"data/latin.txt", "link", "not/there"}),
    )
    box.apply(delta)

    assert box.export() == WORKSPACE.apply(delta)
    assert box.exec("test -e data").exit_code == 1  # an empty folder is none


def test_applying_takes_away_what_is_in_the_way(box):
    box.exec("rm -r src; touch src; mkdir -p README.md.d; rm README.md; mkdir README.md")
    delta = Delta({"src/toy.py": Entry(b"back\n"), "README.md": Entry(b"file\n")})
    box.apply(delta)

    assert box.read_file("src/toy.py") == b"back\n"
    assert box.read_file("README.md") == b"file\n"

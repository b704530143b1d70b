"""What every backend promises about reading a hostile tree from outside."""

import os

import pytest

from codeenv.errors import PathError
from codeenv.sandbox.base import Limits
from codeenv.tree import Entry, Tree
from tests.sandbox.conftest import WORKSPACE


def test_what_changed_is_exported_with_modes_and_links(box):
    box.exec("echo new > new; chmod +x new; rm README.md; ln -sf /etc/passwd link; mkdir empty")

    exported = box.export()

    assert dict(WORKSPACE.diff(exported).write) == {
        "new": Entry(b"new\n", "exec"),
        "link": Entry(b"/etc/passwd", "link"),
    }
    assert WORKSPACE.diff(exported).delete == {"README.md"}


def test_the_repository_is_not_exported(box):
    box.exec("git init -q .; mkdir -p sub/.git; touch sub/.git/kept")

    assert set(box.export()) - set(WORKSPACE) == {"sub/.git/kept"}


def test_special_files_are_left_out(box):
    code = "import socket; socket.socket(socket.AF_UNIX).bind('socket')"
    box.exec("mkfifo pipe")
    box.exec(["python3", "-c", code])

    assert box.export() == WORKSPACE


def test_names_that_are_not_text_survive(box):
    names = [b"new\nline", b"caf\xe9", b"-rf", b" ", b"\xe6\xbc\xa2", b"a\\b"]
    code = "import sys, os\nfor name in sys.stdin.buffer.read().split(b'\\0'): open(name, 'wb')"
    box.exec(["python3", "-c", code], stdin=b"\0".join(names))

    new = set(box.export()) - set(WORKSPACE)

    assert {os.fsencode(name) for name in new} == set(names)


def test_unreadable_files_and_folders_are_exported_and_stay_unreadable(box):
    box.exec("chmod 000 README.md src/toy.py src bin")

    assert box.export() == Tree({**WORKSPACE, "bin/run": Entry(b"#!/bin/sh\necho ran\n", "exec")})
    assert box.exec("stat -c %a README.md src bin").text == "0\n0\n0\n"


def test_links_are_not_followed(box):
    box.exec("ln -s /usr/bin folder; ln -s loop loop; ln -s / src/root")

    new = WORKSPACE.diff(box.export()).write

    assert {path: entry.mode for path, entry in new.items()} == dict.fromkeys(
        ("folder", "loop", "src/root"), "link"
    )


def test_hard_links_are_files(box):
    box.exec("ln README.md hard")

    assert box.export()["hard"] == Entry(b"# toy\n")


def test_processes_stand_still_while_a_tree_is_read_and_go_on_afterwards(box):
    box.exec("(while :; do date +%N > a; cp a b; done) > /dev/null 2>&1 & echo $! > pid")
    box.export()

    assert box.exec("kill -0 $(cat pid) && grep State /proc/$(cat pid)/status").text.find("T (") < 0
    box.exec("kill $(cat pid)")


def test_too_many_entries_are_an_error(world):
    box = world.open(limits=Limits(files=100))
    box.exec("mkdir many; cd many; seq 1 200 | xargs touch")

    with pytest.raises(PathError, match="too many entries"):
        box.export()


def test_too_many_bytes_are_an_error(world):
    box = world.open(limits=Limits(disk=1024**2, memory=256 * 1024**2))
    box.exec("truncate -s 700K a; truncate -s 700K b")

    with pytest.raises(PathError, match="too many bytes"):
        box.export()


def test_a_tree_too_deep_is_an_error(box):
    box.exec(["python3", "-c", "import os\nfor n in range(300): os.mkdir('d'); os.chdir('d')"])

    with pytest.raises(PathError, match="deeper"):
        box.export()


CHANGES = """
import os, random, shutil, sys
chosen = random.Random(int(sys.argv[1]))
names = "a b src data link README.md src/toy.py data/latin.txt bin bin/run".split()
def remove(path):
    folder = os.path.isdir(path) and not os.path.islink(path)
    shutil.rmtree(path) if folder else os.remove(path)
for _ in range(60):
    one, other = chosen.choice(names), chosen.choice(names)
    if chosen.random() < 0.5:
        one += "/" + chosen.choice("abc")
    try:
        match chosen.randrange(6):
            case 0: os.mkdir(one)
            case 1: remove(one)
            case 2: shutil.move(one, other)
            case 3: os.symlink(other, one)
            case 4: print(chosen.random(), file=open(one, "x"))
            case 5 if os.path.isfile(one): os.chmod(one, chosen.choice([0o755, 0o644]))
    except (OSError, shutil.Error):
        pass
"""
SEEN = """
import os
for where, folders, files in os.walk("."):
    for name in [*files, *(f for f in folders if os.path.islink(f"{where}/{f}"))]:
        path = f"{where}/{name}"[2:]
        if os.path.islink(path):
            print(path, "link", os.readlink(path).encode().hex())
        else:
            mode = "exec" if os.stat(path).st_mode & 0o100 else "file"
            print(path, mode, open(path, "rb").read().hex())
"""


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_done_the_exported_tree_is_what_the_box_sees(box, seed):
    assert box.exec(["python3", "-c", CHANGES, str(seed)]).text == ""
    seen = box.exec(["python3", "-c", SEEN]).text.splitlines()
    expected = {path: (mode, data) for path, mode, data in (line.split(" ") for line in seen)}

    exported = box.export()

    assert {path: (e.mode, e.data.hex()) for path, e in exported.items()} == expected


def test_only_what_is_asked_for_counts_against_the_limits(world):
    box = world.open(limits=Limits(disk=8 * 1024**2, memory=256 * 1024**2))
    box.exec(
        "mkdir src/sub; echo x = 1 > src/sub/new.py; echo y > src.py; rm src/toy.py; "
        "truncate -s 7M large; truncate -s 7M src/large"
    )
    with pytest.raises(PathError, match="too many bytes"):
        box.export()

    exported = box.export(only=("src",), largest=1024**2)

    assert {path for path in exported if path.startswith("src/")} == {"src/sub/new.py"}
    assert not {"large", "src.py"} & set(exported)


def test_a_single_file_can_be_asked_for(box):
    box.exec("echo one > bin/one; echo two > bin/two")

    exported = box.export(only=("bin/one",))

    assert exported["bin/one"] == Entry(b"one\n")
    assert "bin/two" not in exported

"""Two boxes that see nothing of each other, and have one socket in common."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from codeenv.errors import NoPairs, SandboxError
from codeenv.sandbox.select import open_backend
from codeenv.tree import Entry, Tree

FIRST = Tree({"first.txt": Entry(b"xq-first-qx\n")})
SECOND = Tree({"second.txt": Entry(b"xq-second-qx\n")})
SAY = "import socket; s = socket.socket(fileno=4); s.sendall({!r}); print(s.recv(100))"
SILENT = "import socket; print(socket.socket(fileno=4).recv(100))"


@pytest.fixture
def pair(walled):
    boxes = walled.backend.open_pair(walled.image, (FIRST, SECOND), role="grader")
    walled.opened.append(boxes[0])
    return boxes


def both(pair, walled, first, second):
    """Run a program in each box at the same time; return what they print."""
    with ThreadPoolExecutor(2) as pool:
        python = walled.image.python
        runs = zip(pair, (first, second), strict=True)
        done = pool.map(lambda run: run[0].exec([python, "-c", run[1]]), runs)
        return [result.text.strip() for result in done]


def test_the_first_commands_talk_to_each_other(pair, walled):
    said = both(pair, walled, SAY.format(b"one"), SAY.format(b"two"))

    assert said == ["b'two'", "b'one'"]


def test_who_ends_is_missed_by_the_other(pair, walled):
    assert both(pair, walled, "pass", SILENT)[1] == "b''"


def test_only_the_first_command_has_the_socket(pair, walled):
    both(pair, walled, "pass", "pass")

    asked = "import os, stat; print(stat.S_ISSOCK(os.fstat(4).st_mode))"
    done = pair[0].exec([walled.image.python, "-c", asked])
    assert "Bad file descriptor" in done.text


def test_a_box_alone_has_no_socket(walled):
    box = walled.open()

    assert box.exec("ls /proc/self/fd/4").exit_code != 0


def test_neither_sees_files_or_processes_of_the_other(pair):
    assert [path.path for path in pair[0].list_files()] == ["first.txt"]
    assert [path.path for path in pair[1].list_files()] == ["second.txt"]
    pair[0].exec("touch /tmp/mine; sleep 300 > /dev/null 2>&1 &")

    assert "mine" not in pair[1].exec("ls /tmp").text
    assert "sleep" not in pair[1].exec("cat /proc/*/cmdline").text
    assert "xq-first" not in pair[1].exec("grep -rs xq-first / --include=*.txt").text


def test_closing_the_first_closes_the_second(pair):
    pair[0].close()

    with pytest.raises(SandboxError, match="closed"):
        pair[1].exec("true")


def test_a_host_serves_pairs_one_after_the_other(walled):
    for _ in range(3):
        pair = walled.backend.open_pair(walled.image, (FIRST, SECOND), role="grader")
        with pair[0]:
            assert both(pair, walled, SAY.format(b"a"), SAY.format(b"b")) == ["b'b'", "b'a'"]


def test_a_backend_without_walls_refuses(local_backend, host_image):
    with pytest.raises(NoPairs, match="no walls"):
        local_backend.open_pair(host_image, (FIRST, SECOND), role="grader")


@pytest.mark.docker
def test_a_container_per_box_refuses(debian_image):
    backend = open_backend("docker", isolation="container")
    with pytest.raises(NoPairs, match="walls no two boxes off"):
        backend.open_pair(debian_image, (FIRST, SECOND), role="grader")
    backend.close()

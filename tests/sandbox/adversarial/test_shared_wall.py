"""Boxes that share a wall are apart as well: in one wall, only memory is shared."""

from contextlib import closing

import pytest

from codeenv.sandbox.capacity import Capacity
from codeenv.sandbox.image import Mount
from codeenv.sandbox.select import open_backend
from codeenv.tree import Entry, Tree
from tests.sandbox.adversarial.conftest import answers_or_is_dead, attack, hold, is_alive, python
from tests.sandbox.adversarial.test_reading import JOIN, PLANT, PROCESSES, SEARCH
from tests.sandbox.conftest import BUBBLEWRAP, DOCKER, LIMITS, WORKSPACE

TOOLS = Mount("/opt/tools", Tree({"tool.txt": Entry(b"tool\n"), "other.txt": Entry(b"other\n")}))
LEASES = """
for each in ("tool.txt", "other.txt"):
    fd = os.open("/opt/tools/" + each, os.O_RDONLY)
    attempt(each, fcntl.fcntl, fd, 1024, fcntl.F_WRLCK)
    signal.signal(signal.SIGIO, signal.SIG_IGN)
"""
GREEDY = """
for _ in range(30):
    if os.fork() == 0:
        keep = []
        while True:
            try:
                keep.append(bytes(1 << 22))
            except MemoryError:
                signal.pause()
"""
KILL = """
for number in range(1, 65):
    attempt(f"all {number}", os.kill, -1, number)
for pid in set(range(2, 70_000)) - {os.getpid()}:
    try:
        os.kill(pid, signal.SIGKILL)
        answers["hit"] = pid
    except ProcessLookupError:
        continue
"""


@pytest.fixture(scope="module", params=[BUBBLEWRAP, DOCKER])
def backend(request):
    """A backend of which two boxes share a wall."""
    with closing(open_backend(request.param, capacity=Capacity(per_host=2))) as found:
        yield found


@pytest.fixture
def pair(backend, request):
    """Two agents' boxes in one wall."""
    image = request.getfixturevalue("debian_image" if backend.name == "docker" else "host_image")
    with (
        backend.open(image, WORKSPACE, limits=LIMITS, mounts=[TOOLS]) as one,
        backend.open(image, WORKSPACE, limits=LIMITS, mounts=[TOOLS]) as other,
    ):
        assert one.host is other.host
        yield one, other


def test_neighbours_in_a_wall_do_not_see_each_other(pair):
    one, other = pair
    hold(other, PLANT + "answers['ready'] = True")
    seen = attack(one, SEARCH + JOIN + PROCESSES)

    assert seen.pop("found") == []
    assert seen.pop("seen") == seen.pop("own")
    assert len(seen.pop("hit")) == 1
    assert set(seen.values()) == {"ECONNREFUSED", "ENOENT"}


def test_neighbours_in_a_wall_do_not_reach_each_other_s_processes(pair):
    one, other = pair
    hold(other, "answers['ready'] = True")
    answers = attack(one, KILL)

    assert "hit" not in answers
    assert python(other, "import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))"
                  ).text == "3\n"  # fmt: skip


def test_a_lease_of_a_neighbour_in_the_wall_blocks_nobody(pair):
    one, other = pair
    hold(other, LEASES)

    result = one.exec("cat /opt/tools/tool.txt /opt/tools/other.txt", timeout=2)
    assert (result.text, result.timed_out) == ("tool\nother\n", False)


def test_a_greedy_neighbour_in_the_wall_dies_alone(pair):
    one, other = pair
    hold(other, "", GREEDY)

    assert is_alive(one)
    assert answers_or_is_dead(other)
    assert one.export() == WORKSPACE


def test_a_neighbour_s_end_ends_nobody_else(pair):
    one, other = pair
    one.exec("echo kept > kept; (sleep 60 &) > /dev/null 2>&1")
    hold(other, "", GREEDY)
    other.close()

    assert one.read_file("kept") == b"kept\n"
    assert one.exec("cat /proc/[0-9]*/comm | grep -c sleep").text == "1\n"

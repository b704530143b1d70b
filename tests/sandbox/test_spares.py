"""The next box is prepared while nobody asks for anything."""

import os
import signal
from contextlib import closing

import pytest

from codeenv.guest.processes import children, descendants
from codeenv.sandbox.image import Mount
from codeenv.sandbox.select import open_backend
from codeenv.tree import Entry, Tree
from tests.sandbox.conftest import LIMITS, WORKSPACE

pytestmark = pytest.mark.bubblewrap


@pytest.fixture
def opened(bubblewrap_backend, host_image, eventually):
    """A box whose host has a spare one, and the pid of that."""
    with bubblewrap_backend.open(host_image, WORKSPACE, limits=LIMITS) as box:
        assert eventually(lambda: len(_boxes(box)) == 2)
        yield box, _boxes(box)[-1]


def _boxes(box):
    """Return the pids of the first processes of a host's boxes, the youngest last."""
    (init,) = children(box.host.transport.pid)  # bubblewrap's
    (supervisor,) = children(init)
    found = [p for p in descendants(supervisor).values() if p.parent == supervisor]
    return [process.pid for process in sorted(found, key=lambda process: process.start)]


def _reopen(box, backend, image, workspace=WORKSPACE, **options):
    box.close()
    return backend.open(image, workspace, limits=LIMITS, **options)


def test_the_next_box_is_the_prepared_one(opened, bubblewrap_backend, host_image):
    box, spare = opened
    with _reopen(box, bubblewrap_backend, host_image) as other:
        assert other.host is box.host
        assert spare in _boxes(other)
        assert other.export() == WORKSPACE


def test_a_prepared_box_takes_any_workspace(opened, bubblewrap_backend, host_image):
    box, spare = opened
    files = Tree({"other.txt": Entry(b"other")})
    with _reopen(box, bubblewrap_backend, host_image, files) as other:
        assert spare in _boxes(other)
        assert other.exec("ls; cat other.txt").text == "other.txt\nother"


def test_a_prepared_box_has_the_trees_that_are_mounted_this_time(
    bubblewrap_backend, host_image, eventually
):
    for word in ("first", "second"):
        mount = Mount("/opt/tools", Tree({"word": Entry(word.encode())}))
        with bubblewrap_backend.open(host_image, WORKSPACE, limits=LIMITS, mounts=[mount]) as box:
            found = box.exec("cat /opt/tools/word; touch /opt/tools/x 2>&1 | grep -o Read-only")
            assert found.text == f"{word}Read-only\n"
            assert eventually(lambda: len(_boxes(box)) == 2)


def test_a_prepared_box_that_died_is_not_used(opened, bubblewrap_backend, host_image):
    box, spare = opened
    os.kill(spare, signal.SIGKILL)
    with _reopen(box, bubblewrap_backend, host_image) as other:
        assert other.host is box.host
        assert spare not in _boxes(other)
        assert other.exec("echo alive").text == "alive\n"


def test_a_prepared_box_ends_with_its_host(host_image, eventually):
    with (
        closing(open_backend("bubblewrap")) as backend,
        backend.open(host_image, WORKSPACE) as box,
    ):
        assert eventually(lambda: len(_boxes(box)) == 2)
        spare = _boxes(box)[-1]

    assert eventually(lambda: not os.path.exists(f"/proc/{spare}"))


def test_an_agent_neither_sees_nor_stops_a_prepared_box(opened):
    box, spare = opened
    box.exec("kill -9 -1")

    assert box.exec("ls -d /proc/[0-9]* | wc -l").text.strip() in "12345"
    assert spare in _boxes(box)

"""What is asked of a box goes straight to its tool server, which is held to what was asked."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from codeenv.errors import PathError, SandboxError, SandboxTimeout
from codeenv.guest.frames import Decoder, Frame
from codeenv.sandbox import line as line_module
from codeenv.sandbox.base import SearchQuery
from codeenv.sandbox.capacity import Capacity
from codeenv.sandbox.line import Line
from codeenv.sandbox.local import LocalBackend
from codeenv.sandbox.select import open_backend
from codeenv.sandbox.transport import ProcessTransport
from tests.sandbox.conftest import WORKSPACE

ASK = {"op": "read"}


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    line = Line(ours)
    with theirs:
        theirs.settimeout(10)
        yield line, theirs
    line.close()


def _answered(line, theirs, *answers, most=10):
    """Ask, with answers that are there before the question."""
    theirs.sendall(b"".join(answers))
    return line.call(ASK, b"", timeout=0, most=most)


def test_an_answer_comes_with_its_bytes(ends):
    answer = _answered(*ends, Frame({"id": 1, "a": 2}, b"0123456789").encode())

    assert (answer.header["a"], answer.payload) == (2, b"0123456789")


@pytest.mark.parametrize(
    "answers",
    [
        [Frame({"id": 2}).encode()],
        [Frame({}).encode()],
        [Frame({"id": 1}).encode(), Frame({"id": 2}).encode()],
        [Frame({"id": 1}, b"x" * 11).encode()],
        [Frame({"id": 1}, b"x" * 2**24).encode()[:100]],
        [b"\xff" * 100],
        [Frame({"id": 1}).encode().replace(b"{", b"[").replace(b"}", b"]")],
        [b"\x00\x01\x86\xa0" + bytes(8) + b"[" * 100_000],
    ],
    ids=["another's", "nobody's", "two", "more", "much more", "noise", "a list", "deep"],
)
def test_what_was_not_asked_for_is_an_error_and_the_end_of_the_line(ends, answers):
    with pytest.raises(SandboxError):
        _answered(*ends, *answers)
    with pytest.raises(SandboxError, match="closed"):
        ends[0].call(ASK, b"", timeout=0, most=10)


def test_a_server_that_has_ended_is_an_error(ends):
    line, theirs = ends
    theirs.shutdown(socket.SHUT_WR)

    with pytest.raises(SandboxError, match="has ended"):
        line.call(ASK, b"", timeout=0, most=0)


def test_a_server_that_is_gone_is_an_error(ends):
    line, theirs = ends
    theirs.close()

    with pytest.raises(SandboxError, match="has ended"):
        line.call(ASK, b"", timeout=0, most=0)


def test_a_server_that_says_nothing_is_given_up(ends, monkeypatch):
    monkeypatch.setattr(line_module, "GRACE", 0.0)

    with pytest.raises(SandboxTimeout):
        ends[0].call(ASK, b"", timeout=0.01, most=0)


def _serve(theirs):
    """Answer with what was asked, until nobody asks."""
    decoder = Decoder()
    while data := theirs.recv(1024):
        for request in decoder.feed(data):
            theirs.sendall(Frame(request.header, request.payload).encode())


def test_many_threads_ask_one_after_the_other(ends):
    line, theirs = ends
    server = threading.Thread(target=_serve, args=(theirs,))
    server.start()
    with ThreadPoolExecutor(8) as pool:
        asked = [b"%d" % number for number in range(200)]
        answers = pool.map(lambda data: line.call(ASK, data, timeout=0, most=10).payload, asked)
        assert list(answers) == asked
    line.close()
    server.join(10)


@contextmanager
def _asking(line, theirs):
    """Have a question that waits for its answer."""
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(line.call, ASK, b"", timeout=600, most=0)
        theirs.recv(1024)
        yield asking


def test_closing_ends_a_question(ends):
    line, theirs = ends
    with _asking(line, theirs) as asking:
        line.close()
        with pytest.raises(SandboxError):
            asking.result(10)


def test_nothing_is_quiet_while_something_is_asked(ends):
    line, theirs = ends
    with _asking(line, theirs) as asking:
        with pytest.raises(SandboxError, match="busy"), line.quiet():
            pass
        theirs.sendall(Frame({"id": 1}).encode())
        asking.result(10)
    with line.quiet():
        pass


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=getattr(pytest.mark, n)) for n in ("bubblewrap", "docker")]
)
def test_a_box_of_its_own_wall_has_a_line_if_the_kernel_limits_its_memory(name, debian_image):
    with (
        closing(open_backend(name)) as backend,
        backend.open(debian_image, WORKSPACE) as box,
    ):
        assert bool(box.line) != bool(box.host.start.watch_memory)


def _no_descriptors(monkeypatch):
    monkeypatch.setattr(ProcessTransport, "passes", False)


def _lost_descriptors(monkeypatch):
    send = ProcessTransport.send
    monkeypatch.setattr(
        ProcessTransport, "send", lambda self, data, by, fds=(): send(self, data, by)
    )


@pytest.mark.parametrize("without", [_no_descriptors, _lost_descriptors])
def test_without_a_line_all_goes_through_the_supervisor(without, host_image, monkeypatch):
    without(monkeypatch)
    with (
        closing(LocalBackend()) as backend,
        backend.open(host_image, WORKSPACE) as box,
    ):
        assert box.line is None
        assert box.exec("cat; exit 3", stdin=b"in").text == "in"
        box.write_file("new", b"data")
        assert box.read_file("new") == b"data"
        assert box.search(SearchQuery("data")).total == 1
        with pytest.raises(PathError):
            box.read_file("none")
        assert box.export()["new"].data == b"data"
        with box.fork() as other:
            assert other.read_file("new") == b"data"


@pytest.mark.bubblewrap
def test_where_several_boxes_share_a_wall_their_supervisor_sees_what_commands_use(debian_image):
    with (
        closing(open_backend("bubblewrap", capacity=Capacity(per_host=2))) as backend,
        backend.open(debian_image, WORKSPACE) as box,
    ):
        assert box.line is None


def test_a_supervisor_that_hears_nothing_is_told_that_it_is_not_forgotten(host_image):
    with (
        closing(LocalBackend()) as backend,
        backend.open(host_image, WORKSPACE) as box,
    ):
        box.host._called = before = box.host._called - box.host.start.idle_limit / 2
        box.exec("true")
        assert box.host._called > before
        called = box.host._called
        box.exec("true")
        assert box.host._called == called


def test_a_command_inherits_no_line(host_image):
    with (
        closing(LocalBackend()) as backend,
        backend.open(host_image, WORKSPACE) as box,
    ):
        found = box.exec("ls -l /proc/self/fd").text
        assert "socket" not in found

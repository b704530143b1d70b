"""What the supervisor does when things happen at the same moment."""

import os
import socket

import pytest

from codeenv.guest.boxes import Box
from codeenv.guest.spec import BoxSpec
from codeenv.guest.supervisor import Supervisor

SPEC = BoxSpec(
    box=1, mode="namespaces", layer="", workspace="/w", home="/h", temporary=("/t",), mounts=(),
    variables={}, alone=True, network=False, uid=1000, memory=0, pids=0, disk=0, entries=0,
)  # fmt: skip


@pytest.fixture
def supervisor():
    source, sink = os.pipe()
    found = Supervisor(source, sink)
    yield found
    found.selector.close()
    os.close(source)
    os.close(sink)


def test_an_answer_that_comes_with_the_close_of_its_box_is_passed_over(supervisor):
    ours, theirs = socket.socketpair()
    theirs.sendall(b"an answer")
    with ours, theirs:
        supervisor._relay(Box(SPEC, -1, ours))

        assert ours.recv(100) == b"an answer"

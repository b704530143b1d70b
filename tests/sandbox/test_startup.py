"""What every box of an image starts before anything else runs in it, on every backend."""

from dataclasses import replace

import pytest

from codeenv.errors import SandboxError
from tests.sandbox.conftest import WORKSPACE, World

SERVER = """
python3 - > /dev/null 2>&1 <<'END' &
import socket
server = socket.create_server(("127.0.0.1", {port}))
open("/tmp/listens-{port}", "w").close()
while True:
    server.accept()[0].sendall(b"hello")
END
until test -e /tmp/listens-{port}; do :; done
"""
ASK = (
    "import socket; s = socket.create_connection(('127.0.0.1', {port})); print(s.recv(5).decode())"
)


def starting(world: World, script: str) -> World:
    return World(world.backend, replace(world.image, digest="e" * 64, startup=script), world.opened)


def test_what_an_image_starts_is_there_for_every_command(walled):
    served = starting(walled, SERVER.format(port=4712))
    for _ in range(2):  # also in the next box of the same host
        box = served.open()
        assert box.exec(["python3", "-c", ASK.format(port=4712)]).text == "hello\n"
        assert box.exec("true").exit_code == 0
        assert box.exec(["python3", "-c", ASK.format(port=4712)]).text == "hello\n"
        assert box.export() == WORKSPACE
        box.close()


def test_boxes_side_by_side_have_a_server_each(walled):
    served = starting(walled, SERVER.format(port=4713))
    first, second = served.open(), served.open()
    first.close()
    assert second.exec(["python3", "-c", ASK.format(port=4713)]).text == "hello\n"


def test_a_box_whose_start_fails_is_no_box_and_leaves_nothing(world):
    broken = starting(world, "echo no server here >&2; exit 3")
    with pytest.raises(SandboxError, match="no server here"):
        broken.open()
    assert world.open().exec("true").exit_code == 0

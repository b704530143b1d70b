"""An engine on another machine (``DOCKER_HOST=tcp://…``): everything goes over one stream."""

import contextlib
import os
import socket
import threading
from contextlib import closing

import pytest

from codeenv.sandbox.select import open_backend
from tests.sandbox.conftest import LIMITS, WORKSPACE

pytestmark = pytest.mark.docker


@pytest.fixture
def remote(monkeypatch):
    """Make the engine of this machine one that is reached over TCP."""
    local = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_forward, args=(listener, local), daemon=True).start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{listener.getsockname()[1]}")
        yield
        listener.shutdown(socket.SHUT_RDWR)


def _forward(listener, local):
    with contextlib.suppress(OSError):
        while True:
            caller, _ = listener.accept()
            engine = socket.socket(socket.AF_UNIX)
            engine.connect(local)
            for one, other in ((caller, engine), (engine, caller)):
                threading.Thread(target=_pump, args=(one, other), daemon=True).start()


def _pump(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
    if source.family == socket.AF_UNIX:
        source.close()
        sink.close()


def test_boxes_of_a_remote_engine_work_and_nothing_of_this_machine_is_mounted(remote, debian_image):
    with (
        closing(open_backend("docker")) as backend,
        backend.open(debian_image, WORKSPACE, limits=LIMITS) as box,
    ):
        transport = box.host.transport
        details = backend.client().api.inspect_container(transport._container)

        assert transport._stream is transport._life
        assert not details["HostConfig"].get("Mounts")
        assert not details["HostConfig"].get("Binds")
        box.write_file("large", b"x" * 5_000_000)
        assert box.exec("wc -c < large; echo >&2 error").text == "5000000\nerror\n"
        assert set(box.export()) == {*WORKSPACE, "large"}
        with box.fork() as other:
            assert other.read_file("large") == b"x" * 5_000_000

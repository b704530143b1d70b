"""Hosts are lent, kept, replaced and ended as promised."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeenv.errors import BuildError, SandboxError
from codeenv.sandbox.base import Limits
from codeenv.sandbox.image import Image, InstallJob, Layer, Mount
from codeenv.sandbox.local import LocalBackend
from codeenv.tree import Entry, Tree
from tests.sandbox.conftest import WORKSPACE


@pytest.fixture
def backend():
    found = LocalBackend()
    yield found
    found.close()


def _host(backend, image, **options):
    with backend.open(image, WORKSPACE, **options) as box:
        return box.host


def test_other_limits_mounts_or_networks_are_other_hosts(backend, host_image):
    mount = Mount("/opt/m", WORKSPACE)
    hosts = [
        _host(backend, host_image),
        _host(backend, host_image, limits=Limits(pids=9)),
        _host(backend, host_image, mounts=[mount]),
        _host(backend, host_image, network=True),
    ]

    assert len({id(host) for host in hosts}) == 4
    assert _host(backend, host_image, mounts=[mount]) is hosts[2]


def test_unused_hosts_over_the_limit_are_ended(backend, host_image):
    backend._pool.idle = 2
    hosts = [_host(backend, host_image, limits=Limits(pids=n)) for n in range(1, 5)]

    assert [host.healthy for host in hosts] == [False, False, True, True]


def test_a_host_is_replaced_after_enough_boxes(backend, host_image):
    backend._pool.boxes = 3
    hosts = [_host(backend, host_image) for _ in range(4)]

    assert hosts[0] is hosts[1] is hosts[2]
    assert hosts[3] is not hosts[0]
    assert not hosts[0].healthy


def test_a_doubtful_host_is_not_used_again(backend, host_image):
    box = backend.open(host_image, WORKSPACE)
    box.host.healthy = False
    box.close()

    assert _host(backend, host_image) is not box.host


def test_a_command_the_host_does_not_answer_costs_the_host(backend, host_image, monkeypatch):
    box = backend.open(host_image, WORKSPACE)
    monkeypatch.setattr("codeenv.sandbox.host.GRACE", 0.1)

    with pytest.raises(SandboxError, match="does not answer"):
        box.exec("kill -STOP $PPID", timeout=0.2)
    assert not box.host.healthy
    box.close()


def test_a_host_that_died_while_unused_is_replaced(backend, host_image):
    host = _host(backend, host_image)
    os.kill(host.transport.pid, signal.SIGKILL)

    with backend.open(host_image, WORKSPACE) as box:
        assert box.host is not host
        assert box.exec("echo alive").text == "alive\n"


def test_workspaces_are_sent_once(backend, host_image):
    host = _host(backend, host_image)
    assert _host(backend, host_image) is host

    assert list(host._layers) == [WORKSPACE.digest]


def test_old_workspaces_are_forgotten(backend, host_image):
    for n in range(40):
        with backend.open(host_image, Tree({"n": Entry(str(n).encode())})) as box:
            assert box.read_file("n") == str(n).encode()

    assert len(box.host._layers) <= 33


def test_a_closed_backend_ends_its_boxes_and_opens_none(backend, host_image):
    box = backend.open(host_image, WORKSPACE)
    backend.close()
    backend.close()

    with pytest.raises(SandboxError):
        box.exec("true")
    with pytest.raises(SandboxError, match="closed"):
        backend.open(host_image, WORKSPACE)


def test_many_threads_get_boxes_of_their_own(backend, host_image):
    def episode(n):
        with backend.open(host_image, WORKSPACE) as box:
            box.write_file("n", str(n).encode())
            return int(box.exec("cat n").text)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(episode, range(32))) == list(range(32))


def test_one_host_answers_many_threads(backend, host_image):
    box = backend.open(host_image, WORKSPACE)
    started = threading.Barrier(4)

    def ask(_):
        started.wait(10)
        return [box.host.call({"op": "ping"}).header["boxes"] for _ in range(50)]

    with ThreadPoolExecutor(4) as pool:
        assert set(map(tuple, pool.map(ask, range(4)))) == {(1,) * 50}


def test_the_local_backend_installs_nothing(backend, host_image):
    with pytest.raises(BuildError, match="installs nothing"):
        backend.install(InstallJob(host_image, "true", Tree({}), "/opt/env"))


def test_the_local_backend_uses_layers_and_mounts_in_place(backend, tmp_path):
    site = tmp_path / "env/lib/python3.13/site-packages"
    site.mkdir(parents=True)
    (site / "project.pth").write_text("/workspace/src\n")
    (tmp_path / "env/bin").mkdir()
    tool = tmp_path / "env/bin/tool"
    tool.write_text("#!/bin/sh\necho tool $1 $PYTHONPATH\n")
    tool.chmod(0o755)
    layer = Layer("l", tmp_path / "env", "/opt/env")
    image = Image("d", "host", tmp_path, (layer,), {"X": "/opt/env/x"}, "/opt/env/bin/python")
    mounts = [Mount("/opt/m", Tree({"t": Entry(b"mounted")}))]

    with backend.open(image, WORKSPACE, mounts=mounts) as box:
        assert box.exec("tool a").text == f"tool a {box.workspace}/src\n"
        assert box.exec(["/opt/env/bin/tool"]).text == f"tool {box.workspace}/src\n"
        assert box.exec("echo $X").text == f"{tmp_path}/env/x\n"
        assert box.exec(["cat", "/opt/m/t"]).text == "mounted"
        assert box.exec("cat $M/t", env={"M": "/opt/m"}).text == "mounted"

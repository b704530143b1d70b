"""Hosts are lent, kept, replaced and ended as promised."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from codeenv.errors import BuildError, SandboxError
from codeenv.sandbox.base import Limits
from codeenv.sandbox.capacity import Capacity, Gate, available_memory
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


def test_a_box_has_the_memory_that_its_image_needs(backend, host_image):
    box = backend.open(replace(host_image, memory=3 * 1024**3), WORKSPACE)

    assert _key(backend).limits.memory == 3 * 1024**3
    box.close()
    other = backend.open(replace(host_image, memory=1), WORKSPACE, limits=Limits(memory=2))
    assert _key(backend).limits.memory == 2
    other.close()


def _key(backend):
    return next(place.key for place in backend._pool._places if place.live)


def test_unused_hosts_over_the_limit_are_ended(host_image):
    with closing(LocalBackend(Capacity(idle=2))) as backend:
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
    monkeypatch.setattr("codeenv.sandbox.line.GRACE", 0.1)
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


def test_boxes_share_a_host_and_a_workspace_where_that_is_asked_for(host_image):
    with closing(LocalBackend(Capacity(per_host=3))) as backend:
        boxes = [backend.open(host_image, WORKSPACE) for _ in range(4)]
        hosts = [box.host for box in boxes]

        assert [hosts.count(host) for host in dict.fromkeys(hosts)] == [3, 1]
        assert list(hosts[0]._layers) == [WORKSPACE.digest]
        boxes[0].write_file("own", b"")
        assert "own" not in boxes[1].export()
        boxes[0].close()
        with backend.open(host_image, WORKSPACE) as other:
            assert other.host in hosts


def test_boxes_opened_at_once_share_hosts_as_well(host_image):
    with closing(LocalBackend(Capacity(per_host=4))) as backend, ThreadPoolExecutor(16) as pool:
        boxes = list(pool.map(lambda _: backend.open(host_image, WORKSPACE), range(16)))

        assert len({id(box.host) for box in boxes}) == 4
        for box in boxes:
            box.close()


def test_a_host_that_does_not_start_fails_those_who_wait_for_it_with_its_reason(host_image):
    starting, fail = threading.Barrier(2), threading.Event()

    def start(key):
        starting.wait(10)
        fail.wait(10)
        raise SandboxError("no host today")

    backend = LocalBackend(Capacity(per_host=2))
    backend._pool.start = start
    with closing(backend), ThreadPoolExecutor(2) as pool:
        first = pool.submit(backend.open, host_image, WORKSPACE)
        starting.wait(10)
        starting.reset()
        second = pool.submit(backend.open, host_image, WORKSPACE)
        fail.set()
        with pytest.raises(SandboxError, match="no host today"):
            first.result(10)
        starting.wait(10)  # the second one tries for itself
        with pytest.raises(SandboxError, match="no host today"):
            second.result(10)


def test_a_box_that_fails_on_a_shared_host_spares_its_neighbour(host_image):
    with closing(LocalBackend(Capacity(per_host=2))) as backend:
        first, second = (backend.open(host_image, WORKSPACE) for _ in range(2))
        with pytest.raises(SandboxError):
            first.exec("kill -9 $PPID; sleep 5")
        first.close()

        assert second.exec("echo alive").text == "alive\n"
        with backend.open(host_image, WORKSPACE) as third:
            assert third.host is not second.host, "nobody new comes to a host in doubt"
        second.close()
        assert second.host.lost


def test_one_box_more_than_there_is_room_for_waits_until_another_is_closed(host_image):
    with closing(LocalBackend(Capacity(boxes=1))) as backend, ThreadPoolExecutor(1) as pool:
        first = backend.open(host_image, WORKSPACE)
        waiting = pool.submit(backend.open, host_image, WORKSPACE)
        assert not waiting.done()
        first.close()

        with waiting.result(30) as second:
            assert second.exec("echo alive").text == "alive\n"


def test_who_waits_too_long_for_room_is_told_what_is_short(host_image):
    with closing(LocalBackend(Capacity(boxes=1, patience=0.01))) as backend:
        with (
            backend.open(host_image, WORKSPACE),
            pytest.raises(SandboxError, match="1 boxes are open") as caught,
        ):
            backend.open(host_image, WORKSPACE)
        assert "concurrency" in caught.value.hint
        backend.open(host_image, WORKSPACE).close()


def test_a_box_that_does_not_come_up_gives_its_room_back(host_image):
    with closing(LocalBackend(Capacity(boxes=1, patience=0.01))) as backend:
        for _ in range(3):
            with pytest.raises(SandboxError, match="layer"):
                backend.open(host_image, Broken({}))
        backend.open(host_image, WORKSPACE).close()


class Broken(Tree):
    """A tree that no host can take."""

    @property
    def digest(self):
        raise SandboxError("no layer can be made of it")


def test_a_machine_without_memory_opens_its_first_box_only():
    gate = Gate(Capacity(memory=100, patience=0.0), available=lambda: 99)
    gate.enter()

    with pytest.raises(SandboxError, match="0 MiB of memory are left"):
        gate.enter()
    gate.leave()
    gate.enter()


def test_the_memory_that_is_available_is_what_the_kernel_says(tmp_path, monkeypatch):
    file = tmp_path / "meminfo"
    monkeypatch.setattr("codeenv.sandbox.capacity._MEMINFO", file)
    assert available_memory() is None
    file.write_text("MemTotal:  9 kB\nMemAvailable:    7 kB\n")
    assert available_memory() == 7 * 1024

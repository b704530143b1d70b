"""Engines that speak Docker's language differ: what each is asked for."""

import json
from pathlib import Path

import pytest

from codeenv.errors import BackendUnavailable
from codeenv.sandbox import docker as docker_module
from codeenv.sandbox import docker_wall
from codeenv.sandbox.base import Limits
from codeenv.sandbox.docker import DockerBackend
from codeenv.sandbox.docker_client import limits_memory
from codeenv.sandbox.docker_wall import Wall
from codeenv.sandbox.image import Image
from codeenv.sandbox.pool import HostKey
from codeenv.tree import Tree

DOCKER = {
    "NCPU": 2, "Driver": "overlay2", "CgroupVersion": "1", "ServerVersion": "20.10.24+dfsg1",
    "SecurityOptions": ["name=seccomp,profile=default"],
    "Runtimes": {"runc": {"path": "runc"}, "io.containerd.runc.v2": {"path": "runc"}},
}  # fmt: skip
APPARMOR = {**DOCKER, "CgroupVersion": "2", "SecurityOptions": ["name=apparmor", "name=cgroupns"]}
ROOTLESS = {
    **DOCKER, "SecurityOptions": ["name=seccomp,profile=default", "name=rootless"],
    "CgroupDriver": "none", "MemoryLimit": False, "PidsLimit": False, "CpuCfsQuota": False,
}  # fmt: skip
REMAPPED = {**DOCKER, "SecurityOptions": ["name=userns"]}
PODMAN = {
    "NCPU": 2, "Driver": "overlay", "CgroupVersion": "1", "ServerVersion": "4.3.1",
    "BuildahVersion": "1.28.0", "Rootless": False,
    "SecurityOptions": ["name=seccomp,profile=default"],
    "Runtimes": {"crun": {"path": "/usr/bin/crun"}, "runc": {"path": "/usr/bin/runc"}},
}  # fmt: skip
IMAGE = Image("digest", "base", None, ())
KEY = HostKey.of(IMAGE, "agent", Limits(cpus=8.0, pids=100, memory=1024**3), (), False)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path))


def _options(engine, *, boxes=1, nested=True):
    return docker_wall._host_options(engine, KEY, Wall("run", nested, boxes), 1234567)


@pytest.mark.parametrize("engine", [DOCKER, APPARMOR, ROOTLESS, REMAPPED, PODMAN])
def test_no_engine_gives_a_right_or_a_network(engine):
    options = _options(engine)

    assert options["cap_drop"] == ["ALL"]
    assert options["network_mode"] == "none"
    assert options["read_only"]
    assert "no-new-privileges:true" in options["security_opt"]
    assert options["nano_cpus"] == 2 * 10**9, "no more than there are"


@pytest.mark.docker
def test_where_the_engine_limits_no_memory_the_supervisor_watches_it(
    debian_image, docker_backend, monkeypatch
):
    monkeypatch.setattr(docker_module, "limits_memory", lambda engine: limits_memory(ROOTLESS))
    limits = Limits(memory=200 * 1024**2)  # of its own: no host started before serves it
    with docker_backend.open(debian_image, Tree({}), limits=limits) as box:
        result = box.exec(["python3", "-c", "x = b'x' * 2**20 * 150; y = x + x"])

        assert (box.spec.memory, box.host.start.watch_memory) == (limits.memory, limits.memory)
        assert result.exit_code != 0


@pytest.mark.parametrize("engine", [DOCKER, {**DOCKER, "MemoryLimit": True}, PODMAN])
def test_other_engines_limit_it_themselves(engine):
    assert limits_memory(engine)


def test_docker_takes_the_profile_itself_and_podman_a_file_of_it():
    def profile(engine):
        found = [o for o in _options(engine)["security_opt"] if o.startswith("seccomp=")]
        return found[0].removeprefix("seccomp=")

    inline = json.loads(profile(DOCKER))
    assert json.loads(Path(profile(PODMAN)).read_text()) == inline
    assert inline["defaultAction"] == "SCMP_ACT_ALLOW"


def test_what_covers_proc_is_lifted_in_each_engine_s_way():
    assert "unmask=ALL" in _options(PODMAN)["security_opt"]
    assert "unmask=ALL" not in _options(DOCKER)["security_opt"]
    assert "apparmor=unconfined" in _options(APPARMOR)["security_opt"]


def test_memory_file_systems_belong_to_the_wall_s_user_where_that_can_be_said():
    assert _options(DOCKER)["tmpfs"] == {
        "/run/codeenv": "rw,exec,nosuid,nodev,uid=1234567,gid=1234567,mode=755"
    }
    assert _options(PODMAN)["tmpfs"] == {"/run/codeenv": "rw,exec,nosuid,nodev,mode=1777"}


@pytest.mark.parametrize(
    ("engine", "mapped"),
    [
        (DOCKER, False),
        (APPARMOR, False),
        (ROOTLESS, True),
        (REMAPPED, True),
        (PODMAN, False),
        ({**PODMAN, "Rootless": True}, True),
    ],
)
def test_engines_that_map_users_get_small_ones(engine, mapped):
    assert docker_wall._maps_users(engine) is mapped


def test_limits_grow_with_the_boxes_of_a_wall():
    one, four = _options(DOCKER), _options(DOCKER, boxes=4)

    assert four["mem_limit"] - one["mem_limit"] == 3 * 1024**3
    assert four["pids_limit"] == 4 * one["pids_limit"]


@pytest.mark.parametrize(
    ("engine", "isolation", "runtime", "problem"),
    [
        (PODMAN, "container", "", "Podman"),
        (DOCKER, "box", "runsc", "no runtime runsc"),
    ],
)
def test_what_an_engine_cannot_do_is_refused_at_once(
    monkeypatch, engine, isolation, runtime, problem
):
    class Client:
        closed = False

        def info(self):
            return engine

        def close(self):
            self.closed = True

    client = Client()
    monkeypatch.setattr(docker_module, "connect", lambda: client)
    with pytest.raises(BackendUnavailable, match=problem) as caught:
        DockerBackend(isolation, runtime=runtime)
    assert caught.value.hint
    assert client.closed

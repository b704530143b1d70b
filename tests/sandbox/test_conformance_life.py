"""What every backend promises about beginnings and ends: resets, kills, and leaving nothing."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import docker
import pytest

from codeenv.errors import SandboxError
from codeenv.sandbox.base import Limits
from codeenv.sandbox.capacity import Capacity
from codeenv.sandbox.docker_wall import OWNER_LABEL
from codeenv.sandbox.owner import owner
from codeenv.sandbox.select import open_backend
from codeenv.tree import Tree
from tests.sandbox.conftest import LIMITS, WORKSPACE

PLANT = r"""
echo x > planted; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit
for folder in /tmp /var/tmp /dev/shm ~; do echo x > $folder/planted; done
echo 'echo planted' > ~/.bashrc; mkdir -p ~/.config
setsid python3 - > /dev/null 2>&1 <<'END' &
import ctypes, socket, time
a = socket.socket(socket.AF_UNIX); a.bind("\0planted"); a.listen()
t = socket.create_server(("127.0.0.1", 4711))
libc = ctypes.CDLL(None)
libc.shmget(4711, 4096, 0o1666)
libc.msgget(4711, 0o1666)
open("ready", "w").close()
time.sleep(600)
END
until test -e ready; do :; done
"""
FIND = r"""
ls -A . /tmp /var/tmp /dev/shm ~ | grep -E 'planted|bashrc|config|git$'
grep -a planted /proc/net/unix; grep ':1267 ' /proc/net/tcp
tail -n +2 /proc/sysvipc/shm; tail -n +2 /proc/sysvipc/msg
ls -d /proc/[0-9]* | wc -l
"""
CHILD = """
import sys
from pathlib import Path
from codeenv.images.base import ensure_base
from codeenv.sandbox.image import Image
from codeenv.sandbox.select import open_backend
from codeenv.tree import Tree
name, marker = sys.argv[1:]
base = ensure_base("auto" if name == "docker" else "host")
image = Image(base.digest, base.digest, base.rootfs, (), python=base.interpreter)
box = open_backend(name).open(image, Tree({}))
box.exec(f"setsid sleep {marker} > /dev/null 2>&1 &")
print("ready", flush=True)
box.exec("sleep 600", timeout=600)
"""


def test_nothing_survives_a_reset(walled):
    box = walled.open()
    host = box.host
    assert box.exec(PLANT).exit_code == 0
    box.close()

    fresh = walled.open()

    assert fresh.host is host
    assert fresh.export() == WORKSPACE
    processes = fresh.exec(FIND).text.strip()
    assert processes.isdigit()
    assert int(processes) < 8


def test_a_closed_box_leaves_no_file_and_no_process_without_a_wall_too(
    local_backend, host_image, eventually
):
    box = local_backend.open(host_image, WORKSPACE)
    marker = f"3700.{os.getpid()}"
    box.exec(f"(setsid env -i $(which sleep) {marker} &) > /dev/null 2>&1; chmod 000 src")
    assert eventually(lambda: bool(_processes(f"sleep\0{marker}")))
    folder = Path(box.workspace)
    box.close()

    assert not folder.exists()
    assert not _processes(f"sleep\0{marker}")


def test_background_processes_die_with_their_box(walled, eventually):
    box = walled.open()
    marker = f"3600.{os.getpid()}"
    box.exec(f"(setsid sleep {marker} &) > /dev/null 2>&1")
    assert eventually(lambda: bool(_processes(f"sleep\0{marker}")))
    box.close()

    assert not _processes(f"sleep\0{marker}")


def test_a_box_that_is_closed_under_a_command_ends_the_call_at_once_and_spares_its_host(
    world, eventually
):
    box, marker = world.open(), f"3800.{os.getpid()}"
    host, seen = box.host, []

    def call():
        try:
            box.exec(f"sleep {marker}", timeout=600)
        except SandboxError as error:
            seen.append(str(error))

    calling = threading.Thread(target=call)
    calling.start()
    assert eventually(lambda: bool(_processes(f"sleep\0{marker}")))
    box.close()
    calling.join(30)

    assert not calling.is_alive()
    assert "closed" in seen[0]
    assert world.open().host is host


class Unlayerable(Tree):
    """A tree whose folder the kernel takes for two, so that no overlay can be made of it."""

    digest = "a:b"


def test_where_an_overlay_is_refused_the_workspace_is_a_copy(walled):
    box = walled.open(Unlayerable(WORKSPACE.entries))

    assert not box.overlay
    assert box.export() == WORKSPACE
    assert box.exec("echo x > new && bin/run && rm README.md").text == "ran\n"
    box.close()
    assert walled.open(Unlayerable(WORKSPACE.entries)).export() == WORKSPACE
    assert walled.open().overlay


def test_a_host_is_used_again_after_its_box_is_closed(world):
    first = world.open()
    host = first.host
    first.close()

    assert world.open().host is host


@pytest.mark.parametrize(
    ("name", "image"),
    [
        pytest.param("bubblewrap", "host_image", marks=pytest.mark.bubblewrap),
        pytest.param("docker", "debian_image", marks=pytest.mark.docker),
    ],
)
def test_boxes_on_one_host_keep_their_own_limits(name, image, request):
    image = request.getfixturevalue(image)
    with closing(open_backend(name, capacity=Capacity(per_host=2))) as backend:
        first, second = (backend.open(image, WORKSPACE, limits=LIMITS) for _ in range(2))
        eat = "python3 -c 'import time; x = bytearray(120 * 1024**2); time.sleep(20)' || echo $?;"
        result = first.exec("".join(f"( {eat} ) & " for _ in range(4)) + "wait -n", timeout=15)

        assert first.host is second.host
        assert "137" in result.text
        assert second.exec("echo alive; ls -d /proc/[0-9]* | wc -l").text.startswith("alive\n")
        assert "sleep" not in second.exec("cat /proc/[0-9]*/cmdline").text


@pytest.mark.docker
def test_more_processors_than_a_machine_has_are_all_it_has(docker_backend, debian_image):
    with docker_backend.open(debian_image, WORKSPACE, limits=Limits(cpus=1000.0)) as box:
        assert box.exec("echo alive").text == "alive\n"


def test_agents_and_graders_never_share_a_host(world):
    agent = world.open(role="agent")
    host = agent.host
    agent.close()

    assert world.open(role="grader").host is not host


def test_a_host_that_is_gone_is_a_sandbox_error_and_not_a_result(world):
    box = world.open()
    box.host.close()

    with pytest.raises(SandboxError):
        box.exec("true")
    box.close()
    assert world.open().exec("echo again").text == "again\n"


@pytest.mark.parametrize(
    "name", ["local", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)]
)
def test_a_killed_host_is_a_sandbox_error_and_not_a_result(name, request, host_image):
    box = request.getfixturevalue(f"{name}_backend").open(host_image, WORKSPACE)
    os.kill(box.host.transport.pid, signal.SIGKILL)

    with pytest.raises(SandboxError):
        box.exec("sleep 5")
    assert not box.host.healthy
    box.close()


@pytest.mark.docker
def test_a_killed_container_is_a_sandbox_error_and_not_a_result(docker_backend, debian_image):
    box = docker_backend.open(debian_image, WORKSPACE)
    for container in _containers(owner()):
        container.kill()

    with pytest.raises(SandboxError):
        box.exec("sleep 5")
    box.close()


def test_a_killed_tool_server_is_a_sandbox_error_and_not_a_result(local_backend, host_image):
    box = local_backend.open(host_image, WORKSPACE)

    with pytest.raises(SandboxError):
        box.exec("kill -9 $PPID; sleep 5")
    assert not box.host.healthy
    box.close()


@pytest.mark.parametrize(
    "name",
    [
        "local",
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
        pytest.param("docker", marks=pytest.mark.docker),
    ],
)
def test_a_killed_parent_leaves_no_process_and_no_container(name, eventually):
    marker = f"7200.{os.getpid()}"
    command = [sys.executable, "-c", CHILD, name, marker]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout.readline() == b"ready\n"
            identity = owner(child.pid)
            assert eventually(lambda: _processes(f"sleep\0{marker}"))
        finally:
            child.kill()

    assert eventually(lambda: not _processes(f"sleep\0{marker}"))
    if name == "docker":
        assert eventually(lambda: not _containers(identity))


def _processes(words):
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words.encode() in file.read_bytes():
                found.append(int(file.parent.name))
        except OSError:
            continue
    return found


def _containers(identity):
    client = docker.from_env()
    try:
        wanted = {"label": f"{OWNER_LABEL}={identity}"}
        return client.containers.list(filters=wanted, ignore_removed=True)
    finally:
        client.close()

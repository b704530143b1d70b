"""What dead owners left goes; what has a living owner stays."""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import docker
import pytest

from codeenv.sandbox.docker_image import ensure_base_image
from codeenv.sandbox.docker_wall import DEADLINE_LABEL, OWNER_LABEL
from codeenv.sandbox.gc import collect
from codeenv.sandbox.local import FOLDER_PREFIX, OWNER_FILE, LocalBackend
from codeenv.sandbox.owner import is_dead, owner
from tests.sandbox.conftest import WORKSPACE


@pytest.fixture
def dead_owner():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        identity = owner(child.pid)
        assert not is_dead(identity)
    return identity


def test_a_dead_process_is_dead_and_we_are_not(dead_owner):
    assert is_dead(dead_owner)
    assert not is_dead(owner())


def test_a_process_of_another_machine_or_namespace_may_live(dead_owner):
    machine, boot, _, pid, start = dead_owner.split(":")

    assert not is_dead(f"elsewhere:{boot}:1:{pid}:{start}")
    assert not is_dead(f"{machine}:{boot}:1:{pid}:{start}")
    assert is_dead(f"{machine}:another-boot:1:{pid}:{start}")


def test_nonsense_is_not_judged():
    assert not is_dead("nonsense")
    assert not is_dead("")


def test_folders_of_dead_owners_are_removed(dead_owner, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, identity in (("dead", dead_owner), ("alive", owner())):
        folder = tmp_path / f"{FOLDER_PREFIX}{name}"
        folder.mkdir()
        (folder / OWNER_FILE).write_text(identity)
    (tmp_path / f"{FOLDER_PREFIX}unmarked").mkdir()

    assert f"folder {tmp_path}/{FOLDER_PREFIX}dead" in collect()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{FOLDER_PREFIX}alive",
        f"{FOLDER_PREFIX}unmarked",
    ]
    assert f"folder {tmp_path}/{FOLDER_PREFIX}dead" not in collect()


@pytest.mark.docker
@pytest.mark.parametrize("why", ["owner", "deadline"])
def test_containers_of_dead_owners_and_past_deadlines_are_removed(why, dead_owner, debian_image):
    client = docker.from_env()
    tag = ensure_base_image(client, debian_image)
    labels = {
        OWNER_LABEL: dead_owner if why == "owner" else owner(),
        DEADLINE_LABEL: "99999999999" if why == "owner" else "1",
    }
    left = client.containers.create(tag, ["sleep", "60"], labels=labels, network_mode="none")

    assert f"container {left.short_id}" in collect()
    with pytest.raises(docker.errors.NotFound):
        client.containers.get(left.id)
    assert f"container {left.short_id}" not in collect()
    client.close()


@pytest.mark.docker
def test_containers_of_living_owners_are_spared(docker_backend, debian_image):
    with docker_backend.open(debian_image, WORKSPACE) as box:
        collect()

        assert box.exec("echo alive").text == "alive\n"


def test_a_folder_goes_with_its_supervisor_even_if_that_was_killed(host_image):
    with closing(LocalBackend()) as backend:
        box = backend.open(host_image, WORKSPACE)
        root = Path(box.host.start.root)
        assert root.is_dir()
        os.kill(box.host.transport.pid, signal.SIGKILL)
        box.close()

    assert not root.exists()

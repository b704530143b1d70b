"""Where engine and caller share a machine they talk over a socket of their own."""

import os
import socket
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from codeenv.sandbox import docker_wall
from codeenv.sandbox.door import NAME, Door
from codeenv.sandbox.local import FOLDER_PREFIX
from codeenv.sandbox.select import open_backend
from tests.sandbox.conftest import LIMITS, WORKSPACE


@pytest.fixture
def own_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def box(debian_image, own_temporary_folder):
    """A box in a container of its own."""
    with (
        closing(open_backend("docker")) as backend,
        backend.open(debian_image, WORKSPACE, limits=LIMITS) as found,
    ):
        yield found


def _left(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(FOLDER_PREFIX)]


def _is_open(box):
    transport = box.host.transport
    return transport._stream is not transport._life


def test_who_is_shown_the_door_can_come_in_once_and_nobody_after(own_temporary_folder):
    door = Door()
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.connect(str(door.folder / NAME))
        with door.accept(5) as inside:
            door.close()
            visitor.sendall(b"x")
            assert inside.recv(1) == b"x"
    assert _left(own_temporary_folder) == []
    door.close()


def test_other_users_do_not_reach_the_door():
    door = Door()
    try:
        assert os.stat(door.folder.parent).st_mode & 0o077 == 0
    finally:
        door.close()


def _talks_over_the_stream(image):
    with (
        closing(open_backend("docker")) as backend,
        backend.open(image, WORKSPACE, limits=LIMITS) as box,
    ):
        assert not _is_open(box)
        assert box.line is None
        assert box.exec("echo alive").text == "alive\n"


@pytest.mark.docker
def test_a_container_of_this_machine_comes_in_and_the_door_is_shut(box, own_temporary_folder):
    assert _is_open(box)
    assert _left(own_temporary_folder) == []
    assert box.exec("echo through; ls /run").text == "through\n"
    assert box.export() == WORKSPACE


@pytest.mark.docker
def test_large_files_pass_the_door(debian_image, docker_backend):
    data = os.urandom(40 * 1024**2)
    with docker_backend.open(debian_image, WORKSPACE) as box:
        box.write_file("large", data)

        assert box.read_file("large", limit=len(data)) == data


@pytest.mark.docker
@pytest.mark.parametrize("problem", ["the engine sees another folder", "the engine sees none"])
def test_an_engine_on_another_machine_is_talked_to_through_its_stream(
    problem, debian_image, own_temporary_folder, monkeypatch
):
    class Elsewhere(Door):
        def __init__(self):
            super().__init__()
            self.folder = own_temporary_folder / "elsewhere"
            if problem == "the engine sees another folder":
                self.folder.mkdir(exist_ok=True)

    monkeypatch.setattr(docker_wall, "Door", Elsewhere)
    _talks_over_the_stream(debian_image)
    assert _left(own_temporary_folder) == []


@pytest.mark.docker
def test_where_no_door_can_be_made_the_stream_serves(debian_image, monkeypatch):
    def none():
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr(docker_wall, "Door", none)
    _talks_over_the_stream(debian_image)


def test_a_door_behind_a_long_path_is_an_error_that_leaves_nothing(tmp_path, monkeypatch):
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))

    with pytest.raises(OSError, match="path too long"):
        Door()
    assert list(Path(long).iterdir()) == []

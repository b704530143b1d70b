"""Memory limits that the kernel keeps."""

import os
import subprocess
from pathlib import Path

import pytest

from codeenv.sandbox import cgroup
from codeenv.sandbox.cgroup import MemoryGroup, collect_groups
from codeenv.sandbox.owner import owner
from codeenv.tree import Tree

needs_right = pytest.mark.skipif(
    not cgroup.can_limit_memory(), reason="this user may not make control groups here"
)
EAT = "import os; x = bytearray(400 * 1024**2); print(len(x))"


@pytest.fixture
def group():
    found = MemoryGroup.make(64 * 1024**2)
    assert found is not None
    yield found
    found.remove()
    assert not found.folder.exists()


@needs_right
def test_a_process_in_a_group_dies_at_its_limit(group):
    command = group.command(["python3", "-c", EAT])
    done = subprocess.run(command, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (-9, "")
    assert group.kills() == 1


@needs_right
def test_a_process_below_the_limit_lives(group):
    command = group.command(["python3", "-c", EAT.replace("400", "100")])

    assert subprocess.run(command, capture_output=True).returncode == 0
    assert group.kills() == 0


@needs_right
def test_groups_of_dead_owners_are_collected_and_of_living_ones_not(group):
    with subprocess.Popen(["true"]) as child:
        identity = owner(child.pid)
    left = group.folder.with_name(f"codeenv-{identity}-00000000")
    left.mkdir()

    assert f"control group {left.name}" in list(collect_groups())
    assert group.folder.is_dir()


@pytest.mark.bubblewrap
@needs_right
def test_a_wall_lives_in_a_group_that_goes_with_it(bubblewrap_backend, host_image):
    with bubblewrap_backend.open(host_image, Tree({})) as box:
        folder = box.host.transport.group.folder
        box.exec("true")
        assert len((folder / "cgroup.procs").read_text().split()) >= 3
        box.host.close()
    assert not folder.exists()


def test_without_the_right_there_is_no_group(monkeypatch, tmp_path):
    for name in ("_VERSION_1", "_VERSION_2"):
        monkeypatch.setattr(cgroup, name, tmp_path / "nothing")

    assert MemoryGroup.make(1) is None
    assert list(collect_groups()) == []


def test_version_2_groups_have_its_files(monkeypatch, tmp_path):
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    monkeypatch.setattr(cgroup, "_VERSION_1", tmp_path / "nothing")
    monkeypatch.setattr(cgroup, "_VERSION_2", tmp_path)
    made = Path.mkdir

    def mkdir(self, *arguments, **options):
        made(self, *arguments, **options)
        for name in ("memory.max", "memory.swap.max"):
            (self / name).write_text("max")
        (self / "memory.events").write_text("low 0\noom 2\noom_kill 1\noom_group_kill 0\n")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    group = MemoryGroup.make(1000)

    assert group.folder.parent == tmp_path
    assert int((group.folder / "memory.max").read_text()) == 1000 + 128 * 1024**2
    assert (group.folder / "memory.swap.max").read_text() == "0"
    assert group.kills() == 1


def test_version_2_without_the_controller_makes_no_group(monkeypatch, tmp_path):
    (tmp_path / "cgroup.subtree_control").write_text("cpu pids\n")
    monkeypatch.setattr(cgroup, "_VERSION_1", tmp_path / "nothing")
    monkeypatch.setattr(cgroup, "_VERSION_2", tmp_path)

    assert MemoryGroup.make(1000) is None
    assert os.listdir(tmp_path) == ["cgroup.subtree_control"]

"""What every wall promises about a build box: it is where hostile build code runs."""

import dataclasses
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import docker
import pytest

from codeenv.errors import BuildError
from codeenv.sandbox import install_bubblewrap, install_docker
from codeenv.sandbox.gc import collect
from codeenv.sandbox.image import InstallJob
from codeenv.sandbox.local import FOLDER_PREFIX
from codeenv.tree import Entry, Tree

INSTALL = {"bubblewrap": install_bubblewrap.install, "docker": install_docker.install}


@pytest.fixture(
    params=[
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
        pytest.param("docker", marks=pytest.mark.docker),
    ]
)
def run(request, debian_image):
    """Run a script in a build box, and check that nothing of it is left afterwards."""
    before = left_behind()

    def run(script, **changes):
        job = InstallJob(debian_image, script, Tree({}), "/opt/env", timeout=60)
        return INSTALL[request.param](dataclasses.replace(job, **changes))

    yield run
    assert left_behind() <= before


def left_behind():
    folders = {str(p) for p in Path("/tmp").glob(f"{FOLDER_PREFIX}build-*")}
    try:
        client = docker.from_env()
    except docker.errors.DockerException:
        return folders
    found = client.containers.list(all=True, filters={"label": "codeenv.owner"})
    images = {c.id for c in found if "/build/install.sh" in str(c.attrs.get("Args", ""))}
    client.close()
    return folders | images


def test_the_output_folder_comes_back_with_modes_and_links(run):
    result = run(
        "mkdir -p /opt/env/bin; echo hi > /opt/env/a; printf x > /opt/env/bin/run;"
        "chmod 755 /opt/env/bin/run; ln -s run /opt/env/bin/again"
    )
    assert result.exit_code == 0, result.log
    assert dict(result.tree) == {
        "a": Entry(b"hi\n"),
        "bin/again": Entry(b"run", "link"),
        "bin/run": Entry(b"x", "exec"),
    }


def test_inputs_variables_and_certificates_are_there(run):
    result = run(
        'cat wheels/a.txt; echo "$SETTING"; cat /run/codeenv/ca.pem; pwd',
        inputs=Tree({"wheels/a.txt": Entry(b"one\n")}),
        env={"SETTING": "two words"},
        ca_bundle=b"three\n",
    )
    assert result.log.splitlines() == ["one", "two words", "three", "/build"]


def test_variables_of_the_host_are_not(run, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "do-not-show")
    assert "do-not-show" not in run("env").log


def test_the_first_failing_command_ends_it_and_nothing_is_kept(run):
    result = run("echo x > /opt/env/a; echo before; false; echo after")
    assert result.exit_code == 1
    assert result.log == "before\n"
    assert not result.tree


def test_the_deadline_ends_every_process_and_keeps_the_log(run):
    result = run("echo started; sleep 300 & sleep 300", timeout=2)
    assert result.exit_code == 124
    assert "started" in result.log
    assert not result.tree


def test_a_background_process_does_not_hold_it_open(run):
    assert run("sleep 300 & echo done").log == "done\n"


def test_it_has_no_rights(run):
    log = run("id -u; grep -E '^(CapEff|CapPrm|NoNewPrivs)' /proc/self/status").log
    uid, *lines = log.splitlines()
    facts = dict(line.split(":\t") for line in lines)
    assert uid != "0"
    assert facts == {"CapPrm": "0" * 16, "CapEff": "0" * 16, "NoNewPrivs": "1"}


def test_the_system_is_not_writable_for_it(run):
    log = run(
        "for d in / /usr /etc /usr/bin; do touch $d/x 2> /dev/null && echo $d; done; true"
    ).log
    assert log == ""


def test_files_of_the_host_are_not_readable(run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("do-not-show")
    os.chmod(secret, 0o644)
    assert "do-not-show" not in run(f"cat {secret} 2>&1 || true").log


def test_the_network_is_there(run):
    script = (
        "python3 -c \"import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen();"
        ' c = socket.create_connection(s.getsockname()); print(c.getpeername()[0])"'
    )
    assert run(script).log == "127.0.0.1\n"


def test_it_can_make_a_virtual_environment(run):
    result = run(
        "/usr/bin/python3 -m venv --without-pip /opt/env; /opt/env/bin/python -c 'print(1)'"
    )
    assert result.log == "1\n"
    assert result.tree["bin/python3"] == Entry(b"/usr/bin/python3", "link")


def test_there_is_no_installer_in_the_base(run):
    log = run(
        "python3 -c 'import pip' 2>&1 || true; python3 -c 'import ensurepip' 2>&1 || true"
    ).log
    assert log.count("ModuleNotFoundError") == 2


def test_a_long_log_keeps_its_end(run):
    result = run("for i in $(seq 40000); do echo line $i $i $i $i $i; done; echo the end")
    assert result.log.endswith("the end\n")
    assert len(result.log) < 1_000_000


def test_links_out_come_back_as_links_and_are_not_followed(run):
    assert run("ln -s /etc/passwd /opt/env/x").tree["x"] == Entry(b"/etc/passwd", "link")


def test_special_files_are_not_followed(run):
    try:
        assert "pipe" not in run("mkfifo /opt/env/pipe; touch /opt/env/a").tree
    except BuildError as error:
        assert "cannot be read back" in str(error)  # noqa: PT017 - either is safe


_KILLED = """\
from pathlib import Path
from codeenv.sandbox.image import Image, InstallJob
from codeenv.sandbox.install_bubblewrap import install
from codeenv.tree import Tree

image = Image("d", "d", Path({rootfs!r}), ())
install(InstallJob(image, "exec sleep 4242", Tree({{}}), "/opt/env"))
"""


@pytest.mark.bubblewrap
def test_a_build_dies_with_its_owner_and_its_folder_is_collected(debian_image):
    before = left_behind()
    script = _KILLED.format(rootfs=str(debian_image.rootfs))
    owner = subprocess.Popen([sys.executable, "-c", script])
    wait_until(lambda: sleepers())
    owner.kill()
    owner.wait()
    wait_until(lambda: not sleepers())
    collect()
    assert left_behind() <= before


def sleepers():
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if file.read_bytes() == b"sleep\x004242\x00":
                found.append(file)
    return found


def wait_until(true, *, seconds=20.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end


@pytest.mark.bubblewrap
def test_nothing_can_be_installed_on_the_host_itself(host_image):
    with pytest.raises(BuildError, match="host base"):
        install_bubblewrap.install(InstallJob(host_image, "true", Tree({}), "/opt/env"))

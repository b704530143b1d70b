"""The shell around the tests: a daemon of our own is stopped whatever happens."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
# A daemon that answers while its file exists, and removes it when it is told to stop.
DAEMON = """#!/bin/sh
trap 'rm -f "$STATE/up"; exit 0' TERM
echo "$@" >> "$STATE/started"
if [ "$FAIL" = "$#" ]; then exit 1; fi
touch "$STATE/up"
while :; do sleep 0.05; done
"""
CLIENT = """#!/bin/sh
test -e "$STATE/up"
"""

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root starts daemons")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine whose Docker is ours; returns the folder that shows its state."""
    for name, text in (("dockerd", DAEMON), ("docker", CLIENT)):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("STATE", str(tmp_path))
    monkeypatch.setenv("FAIL", "none")
    return tmp_path


def with_docker(*command):
    return [sys.executable, str(SCRIPTS / "with_docker.py"), *command]


def test_a_daemon_is_started_for_the_command_and_stopped_after_it(machine):
    done = subprocess.run(with_docker("docker", "version"), timeout=60, check=False)

    assert done.returncode == 0
    assert not (machine / "up").exists()


def test_the_exit_status_is_the_commands(machine):
    done = subprocess.run(with_docker("sh", "-c", "exit 7"), timeout=60, check=False)

    assert done.returncode == 7
    assert not (machine / "up").exists()


def test_a_daemon_that_answers_is_used_and_left_alone(machine):
    (machine / "up").touch()

    subprocess.run(with_docker("true"), timeout=60, check=True)

    assert not (machine / "started").exists()
    assert (machine / "up").exists()


def test_a_daemon_that_does_not_start_is_tried_with_plainer_settings(machine, monkeypatch):
    monkeypatch.setenv("FAIL", "0")

    subprocess.run(with_docker("docker", "version"), timeout=60, check=True)

    assert "--bridge=none" in (machine / "started").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_daemon_is_stopped_when_the_run_is(machine, number):
    if number == signal.SIGKILL and not shutil.which("setpriv"):
        pytest.skip("no setpriv")
    command = with_docker("sh", "-c", 'touch "$STATE/running"; exec sleep 60')
    with subprocess.Popen(command, start_new_session=True) as process:
        try:
            _until((machine / "running").exists)
            if number == signal.SIGINT:
                os.killpg(process.pid, number)  # as a terminal does: to all in the foreground
            else:
                os.kill(process.pid, number)
            process.wait(30)
            _until(lambda: not (machine / "up").exists())
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _until(holds):
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        os.sched_yield()

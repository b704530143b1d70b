"""One machine to break things on: what is on it before must be all that is on it after."""

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest

from codeenv.env.runtime import Runtime
from codeenv.guest.processes import descendants
from codeenv.sandbox.docker_wall import OWNER_LABEL
from codeenv.sandbox.local import FOLDER_PREFIX, OWNER_FILE
from codeenv.sandbox.owner import owner
from codeenv.tasks.taskset import Taskset
from codeenv_harness.agents.oracle import solution_calls

WALLS = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]
SUBMIT = {"tool": "submit", "arguments": {}}


def run(command, timeout=60):
    """Return the action that runs a command."""
    return {"tool": "run_command", "arguments": {"command": command, "timeout": timeout}}


@dataclass
class Stage:
    """A runtime on one kind of wall, and the toy task that is played."""

    name: str
    runtime: Runtime

    def __post_init__(self):
        self.taskset = Taskset.load("toy")
        self.task = self.runtime.task(self.taskset.recipes[0], self.taskset)

    def begin(self, **options):
        return self.runtime.open(self.task, **options)

    def solve(self, episode):
        """Play the oracle; return the outcome."""
        for call in solution_calls(self.task):
            episode.call(call)
        return episode.outcome

    def containers(self):
        return _containers()

    def kill_host(self, episode):
        """End the wall of an episode, as an out-of-memory killer or a person might."""
        transport = episode.sandbox.host.transport
        if self.name == "docker":
            transport._api.kill(transport._container)
        else:
            for pid in [transport.pid, *descendants(transport.pid)]:
                _kill(pid)


@pytest.fixture(params=WALLS)
def stage(request):
    """A stage on every wall; whatever a test does, nothing is left on the machine."""
    before = _machine()
    with Runtime(request.param) as runtime:
        yield Stage(request.param, runtime)
    assert _machine() == before


def _machine():
    """Return what of ours could be left behind: processes, containers, mounts, folders."""
    places = Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*/{OWNER_FILE}")
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return {
        "processes": len(descendants(os.getpid())),
        "containers": _containers(),
        "mounts": sum("codeenv" in mount for mount in mounts),
        "folders": sorted(str(p) for p in places if p.read_text() == owner()),
    }


def _containers():
    if not Path("/var/run/docker.sock").exists() and "DOCKER_HOST" not in os.environ:
        return []
    client = docker.from_env()
    try:
        wanted = {"label": f"{OWNER_LABEL}={owner()}"}
        found = client.containers.list(all=True, filters=wanted, ignore_removed=True)
        return sorted(container.id for container in found)
    finally:
        client.close()


def _kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 9)

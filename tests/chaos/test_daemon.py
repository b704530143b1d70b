"""A Docker daemon that is stopped and started again: an own one, so that no other test notices."""

import gc
import os
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import docker
import pytest

from codeenv.env.runtime import Runtime
from codeenv.errors import BackendUnavailable, SandboxError
from tests.chaos.conftest import Stage, run

pytestmark = pytest.mark.docker
_PATIENCE = 60


@pytest.fixture
def own_daemon(monkeypatch):
    """A daemon in namespaces of its own; ``DOCKER_HOST`` names it."""
    folder = Path(tempfile.mkdtemp())
    host = f"unix://{folder}/docker.sock"
    monkeypatch.setenv("DOCKER_HOST", host)
    with subprocess.Popen(["unshare", "--net", "--mount", "sleep", "infinity"]) as namespace:
        daemon = _Daemon(folder, host, namespace.pid)
        try:
            daemon.start()
            yield daemon
            daemon.stop()
        finally:
            namespace.kill()
            subprocess.run(["rm", "-rf", folder], check=True)


class _Daemon:
    def __init__(self, folder, host, namespace):
        self.folder, self.host, self.namespace = folder, host, namespace

    def start(self):
        command = [
            *("nsenter", "--net", "--mount", f"--target={self.namespace}"),
            *("dockerd", "--iptables=false", "--ip6tables=false"),
            "--shutdown-timeout=1",
            f"--host={self.host}",
            f"--pidfile={self.folder}/pid",
            f"--data-root={self.folder}/data",
            f"--exec-root={self.folder}/exec",
        ]
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, "PATH": path}
            )
        deadline = time.monotonic() + _PATIENCE
        while not self.answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
            assert time.monotonic() < deadline, "the daemon does not answer"
            os.sched_yield()

    def answers(self):
        asked = subprocess.run(["docker", "--host", self.host, "version"], capture_output=True)
        return asked.returncode == 0

    @contextmanager
    def client(self):
        client = docker.DockerClient(base_url=self.host, version="1.41")
        try:
            yield client
        finally:
            client.close()

    def stop(self):
        self.process.terminate()
        self.process.wait(_PATIENCE)


@pytest.mark.filterwarnings(  # the SDK leaves a socket that it could not connect to the collector
    "ignore:unclosed <socket:ResourceWarning"
)
def test_a_daemon_that_is_restarted_costs_no_wrong_reward_and_leaves_nothing(own_daemon):
    with Runtime("docker") as runtime:
        stage = Stage("docker", runtime)
        episode = stage.begin()
        assert episode.call(run("echo on")).text.startswith("on")
        own_daemon.stop()
        outcome = stage.solve(episode)

        assert (outcome.reason, outcome.reward_valid) == ("infra_error", False)
        with pytest.raises((SandboxError, BackendUnavailable)):
            stage.begin()
        own_daemon.start()
        assert stage.solve(stage.begin()).reward == 1.0
    with own_daemon.client() as client:
        assert client.containers.list(all=True) == []
    gc.collect()  # these sockets, while they are passed over

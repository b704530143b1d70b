"""The ``docker`` backend: the production wall, also for rootless Docker and Podman's socket."""

import os
import threading
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import docker

from codeenv.errors import SandboxError
from codeenv.guest.spec import BoxSpec, Mode
from codeenv.sandbox.base import Limits, Role
from codeenv.sandbox.box import Box
from codeenv.sandbox.capacity import DEFAULT_CAPACITY, Capacity
from codeenv.sandbox.docker_client import connect
from codeenv.sandbox.docker_image import ensure_image
from codeenv.sandbox.docker_wall import start_wall
from codeenv.sandbox.host import Host, Start
from codeenv.sandbox.image import Image, InstallJob, InstallResult, Mount
from codeenv.sandbox.install_docker import install
from codeenv.sandbox.pool import DEFAULT_LIMITS, HostKey, HostPool
from codeenv.sandbox.walled import LAYERS, walled_spec
from codeenv.tree import Tree

Isolation = Literal["box", "container"]
_HINT = (
    "this machine does not let a container make namespaces of its own; use a container per episode:"
    ' open_backend("docker", isolation="container")'
)


class DockerBackend:
    """Boxes in namespaces below a container, or a container per box.

    Attributes:
        isolation: ``box``: many boxes one after the other in one container, each in namespaces of
            its own; ``container``: a fresh container for every box, where nesting is refused.
    """

    name: Literal["docker", "bubblewrap", "local"] = "docker"

    def __init__(self, isolation: Isolation = "box", capacity: Capacity = DEFAULT_CAPACITY) -> None:
        """Connect to the engine.

        Args:
            isolation: See the class.
            capacity: How many boxes there may be.

        Raises:
            BackendUnavailable: If none answers.
        """
        self.isolation = isolation
        self._lock = threading.Lock()
        self._client, self._process = connect(), os.getpid()
        self._run = uuid.uuid4().hex[:12]
        if isolation == "container":
            capacity = replace(capacity, per_host=1)
        boxes = HostPool.boxes if isolation == "box" else 1
        self._shared = capacity.per_host
        self._pool = HostPool(self._start, capacity, boxes)

    def open(
        self,
        image: Image,
        workspace: Tree,
        *,
        role: Role = "agent",
        limits: Limits = DEFAULT_LIMITS,
        mounts: Sequence[Mount] = (),
        network: bool = False,
    ) -> Box:
        """See ``Backend.open``."""
        key = HostKey.of(image, role, limits, mounts, network)
        nested = self.isolation == "box"

        def describe(host: Host, number: int) -> BoxSpec:
            memory = key.limits.memory if self._shared > 1 else 0
            mode: Mode = "namespaces" if nested else "plain"
            return walled_spec(key, number, memory=memory, mode=mode)

        try:
            return self._pool.open(key, workspace, mounts, describe)
        except SandboxError as error:
            if nested and "did not come up" in error.message:
                raise SandboxError(error.message, hint=_HINT) from error
            raise

    def install(self, job: InstallJob) -> InstallResult:
        """See ``Backend.install``."""
        return install(job)

    def close(self) -> None:
        """See ``Backend.close``."""
        self._pool.close()
        self._client.close()

    def client(self) -> docker.DockerClient:
        """Return this process's client (a fork must not share its parent's connections)."""
        with self._lock:
            if os.getpid() != self._process:
                self._client, self._process = connect(), os.getpid()
            return self._client

    def _start(self, key: HostKey) -> Host:
        client = self.client()
        tag = ensure_image(client, key.image)
        nested = self.isolation == "box"
        wall = start_wall(client, tag, key, nested=nested, boxes=self._shared, run=self._run)
        watched = key.limits.memory if self._shared > 1 else 0
        return Host(wall, Start(LAYERS, hidden=not nested, watch_memory=watched))

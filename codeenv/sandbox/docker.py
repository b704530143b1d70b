"""The ``docker`` backend: the production wall, also for rootless Docker and Podman's socket."""

import os
import threading
import uuid
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import docker

from codeenv.errors import BackendUnavailable, NoPairs, SandboxError
from codeenv.guest.spec import BoxSpec, Mode
from codeenv.sandbox.base import Limits, Role
from codeenv.sandbox.box import Box
from codeenv.sandbox.capacity import DEFAULT_CAPACITY, Capacity
from codeenv.sandbox.docker_client import connect, engine_errors, limits_memory
from codeenv.sandbox.docker_image import ensure_image
from codeenv.sandbox.docker_wall import Wall, is_podman, start_wall
from codeenv.sandbox.host import Host, Start
from codeenv.sandbox.image import ForkServer, Image, InstallJob, InstallResult, Mount
from codeenv.sandbox.install_docker import install
from codeenv.sandbox.pool import HostKey, HostPool
from codeenv.sandbox.values import DEFAULT_LIMITS
from codeenv.sandbox.variables import base_variables
from codeenv.sandbox.walled import LAYERS, walled_spec
from codeenv.tree import Tree

Isolation = Literal["box", "container"]
_HINT = (
    "this machine lets no container make namespaces of its own; use a container per episode: "
    '--docker-isolation container, or open_backend("docker", isolation="container")'
)

_NO_PAIRS = "a container of its own per box walls no two boxes off that talk to each other"
_PAIRS_HINT = "use the isolation box, or grade with --tier guarded"


class DockerBackend:
    """Boxes in namespaces below a container, or a container per box.

    Attributes:
        isolation: ``box``: many boxes one after the other in one container, each in namespaces of
            its own; ``container``: a fresh container for every box, where nesting is refused.
    """

    name: Literal["docker", "bubblewrap", "local"] = "docker"

    def __init__(
        self,
        isolation: Isolation = "box",
        capacity: Capacity = DEFAULT_CAPACITY,
        runtime: str = "",
    ) -> None:
        """Connect to the engine.

        Args:
            isolation: See the class.
            capacity: How many boxes there may be.
            runtime: One of the engine's (``runsc``, ``kata`` …); "" for its default.

        Raises:
            BackendUnavailable: If none answers, or it has no such runtime.
        """
        self.isolation = isolation
        self._lock = threading.Lock()
        self._client, self._process = connect(), os.getpid()
        if runtime or isolation == "container":
            self._check(isolation, runtime)
        if isolation == "container":
            capacity = replace(capacity, per_host=1)
        boxes = HostPool.boxes if isolation == "box" else 1
        self._wall = Wall(uuid.uuid4().hex[:12], isolation == "box", capacity.per_host, runtime)
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
        fork_server: ForkServer | None = None,
    ) -> Box:
        """See ``Backend.open``."""
        key = HostKey.of(image, role, limits, mounts, network, fork_server)
        try:
            return self._pool.open(key, workspace, mounts, partial(self._describe, key))
        except SandboxError as error:
            if self._wall.nested and "did not come up" in error.message:
                raise SandboxError(error.message, hint=_HINT) from error
            raise

    @property
    def pairs(self) -> bool:
        """Whether boxes are walled off from each other."""
        return self._wall.nested

    def open_pair(
        self,
        image: Image,
        workspaces: tuple[Tree, Tree],
        *,
        role: Role,
        fork_server: ForkServer | None = None,
    ) -> tuple[Box, Box]:
        """See ``Backend.open_pair``."""
        if not self._wall.nested:
            raise NoPairs(_NO_PAIRS, hint=_PAIRS_HINT)
        key = HostKey.of(image, role, DEFAULT_LIMITS, (), False, fork_server)
        return self._pool.open_pair(key, workspaces, partial(self._describe, key))

    def prefetch(self, image: Image, *, role: Role, fork_server: ForkServer | None = None) -> None:
        """See ``Backend.prefetch``."""
        key = HostKey.of(image, role, DEFAULT_LIMITS, (), False, fork_server)
        self._pool.prefetch(key, base_variables(image))

    def install(self, job: InstallJob) -> InstallResult:
        """See ``Backend.install``."""
        return install(job, self._wall.runtime)

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

    def _describe(self, key: HostKey, host: Host, number: int) -> BoxSpec:
        mode: Mode = "namespaces" if self._wall.nested else "plain"
        return walled_spec(key, number, memory=host.start.watch_memory, mode=mode)

    def _start(self, key: HostKey) -> Host:
        client = self.client()
        tag = ensure_image(client, key.image)
        with engine_errors("cannot ask the Docker engine"):
            engine = client.info()
        wall = start_wall(client, engine, tag, key, self._wall)
        shared = self._wall.boxes > 1  # then a container's limit is of several boxes
        watched = key.limits.memory if shared or not limits_memory(engine) else 0
        return Host(wall, Start(LAYERS, watch_memory=watched))

    def _check(self, isolation: Isolation, runtime: str) -> None:
        """Refuse what the engine cannot do."""
        with engine_errors("cannot ask the Docker engine"):
            engine = self._client.info()
        known = sorted(engine.get("Runtimes") or ())
        problem = hint = ""
        if runtime and runtime not in known:
            problem = f"the Docker engine has no runtime {runtime}"
            hint = f"install and register it; the engine has {', '.join(known)}"
        elif isolation == "container" and is_podman(engine):
            problem = "Podman gives no folders to the user of a container of its own per episode"
            hint = "leave the isolation at box, which works there"
        if problem:
            self._client.close()
            raise BackendUnavailable(problem, hint=hint)

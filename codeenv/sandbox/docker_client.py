"""Talking to a Docker engine: one client per process, errors in our words."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException

from codeenv.errors import BackendUnavailable, SandboxError

_DEFAULT = "unix:///var/run/docker.sock"
_PATIENCE = 10.0
_HINT = "start Docker and make sure this user may use it, or use bubblewrap"


def connect() -> docker.DockerClient:
    """Return a client of the engine the environment names (``DOCKER_HOST``), or the local one.

    Raises:
        BackendUnavailable: If none answers.
    """
    try:
        _knock()
        return docker.from_env(max_pool_size=64)
    except (DockerException, requests.RequestException, OSError) as error:
        raise BackendUnavailable(f"no Docker engine answers: {error}", hint=_HINT) from error


def _knock() -> None:
    """Connect once by ourselves: where nobody listens, the SDK would leave a socket open."""
    where = os.environ.get("DOCKER_HOST") or _DEFAULT
    if where.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(_PATIENCE)
            door.connect(where.removeprefix("unix://"))


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turn the engine's errors into ours."""
    try:
        yield
    except APIError as error:
        raise SandboxError(f"{doing}: {error.explanation or error}") from error
    except (DockerException, requests.RequestException) as error:
        raise SandboxError(f"{doing}: {error}") from error


def limits_memory(engine: dict[str, Any]) -> bool:
    """Return whether an engine, by what it says of itself, gives containers a memory limit.

    A rootless one does not on cgroup v1, and only warns.
    """
    return bool(engine.get("MemoryLimit", True))

"""Talking to a Docker engine: one client per process, errors in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

import docker
import requests
from docker.errors import APIError, DockerException

from codeenv.errors import BackendUnavailable, SandboxError

_HINT = "start Docker and make sure this user may use it, or use bubblewrap"


def connect() -> docker.DockerClient:
    """Return a client of the engine the environment names (``DOCKER_HOST``), or the local one.

    Raises:
        BackendUnavailable: If none answers.
    """
    try:
        return docker.from_env(max_pool_size=64)
    except (DockerException, requests.RequestException) as error:
        raise BackendUnavailable(f"no Docker engine answers: {error}", hint=_HINT) from error


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turn the engine's errors into ours."""
    try:
        yield
    except APIError as error:
        raise SandboxError(f"{doing}: {error.explanation or error}") from error
    except (DockerException, requests.RequestException) as error:
        raise SandboxError(f"{doing}: {error}") from error

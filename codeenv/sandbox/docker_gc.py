"""Removing the containers that dead owners left."""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing

from docker.errors import APIError

from codeenv.errors import BackendUnavailable
from codeenv.sandbox.docker_client import connect, engine_errors
from codeenv.sandbox.docker_wall import DEADLINE_LABEL, OWNER_LABEL
from codeenv.sandbox.owner import is_dead


def collect_containers() -> Iterator[str]:
    """Remove containers whose owner is dead or whose time is up; yield what was removed.

    Without an engine there is nothing to remove.

    Raises:
        SandboxError: If the engine refuses.
    """
    try:
        client = connect()
    except BackendUnavailable:
        return
    with closing(client), engine_errors("cannot collect containers"):
        wanted: dict[str, str | list[str] | bool] = {"label": OWNER_LABEL}
        for container in client.containers.list(all=True, filters=wanted, ignore_removed=True):
            if not _is_over(container.labels):
                continue
            try:
                container.remove(force=True, v=True)
            except APIError:  # it went by itself meanwhile
                continue
            yield f"container {container.short_id}"


def _is_over(labels: Mapping[str, str]) -> bool:
    deadline = labels.get(DEADLINE_LABEL, "")
    past = deadline.isdigit() and int(deadline) < time.time()
    return past or is_dead(labels[OWNER_LABEL])

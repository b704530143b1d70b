"""Connecting to a Ray cluster, or starting one of this machine alone."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import ray
import ray._private.worker as ray_worker
from ray._private import services

from codeenv.errors import MachineError

_PATIENCE = 10.0
_STORE = 200 * 1024**2
"""Bytes of the object store of a cluster that is started here: one batch of reports a worker."""
_QUIET = {"log_to_driver": False, "logging_level": logging.ERROR}
_REFUSED = (ConnectionError, RuntimeError, ValueError, OSError)


def connect(address: str | None, say: Callable[[str], None]) -> bool:
    """Connect this process to a cluster; return False if it was connected already.

    Ray then says nothing on standard output, which is for data: what matters is told to ``say``.

    Raises:
        MachineError: If there is no cluster at the address, or none can be started here.
    """
    if ray.is_initialized():
        return False
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it warns on stderr
    named = address or os.environ.get("RAY_ADDRESS")
    with _signals_kept():
        found = _found(named)
        if found is None:
            say("Ray: a cluster of this machine alone is started")
            _begin()
        else:
            _join(found)
            say(f"Ray: on the cluster at {found}")
    ray_worker._worker_logs_enabled = False  # it writes of lost nodes to standard output
    return True


def _found(named: str | None) -> str | None:
    """Return the address of a cluster that answers; None if none was named and none runs here."""
    if named == "local":
        return None
    try:
        found = services.canonicalize_bootstrap_address(named or "auto")
        host, _, port = str(found).rpartition(":")
        socket.create_connection((host, int(port)), _PATIENCE).close()  # Ray asks for minutes
    except _REFUSED as error:
        if named is None:
            return None
        raise _unusable(named, error) from error
    return str(found)


def _begin() -> None:
    try:
        ray.init("local", include_dashboard=False, object_store_memory=_STORE, **_QUIET)
    except Exception as error:  # Ray has no class for a machine that is too slow
        raise MachineError(
            f"no Ray cluster can be started on this machine: {_told(error)}",
            hint="is there memory, and room in /tmp? --ray-address names a cluster that runs, "
            "and without --runner ray no cluster is needed",
        ) from error


def _join(address: str) -> None:
    try:
        ray.init(address, **_QUIET)
    except _REFUSED as error:
        raise _unusable(address, error) from error


def _unusable(address: str, error: Exception) -> MachineError:
    return MachineError(
        f"no Ray cluster can be used at {address}: {_told(error)}",
        hint="ray start --head, then --ray-address HOST:PORT or RAY_ADDRESS; ray status tells",
    )


def _told(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Give SIGTERM back to whom it belonged: Ray takes it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

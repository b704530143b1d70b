"""Starts children from a thread that lives as long as this process.

A child that dies with its parent (bubblewrap's ``--die-with-parent``) dies with the *thread* that
started it: one started by a pool's worker would be killed when that worker ends.
"""

import os
import queue
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future

_Job = tuple[Callable[[], "subprocess.Popen[bytes]"], "Future[subprocess.Popen[bytes]]"]


class _Spawner:
    """The thread, and the process it belongs to: after a fork there is none."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        threading.Thread(target=self._serve, name="codeenv-spawn", daemon=True).start()

    def run(self, start: Callable[[], "subprocess.Popen[bytes]"]) -> "subprocess.Popen[bytes]":
        result: Future[subprocess.Popen[bytes]] = Future()
        self._jobs.put((start, result))
        return result.result()

    def _serve(self) -> None:
        while True:
            start, result = self._jobs.get()
            try:
                result.set_result(start())
            except BaseException as error:  # noqa: BLE001 - it is the caller's, raised there
                result.set_exception(error)


_lock = threading.Lock()
_spawner: _Spawner | None = None


def spawn(start: Callable[[], "subprocess.Popen[bytes]"]) -> "subprocess.Popen[bytes]":
    """Return what ``start`` returns or raise what it raises; it runs on the lasting thread."""
    global _spawner
    with _lock:
        if _spawner is None or _spawner.owner != os.getpid():
            _spawner = _Spawner()
        spawner = _spawner
    return spawner.run(start)


def _after_fork() -> None:
    """Give the child a lock of its own: another thread may have held ours."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)

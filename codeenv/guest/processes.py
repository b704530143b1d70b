"""Finding and ending the processes below one process, however they try to get away.

The tool server is a child subreaper (or the init of a pid namespace), so whatever a command starts
stays below it; a command's own processes are those that were not there before it.
"""

import contextlib
import os
import signal
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

MARKER = "CODEENV_COMMAND"
"""Environment variable that numbers the command a process was started by."""
_ROUNDS = 50
_PATIENCE = 1.0
_GONE = (b"X",)
_DEAD = (b"Z", b"X")
_MOVING = (b"R", b"S", b"D")


@dataclass(frozen=True, slots=True)
class Process:
    """One process as ``/proc`` shows it; ``start`` tells a recycled pid from the first."""

    pid: int
    parent: int
    start: int


def children(pid: int) -> Iterator[int]:
    """Yield the pids of a process's direct children (of all its threads)."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with (
                contextlib.suppress(OSError),
                open(f"/proc/{pid}/task/{thread}/children", "rb") as file,
            ):
                yield from map(int, file.read().split())


def descendants(root: int) -> dict[int, Process]:
    """Return everything below ``root``, parents before children."""
    found: dict[int, Process] = {}
    pending = [(root, child) for child in children(root)]
    while pending:
        parent, pid = pending.pop(0)
        start = _start_time(pid)
        if start is not None and pid not in found:
            found[pid] = Process(pid, parent, start)
            pending.extend((pid, child) for child in children(pid))
    return found


def reap() -> Iterator[tuple[int, int]]:
    """Collect dead children; yield pid and exit code (128 + signal if killed by one)."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        code = os.waitstatus_to_exitcode(status)
        yield pid, code if code >= 0 else 128 - code


def kill_command(root: int, before: Collection[Process], number: int) -> None:
    """Kill what command ``number`` started below ``root``; spare what was there before it.

    Stops processes first, so that nothing forks between the look and the kill.
    """
    stopped: set[Process] = set()
    for _ in range(_ROUNDS):
        fresh = set(_of_command(root, before, number)) - stopped
        if not fresh:
            break
        for process in fresh:
            send(process.pid, signal.SIGSTOP)
        stopped |= fresh
    for process in stopped:
        send(process.pid, signal.SIGKILL)


def kill_all(root: int) -> None:
    """Kill everything below ``root`` and collect it if it is ours."""
    for _ in range(_ROUNDS):
        found = descendants(root)
        if not found:
            return
        for sign in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found:
                send(pid, sign)
        if root == os.getpid():
            _wait_some()


def await_stop(root: int) -> None:
    """Wait until everything below ``root``, sent SIGSTOP before, really stands still."""
    deadline = time.monotonic() + _PATIENCE
    for pid in descendants(root):
        while _state(pid) in _MOVING and time.monotonic() < deadline:
            os.sched_yield()


def steps(root: int) -> dict[Process, bytes]:
    """Return how often everything below ``root`` has run: who stands still does not count on."""
    found = {}
    for process in descendants(root).values():
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/status", "rb") as file:
            found[process] = file.read().partition(b"voluntary_ctxt_switches")[2]
    return found


def is_any_running(root: int) -> bool:
    """Return whether something below ``root`` is on a processor, or waits for one.

    Who has run since ``steps`` and runs no more has made a step; who still runs has made none yet.
    """
    return any(_state(pid) == b"R" for pid in descendants(root))


def send(pid: int, sign: signal.Signals) -> None:
    """Send a signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, sign)


def _of_command(root: int, before: Collection[Process], number: int) -> Iterator[Process]:
    known = {(process.pid, process.start) for process in before}
    spared: set[int] = set()
    for process in descendants(root).values():
        earlier = (process.pid, process.start) in known or process.parent in spared
        if earlier or (process.parent == root and _is_of_another(process.pid, number)):
            spared.add(process.pid)
        else:
            yield process


def _is_of_another(pid: int, number: int) -> bool:
    """Return whether an orphan says that an earlier command started it."""
    return _marker(pid) not in (None, number)


def _marker(pid: int) -> int | None:
    """Return the number of the command an orphan was started by, if it still says so."""
    prefix = f"{MARKER}=".encode()
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/environ", "rb") as file:
        for part in file.read().split(b"\0"):
            if part.startswith(prefix):
                return int(part[len(prefix) :])
    return None


def _start_time(pid: int) -> int | None:
    """Return the start time of a living process; None for a zombie or none."""
    fields = _stat(pid)
    return None if fields[0] in _DEAD else int(fields[19])


def _state(pid: int) -> bytes:
    return _stat(pid)[0]


def _stat(pid: int) -> Sequence[bytes]:
    """Return the fields of ``/proc/<pid>/stat`` from the state on."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return _GONE


def _wait_some() -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, 0)
    for _ in reap():
        pass

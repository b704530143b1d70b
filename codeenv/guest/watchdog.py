"""A memory limit for boxes where no cgroup keeps one: look often, kill the largest process."""

import contextlib
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass, field

from codeenv.guest import processes

_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Watchdog:
    """Keeps the sum of a box's processes below a limit.

    Attributes:
        limit: Bytes of memory of one box's processes together.
        interval: Seconds between two looks.
    """

    limit: int
    interval: float = 0.2
    _killed: set[int] = field(default_factory=set)

    def check(self, roots: Iterable[int]) -> None:
        """Kill the largest process of every box that is over the limit."""
        for root in roots:
            self._check(root)

    def _check(self, root: int) -> None:
        sizes = {pid: _anonymous(pid) for pid in processes.descendants(root)}
        if sum(sizes.values()) <= self.limit:
            return
        exact = {pid: _proportional(pid, size) for pid, size in sizes.items()}
        if sum(exact.values()) > self.limit:
            processes.send(max(exact, key=lambda pid: exact[pid]), signal.SIGKILL)
            self._killed.add(root)

    def has_killed(self, root: int) -> bool:
        """Return whether a process of a box was killed since this was asked last."""
        killed = root in self._killed
        self._killed.discard(root)
        return killed


def _anonymous(pid: int) -> int:
    """Return resident bytes that are not a file's (shared ones count in every process)."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm", "rb") as file:
        fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * _PAGE
    return 0


def _proportional(pid: int, otherwise: int) -> int:
    """Return resident anonymous bytes with shared ones divided, where the kernel tells."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith(b"Pss_Anon:"):
                return int(line.split()[1]) * 1024
    return otherwise

"""A memory limit that the kernel keeps, for a wall without an engine, where this user may."""

import contextlib
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from codeenv.guest.exhaustion import kills
from codeenv.sandbox.owner import is_dead, owner

_PREFIX = "codeenv-"
_HEADROOM = 128 * 1024**2
"""Bytes for the supervisor and the layers, on top of what boxes may use."""
_VERSION_1, _VERSION_2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """A control group that processes are started in.

    Attributes:
        folder: Of the group.
    """

    folder: Path

    @classmethod
    def make(cls, limit: int) -> Self | None:
        """Return a new group of processes that may use so many bytes; None without the right."""
        parent = _parent()
        if parent is None:
            return None
        group = cls(parent / f"{_PREFIX}{owner()}-{secrets.token_hex(4)}")
        try:
            group.folder.mkdir()
            group._limit(limit + _HEADROOM)
        except OSError:
            group.remove()
            return None
        return group

    def command(self, argv: Sequence[str]) -> list[str]:
        """Return a command that enters the group and goes on as another."""
        enter = 'echo $$ > "$0" && exec "$@"'
        return ["/bin/sh", "-c", enter, str(self.folder / "cgroup.procs"), *argv]

    def kills(self) -> int:
        """Return how many of its processes the kernel has killed for want of memory."""
        return kills(str(self.folder))

    def remove(self) -> None:
        """Remove the group as soon as its last process is gone.  Idempotent."""
        deadline = time.monotonic() + _PATIENCE
        while self.folder.is_dir():
            try:
                self.folder.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    return  # `gc` will
                time.sleep(0.005)

    def _limit(self, size: int) -> None:
        first = self.folder / "memory.max"
        (first if first.exists() else self.folder / "memory.limit_in_bytes").write_text(str(size))
        for name, value in (("memory.memsw.limit_in_bytes", size), ("memory.swap.max", 0)):
            if (self.folder / name).exists():
                (self.folder / name).write_text(str(value))


def can_limit_memory() -> bool:
    """Return whether this user may make groups with a memory limit here."""
    return _parent() is not None


def collect_groups() -> Iterator[str]:
    """Remove the groups of dead owners; yield what was removed."""
    for where, folders, _ in os.walk(_VERSION_1 if _VERSION_1.is_dir() else _VERSION_2):
        for name in folders:
            identity = name.removeprefix(_PREFIX).rpartition("-")[0]
            if name.startswith(_PREFIX) and is_dead(identity):
                with contextlib.suppress(OSError):
                    Path(where, name).rmdir()
                    yield f"control group {name}"


def _parent() -> Path | None:
    """Return where a group with a memory limit can be made: below our own, whose limits hold on."""
    parent = _VERSION_2
    with contextlib.suppress(OSError):
        if (_VERSION_1 / "memory.limit_in_bytes").exists():
            own = _VERSION_1 / _own_path().lstrip("/")
            parent = own if own.is_dir() else _VERSION_1
        elif "memory" not in (_VERSION_2 / "cgroup.subtree_control").read_text().split():
            return None
        return parent if os.access(parent, os.W_OK) else None
    return None


def _own_path() -> str:
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return path
    return ""

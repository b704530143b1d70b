"""Who owns what a backend leaves on a machine, so that ``gc`` can tell the dead from the living."""

import os
import platform
from functools import cache
from pathlib import Path


def owner(pid: int = 0) -> str:
    """Return an identity of a process that no other one ever has.

    ``machine:boot:pid namespace:pid:start time``.
    """
    pid = pid or os.getpid()
    return ":".join((*_here(), str(pid), _start_time(pid)))


def is_dead(identity: str) -> bool:
    """Return whether the process of an identity is gone for sure.

    One of another machine, or of a pid namespace we cannot look into, may live.
    """
    try:
        machine, boot, namespace, pid, _ = identity.split(":")
    except ValueError:
        return False
    here = _here()
    if machine != here[0]:
        return False
    if boot != here[1]:
        return True
    return namespace == here[2] and pid.isdigit() and owner(int(pid)) != identity


@cache
def _here() -> tuple[str, str, str]:
    machine = _read("/etc/machine-id") or platform.node().replace(":", "-")
    namespace = os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116 - a magic link
    return machine, _read("/proc/sys/kernel/random/boot_id"), str(namespace)


def _start_time(pid: int) -> str:
    text = _read(f"/proc/{pid}/stat")
    return text.rpartition(")")[2].split()[19] if text else ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""

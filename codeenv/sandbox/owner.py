"""Who owns what a backend leaves on a machine, so that ``gc`` can tell the dead from the living."""

import os
from functools import cache
from pathlib import Path


def owner(pid: int = 0) -> str:
    """Return an identity of a process that no other process ever has: ``pid:start:boot``."""
    pid = pid or os.getpid()
    return f"{pid}:{_start_time(pid)}:{_boot()}"


def is_alive(identity: str) -> bool:
    """Return whether the process of an identity still runs."""
    pid, _, _ = identity.partition(":")
    return pid.isdigit() and Path(f"/proc/{pid}").exists() and owner(int(pid)) == identity


def _start_time(pid: int) -> str:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""

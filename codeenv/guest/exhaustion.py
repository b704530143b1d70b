"""What of a box's share has run out: told beside what a command wrote, which may not say it."""

import contextlib
import os
import re

_COUNTS = ("memory.events", "memory.oom_control")
MEMORY, DISK, FILES = "memory", "disk", "files"
_OWN = ("/sys/fs/cgroup", "/sys/fs/cgroup/memory")


def kills(*groups: str) -> int:
    """Return how many processes the kernel has killed for want of memory in a cgroup.

    Args:
        groups: Where it may be found, by default our own; the first that is there counts.
    """
    for path in (f"{g}/{name}" for g in groups or _OWN for name in _COUNTS):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            found = re.search(r"^oom_kill (\d+)$", file.read(), re.MULTILINE)
            return int(found[1]) if found else 0
    return 0


def full(folder: str) -> list[str]:
    """Return what the file system of a folder has no more of."""
    status = os.statvfs(folder)
    left = {DISK: status.f_bavail, FILES: status.f_favail if status.f_files else 1}
    return [name for name, free in left.items() if not free]

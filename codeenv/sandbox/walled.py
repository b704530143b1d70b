"""What the backends with a wall have in common: where things are in their boxes."""

import secrets

from codeenv.guest.spec import BoxSpec, Mode
from codeenv.sandbox.pool import HostKey
from codeenv.sandbox.variables import HOME, WORKSPACE, base_variables

LAYERS = "/run/codeenv"
"""Folder of a wall for workspaces and mounted trees; no box sees it."""
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
AGENT = 1000
"""User and group in a box."""
_SMALL, _LARGE = (30_000, 60_000), (1_879_048_192, 2_147_483_647)
"""Users that no distribution gives to anybody; the first within the 65,536 of a mapping."""
USERS = f"""\
root:x:0:0:root:/root:/bin/bash
agent:x:{AGENT}:{AGENT}:agent:{HOME}:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
GROUPS = f"""\
root:x:0:
agent:x:{AGENT}:
nogroup:x:65534:
"""


def somebody(*, mapped: bool) -> int:
    """Return a user for a new wall, seen from outside of it.

    Nobody's, so that who escaped would have nothing; and as good as never another wall's, since the
    kernel counts much by user (descriptors on their way, watches, queued signals): boxes of one
    user could take it from each other.

    Args:
        mapped: Whether only some users exist there, as in a user namespace.
    """
    first, end = _SMALL if mapped else _LARGE
    return first + secrets.randbelow(end - first)


def walled_spec(key: HostKey, number: int, *, memory: int, mode: Mode = "namespaces") -> BoxSpec:
    """Return the spec of a box behind a wall.

    Args:
        key: What it was asked for.
        number: The box's number.
        memory: Bytes one process may allocate, where no cgroup limits all of them; else 0.
        mode: Whether the box has namespaces of its own.
    """
    limits = key.limits
    return BoxSpec(
        box=number,
        mode=mode,
        layer="",
        workspace=WORKSPACE,
        home=HOME,
        temporary=TEMPORARY,
        mounts=(),
        variables=base_variables(key.image),
        alone=True,
        network=key.network,
        uid=AGENT,
        memory=memory,
        pids=limits.pids,
        disk=min(limits.disk, limits.memory),
        entries=limits.files,
        idle=limits.idle,
    )

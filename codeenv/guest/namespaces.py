"""A box in namespaces of its own, made by a supervisor that has no privilege.

The new process has all capabilities in its own user namespace only; it mounts what the box needs
and gives everything up before the first command runs.
"""

import contextlib
import fcntl
import os
import resource
import shutil
import socket
import struct
from collections.abc import Iterable

from codeenv.guest import seccomp, system
from codeenv.guest.spec import BoxSpec

STAGE = "/run/codeenv/stage"
"""Where a box's own tmpfs is mounted before its parts go where they belong; covered at the end."""
_PLAIN = system.MS_NOSUID | system.MS_NODEV
_READ_ONLY = system.MS_BIND | system.MS_REMOUNT | system.MS_RDONLY | _PLAIN
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCSIFADDR, _IFF_UP = 0x8913, 0x8914, 0x8916, 1
_SECOND = socket.inet_aton("127.0.0.2")
_OOM_SCORE = "500"
_FILES = 4096
_TERMINALS = 64


def flags(spec: BoxSpec) -> int:
    """Return the ``clone`` flags of a box."""
    own = (
        system.CLONE_NEWUSER
        | system.CLONE_NEWNS
        | system.CLONE_NEWPID
        | system.CLONE_NEWIPC
        | system.CLONE_NEWUTS
    )
    return own if spec.network else own | system.CLONE_NEWNET


def enter(spec: BoxSpec, outer: tuple[int, int]) -> None:
    """Build around the new process what does not depend on the box's files.

    Args:
        spec: What to build.
        outer: User and group id of the supervisor.

    Raises:
        OSError: If the kernel or the wall refuses a step.
    """
    _map_user(spec.uid, outer)
    os.umask(0o022)
    system.mount("none", "/", flags=system.MS_REC | system.MS_SLAVE)
    _mount_stage(spec)
    _mount_own_folders(spec)
    _mount_kernel()
    system.set_hostname("sandbox")
    if not spec.network:
        _loopback_up()


def furnish(spec: BoxSpec, layer: str, mounts: Iterable[tuple[str, str]]) -> tuple[bool, int]:
    """Mount the box's files and lock it.

    Args:
        spec: As ``enter`` was given.
        layer: Folder of the workspace.
        mounts: Targets and folders of the read-only trees.

    Returns:
        Whether the workspace is an overlay (else a copy), and a descriptor of the folder that holds
        what differs from the layer.

    Raises:
        OSError: If the kernel or the wall refuses a step.
    """
    overlay = _mount_workspace(spec, layer)
    changes = os.open(f"{STAGE}/upper", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for target, folder in mounts:
        _bind(folder, target)
        system.mount("", target, flags=_READ_ONLY)
    system.mount("tmpfs", "/run", "tmpfs", _PLAIN, "size=1m,nr_inodes=1k,mode=755")
    os.chdir(spec.workspace)
    _limit(spec)
    _lock()
    return overlay, changes


def _map_user(inner: int, outer: tuple[int, int]) -> None:
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inner} {outer[0]} 1"),
        ("gid_map", f"{inner} {outer[1]} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _mount_stage(spec: BoxSpec) -> None:
    options = f"size={spec.disk},nr_inodes={2 * spec.entries},mode=755"
    system.mount("tmpfs", STAGE, "tmpfs", _PLAIN, options)
    for name, mode in (("upper", 0o755), ("work", 0o755), ("home", 0o755), ("temporary", 0o755)):
        os.mkdir(f"{STAGE}/{name}", mode)


def _mount_workspace(spec: BoxSpec, layer: str) -> bool:
    upper, work = f"{STAGE}/upper", f"{STAGE}/work"
    options = f"lowerdir={layer},upperdir={upper},workdir={work},userxattr"
    try:
        system.mount("overlay", spec.workspace, "overlay", _PLAIN, options)
    except OSError:  # refused by an older kernel or a security module: slower, but the same box
        shutil.copytree(layer, upper, symlinks=True, dirs_exist_ok=True)
        _bind(upper, spec.workspace)
        return False
    return True


def _mount_own_folders(spec: BoxSpec) -> None:
    _bind(f"{STAGE}/home", spec.home)
    for n, target in enumerate(spec.temporary):
        own = f"{STAGE}/temporary/{n}"
        os.mkdir(own)
        os.chmod(own, 0o1777)
        _bind(own, target)


def _mount_kernel() -> None:
    """Mount what the new namespaces show: own processes, terminals, queues."""
    system.mount("proc", "/proc", "proc", _PLAIN | system.MS_NOEXEC)
    options = f"newinstance,ptmxmode=0666,mode=620,max={_TERMINALS}"
    system.mount("devpts", "/dev/pts", "devpts", system.MS_NOSUID | system.MS_NOEXEC, options)
    if os.path.isdir("/dev/mqueue"):
        system.mount("mqueue", "/dev/mqueue", "mqueue", _PLAIN | system.MS_NOEXEC)


def _bind(source: str, target: str) -> None:
    system.mount(source, target, flags=system.MS_BIND)


def _loopback_up() -> None:
    """Bring the loopback device up, with a second address.

    Where a machine has no address but 127.0.0.1, ``getaddrinfo`` with ``AI_ADDRCONFIG`` (what many
    clients and servers ask for) finds none, not even for ``localhost``.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        answer = fcntl.ioctl(control, _SIOCGIFFLAGS, request)
        (state,) = struct.unpack("16xh14x", answer)
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", state | _IFF_UP))
        address = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, _SECOND)
        fcntl.ioctl(control, _SIOCSIFADDR, address)


def _limit(spec: BoxSpec) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: files,
        resource.RLIMIT_FSIZE: spec.disk,
        resource.RLIMIT_NPROC: spec.pids,
        resource.RLIMIT_DATA: spec.memory,
    }
    for limit, value in limits.items():
        if value or limit == resource.RLIMIT_CORE:
            resource.setrlimit(limit, (value, value))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(_OOM_SCORE)


def _lock() -> None:
    """Give up every privilege for good."""
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    system.drop_capabilities()
    seccomp.lock()
    system.prctl(system.PR_SET_DUMPABLE, 0)

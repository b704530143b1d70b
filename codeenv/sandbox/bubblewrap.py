"""The ``bubblewrap`` backend: walls without a daemon, on any Linux with user namespaces."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from codeenv.errors import BackendUnavailable, BuildError
from codeenv.guest.spec import BoxSpec
from codeenv.sandbox.base import Limits, Role
from codeenv.sandbox.box import Box
from codeenv.sandbox.bundle import bootstrap
from codeenv.sandbox.capacity import DEFAULT_CAPACITY, Capacity
from codeenv.sandbox.cgroup import MemoryGroup
from codeenv.sandbox.host import Host, Start
from codeenv.sandbox.image import ForkServer, Image, InstallJob, InstallResult, Mount
from codeenv.sandbox.install_bubblewrap import install
from codeenv.sandbox.memory_file import memory_file
from codeenv.sandbox.pool import HostKey, HostPool
from codeenv.sandbox.transport import ProcessTransport
from codeenv.sandbox.values import DEFAULT_LIMITS
from codeenv.sandbox.variables import HOME, WORKSPACE, base_variables
from codeenv.sandbox.walled import AGENT, GROUPS, LAYERS, USERS, somebody, walled_spec
from codeenv.tree import Tree

_NOT_BOUND = frozenset(
    "boot dev home lost+found media mnt opt proc root run srv sys tmp workspace".split()
)
_OF_HOST = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC_OF_HOST = (
    "alternatives", "ca-certificates", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime",
    "magic", "mime.types", "nsswitch.conf", "protocols", "services", "ssl",
)  # fmt: skip
_HOSTS = "127.0.0.1 localhost sandbox\n::1 localhost\n"


class BubblewrapBackend:
    """Boxes in namespaces below a bubblewrap sandbox."""

    name: Literal["docker", "bubblewrap", "local"] = "bubblewrap"

    def __init__(self, capacity: Capacity = DEFAULT_CAPACITY) -> None:
        """Find the program; start nothing yet.

        Args:
            capacity: How many boxes there may be.

        Raises:
            BackendUnavailable: If bubblewrap is not installed.
        """
        self._program = find_program()
        self._boxes = capacity.per_host
        self._pool = HostPool(self._start, capacity)

    def open(
        self,
        image: Image,
        workspace: Tree,
        *,
        role: Role = "agent",
        limits: Limits = DEFAULT_LIMITS,
        mounts: Sequence[Mount] = (),
        network: bool = False,
        fork_server: ForkServer | None = None,
    ) -> Box:
        """See ``Backend.open``."""
        key = HostKey.of(image, role, limits, mounts, network, fork_server)
        return self._pool.open(key, workspace, mounts, _describing(key))

    @property
    def pairs(self) -> bool:
        """Whether boxes are walled off from each other."""
        return True

    def open_pair(
        self,
        image: Image,
        workspaces: tuple[Tree, Tree],
        *,
        role: Role,
        fork_server: ForkServer | None = None,
    ) -> tuple[Box, Box]:
        """See ``Backend.open_pair``."""
        key = HostKey.of(image, role, DEFAULT_LIMITS, (), False, fork_server)
        return self._pool.open_pair(key, workspaces, _describing(key))

    def prefetch(self, image: Image, *, role: Role, fork_server: ForkServer | None = None) -> None:
        """See ``Backend.prefetch``."""
        key = HostKey.of(image, role, DEFAULT_LIMITS, (), False, fork_server)
        self._pool.prefetch(key, base_variables(image))

    def install(self, job: InstallJob) -> InstallResult:
        """See ``Backend.install``."""
        return install(job)

    def close(self) -> None:
        """See ``Backend.close``."""
        self._pool.close()

    def _start(self, key: HostKey) -> Host:
        with (
            memory_file(USERS) as users,
            memory_file(GROUPS) as groups,
            memory_file(_HOSTS) as names,
        ):
            files = {"passwd": users, "group": groups, "hosts": names}
            argv = [self._program, *wall_arguments(key, files), *bootstrap(_python(key.image))]
            group = MemoryGroup.make(self._boxes * key.limits.memory)
            fds = tuple(files.values())
            transport = ProcessTransport(argv, {"LANG": "C.UTF-8"}, pass_fds=fds, group=group)
        uid = somebody(mapped=_is_mapped()) if os.getuid() == 0 else None
        watched = key.limits.memory if group is None or self._boxes > 1 else 0
        host = Host(transport, Start(LAYERS, uid=uid, watch_memory=watched))
        if group is not None:
            host.kills = group.kills
        return host


def _describing(key: HostKey) -> Callable[[Host, int], BoxSpec]:
    return lambda _, number: walled_spec(key, number, memory=key.limits.memory)


def _is_mapped() -> bool:
    """Return whether we are in a user namespace that has only some of the users."""
    _, _, count = Path("/proc/self/uid_map").read_text(encoding="ascii").split()[:3]
    return int(count) < 2**31


def find_program() -> str:
    """Return bubblewrap's path.

    Raises:
        BackendUnavailable: If it is not installed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise BackendUnavailable(
            "bubblewrap is not installed", hint="apt-get install bubblewrap, or use Docker"
        )
    return program


def wall_arguments(key: HostKey, files: dict[str, int]) -> list[str]:
    """Return bubblewrap's arguments, up to the command, for a host."""
    image = key.image
    if image.rootfs is None or not image.rootfs.is_dir():
        raise BuildError(
            f"the base {image.base} has no folder here", hint="build the environment again"
        )
    return [
        *_isolation(network=key.network),
        *_root(image.rootfs, files),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run", *_folder(LAYERS)),
        *("--tmpfs", "/tmp", *_folder(WORKSPACE), *_folder(HOME)),
        *_layers(image, key.targets, network=key.network),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"),
    ]


def _isolation(*, network: bool) -> Iterator[str]:
    yield from ("--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts")
    yield "--unshare-cgroup-try"
    if not network:
        yield "--unshare-net"
    if os.getuid() != 0:
        yield from ("--unshare-user", "--uid", str(AGENT), "--gid", str(AGENT))


def _root(rootfs: Path, files: dict[str, int]) -> Iterator[str]:
    """Bind the base's folders into an empty root, so that mount points can be made beside them."""
    of_host = rootfs == Path("/")
    for entry in sorted(rootfs.iterdir()):
        if entry.name in _NOT_BOUND or (of_host and entry.name not in _OF_HOST):
            continue
        if entry.is_symlink():
            yield from ("--symlink", str(entry.readlink()), f"/{entry.name}")
        elif entry.is_dir():
            yield from ("--ro-bind", str(entry), f"/{entry.name}")
    if of_host:
        yield from _etc_of_host()
    for name, fd in files.items():
        if of_host or (rootfs / "etc" / name).is_file():
            yield from ("--perms", "0644", "--ro-bind-data", str(fd), f"/etc/{name}")


def _etc_of_host() -> Iterator[str]:
    yield from _folder("/etc")
    for name in _ETC_OF_HOST:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    prefix = Path(sys.base_prefix).resolve()
    if not prefix.is_relative_to("/usr"):
        yield from (*_folder(str(prefix)), "--ro-bind", str(prefix), str(prefix))
    yield from _folder("/var/tmp")


def _layers(image: Image, targets: Sequence[str], *, network: bool) -> Iterator[str]:
    for layer in image.layers:
        yield from (*_folder(layer.target), "--ro-bind", str(layer.folder), layer.target)
    for target in targets:
        yield from _folder(target)
    if network:
        yield from ("--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf")


def _folder(path: str) -> Iterator[str]:
    """Make a folder whose parents everybody may pass (bubblewrap's default is its owner only)."""
    for folder in (*reversed(Path(path).parents[:-1]), path):
        yield from ("--perms", "0755", "--dir", str(folder))


def _python(image: Image) -> str:
    """Return the interpreter of the wall: the base's own, so that layers do not matter."""
    if image.rootfs == Path("/"):
        return str(Path(sys.base_prefix).resolve() / "bin/python3")
    return "/usr/bin/python3"

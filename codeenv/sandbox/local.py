"""The ``local`` backend: no isolation at all; for tests and documentation, asked for by name."""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codeenv.errors import BuildError, NoPairs
from codeenv.guest.spec import BoxSpec
from codeenv.sandbox.base import Limits, Role
from codeenv.sandbox.box import Box
from codeenv.sandbox.bundle import bootstrap
from codeenv.sandbox.capacity import DEFAULT_CAPACITY, Capacity
from codeenv.sandbox.host import Host, Start
from codeenv.sandbox.image import ForkServer, Image, InstallJob, InstallResult, Mount
from codeenv.sandbox.owner import owner
from codeenv.sandbox.pool import HostKey, HostPool
from codeenv.sandbox.transport import ProcessTransport
from codeenv.sandbox.values import DEFAULT_LIMITS
from codeenv.sandbox.variables import WORKSPACE, base_variables
from codeenv.tree import Tree

FOLDER_PREFIX = "codeenv-local-"
OWNER_FILE = "owner"


class LocalBackend:
    """Runs commands as processes of this machine, in a temporary folder."""

    name: Literal["docker", "bubblewrap", "local"] = "local"

    def __init__(self, capacity: Capacity = DEFAULT_CAPACITY) -> None:
        """Start nothing yet.

        Args:
            capacity: How many boxes there may be.
        """
        self._pool = HostPool(_start, capacity)

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
        """See ``Backend.open``; limits and network are not enforced, and nothing is forked."""
        key = HostKey.of(image, role, limits, mounts, network)

        def describe(host: Host, number: int) -> BoxSpec:
            where = f"{host.start.root}/boxes/{number}"
            places = _Places(image, f"{where}/workspace", _mounted(host, mounts))
            return BoxSpec(
                box=number,
                mode="plain",
                layer="",
                workspace=places.workspace,
                home=f"{where}/home",
                temporary=(f"{where}/tmp",),
                mounts=(),
                variables=places.variables(where),
                alone=False,
                network=network,
                uid=os.getuid(),
                memory=0,
                pids=0,
                disk=limits.disk,
                entries=limits.files,
                idle=limits.idle,
            )

        def translate(host: Host, text: str) -> str:
            return _Places(image, WORKSPACE, _mounted(host, mounts)).translate(text)

        return self._pool.open(key, workspace, mounts, describe, translate)

    @property
    def pairs(self) -> bool:
        """Whether boxes are walled off from each other."""
        return False

    def open_pair(
        self,
        image: Image,
        workspaces: tuple[Tree, Tree],
        *,
        role: Role,
        fork_server: ForkServer | None = None,
    ) -> tuple[Box, Box]:
        """Refuse: nothing separates what runs here."""
        raise NoPairs(
            "the local backend has no walls between tests and the code they test",
            hint="use --backend docker or bubblewrap, or --tier open",
        )

    def prefetch(self, image: Image, *, role: Role, fork_server: ForkServer | None = None) -> None:
        """See ``Backend.prefetch``."""
        self._pool.prefetch(HostKey.of(image, role, DEFAULT_LIMITS, (), False))

    def install(self, job: InstallJob) -> InstallResult:
        """Refuse: nothing of a repository's is installed on this machine."""
        raise BuildError(
            "the local backend installs nothing",
            hint="use --backend docker or bubblewrap, or the bundled environment",
        )

    def close(self) -> None:
        """See ``Backend.close``."""
        self._pool.close()


@dataclass(frozen=True)
class _Places:
    """Where the paths of an image are on this machine."""

    image: Image
    workspace: str
    mounts: Mapping[str, str]

    def translate(self, text: str) -> str:
        """Map a path, or a list of paths with colons between."""
        return ":".join(self._path(part) for part in text.split(":"))

    def variables(self, where: str) -> dict[str, str]:
        """Return the environment of commands in a box at ``where``."""
        image = {name: self.translate(value) for name, value in self.image.variables.items()}
        python = Path(self._path(self.image.python)).parent
        roots = [*self._import_roots(), *filter(None, [image.get("PYTHONPATH")])]
        out = base_variables(self.image, home=f"{where}/home")
        out |= image
        out["PATH"] = f"{python}:{os.environ.get('PATH', os.defpath)}"
        out["TMPDIR"] = f"{where}/tmp"
        if roots:
            out["PYTHONPATH"] = ":".join(roots)
        return out

    def _path(self, path: str) -> str:
        moved = {layer.target: str(layer.folder) for layer in self.image.layers}
        for target, folder in {**moved, **self.mounts}.items():
            if path == target or path.startswith(target + "/"):
                return folder + path[len(target) :]
        return path

    def _import_roots(self) -> list[str]:
        """Return what the environment's ``.pth`` files would put on the path behind a wall."""
        roots = []
        for layer in self.image.layers:
            for file in sorted(layer.folder.glob("lib/python3*/site-packages/*.pth")):
                for line in file.read_text(encoding="utf-8").splitlines():
                    if line == WORKSPACE or line.startswith(WORKSPACE + "/"):
                        roots.append(self.workspace + line[len(WORKSPACE) :])
        return roots


def _mounted(host: Host, mounts: Sequence[Mount]) -> dict[str, str]:
    return {mount.target: f"{host.start.root}/layers/{mount.tree.digest}" for mount in mounts}


def _start(key: HostKey) -> Host:
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX)).resolve()
    (folder / OWNER_FILE).write_text(owner())
    env = {"PATH": os.environ.get("PATH", os.defpath)}
    transport = ProcessTransport(bootstrap(sys.executable), env, folder=folder)
    return Host(transport, Start(str(folder), own_root=True))

"""A backend in memory, for tests and documentation."""

from collections.abc import Sequence
from typing import Literal

from codeenv.errors import BuildError, SandboxError
from codeenv.sandbox.base import Limits, Role
from codeenv.sandbox.fake_box import FakeSandbox, Runner
from codeenv.sandbox.image import ForkServer, Image, InstallJob, InstallResult, Mount
from codeenv.tree import Tree

__all__ = ["FakeBackend", "FakeSandbox", "Runner"]
_LIMITS = Limits()


class FakeBackend:
    """Opens boxes in memory.

    Attributes:
        boxes: All boxes it ever opened.
        failures: How many of the next opens fail.
    """

    def __init__(self, runner: Runner | None = None, *, failures: int = 0) -> None:
        """Give every box the same runner."""
        self.boxes: list[FakeSandbox] = []
        self.failures = failures
        self._runner = runner

    @property
    def name(self) -> Literal["local"]:
        """Fakes isolate nothing, like ``local``."""
        return "local"

    def open(
        self,
        image: Image,
        workspace: Tree,
        *,
        role: Role = "agent",
        limits: Limits = _LIMITS,
        mounts: Sequence[Mount] = (),
        network: bool = False,
        fork_server: ForkServer | None = None,
    ) -> FakeSandbox:
        """Open a box, or fail as often as was asked for."""
        if self.failures > 0:
            self.failures -= 1
            raise SandboxError("no host could be started")
        box = FakeSandbox(workspace, self._runner)
        self.boxes.append(box)
        return box

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
    ) -> tuple[FakeSandbox, FakeSandbox]:
        """Open two boxes in memory."""
        return self.open(image, workspaces[0]), self.open(image, workspaces[1])

    def prefetch(self, image: Image, *, role: Role, fork_server: ForkServer | None = None) -> None:
        """Have nothing to start."""

    def install(self, job: InstallJob) -> InstallResult:
        """Refuse: nothing can be installed in memory."""
        raise BuildError("a fake backend installs nothing")

    def close(self) -> None:
        """Close every box."""
        for box in self.boxes:
            box.close()

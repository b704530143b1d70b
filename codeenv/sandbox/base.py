"""The contract of a sandbox: what one episode's box can do, and what a backend must provide.

A failed command is a value; a failed sandbox raises ``SandboxError``; a path that cannot be used as
asked raises ``PathError``.  Every backend passes ``tests/sandbox/test_conformance.py``.
"""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Literal, Protocol, Self

from codeenv.sandbox.image import ForkServer, Image, InstallJob, InstallResult, Mount
from codeenv.sandbox.snapshot import Snapshot
from codeenv.sandbox.values import (
    DEFAULT_LIMITS,
    ExecResult,
    Limits,
    Match,
    PathInfo,
    Role,
    SearchQuery,
    SearchResult,
)
from codeenv.tree import Delta, Tree

__all__ = [
    "Backend",
    "ExecResult",
    "Limits",
    "Match",
    "PathInfo",
    "Role",
    "Sandbox",
    "SearchQuery",
    "SearchResult",
]


class Sandbox(Protocol):
    """One episode's box.  Not thread-safe: one caller at a time."""

    @property
    def workspace(self) -> str:
        """Absolute path of the workspace in the box (``/workspace`` behind walls)."""
        ...

    def exec(
        self,
        command: str | Sequence[str],
        *,
        timeout: float = 60.0,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        output_limit: int = 1024**2,
        report_limit: int = 0,
    ) -> ExecResult:
        """Run a command to its end or its deadline.

        Args:
            command: A string for ``bash -c``, or an argument vector.
            timeout: Seconds until the whole process tree is killed; the output so far is kept.
            cwd: Working directory, absolute or relative to the workspace (default).
            env: Variables added to the image's.
            stdin: Bytes on standard input; then end of file.
            output_limit: Bytes of output kept (head and tail) while the pipe is drained.
            report_limit: If positive, descriptor 3 is a pipe and this many bytes of it are kept.

        Raises:
            SandboxError: If the sandbox failed.  A missing program is exit code 127, not an error.
        """
        ...

    def read_file(self, path: str, *, limit: int = 10 * 1024**2) -> bytes:
        """Return a file's bytes.

        Raises:
            PathError: ``not_found``, ``is_directory``, ``outside`` (of the workspace and temporary
                folders, after resolving links), ``too_large``, ``denied``.
        """
        ...

    def write_file(self, path: str, data: bytes, *, executable: bool | None = None) -> None:
        """Replace or create a file in one step (written beside it, then renamed); make parents.

        ``executable=None`` keeps the mode of an existing file.

        Raises:
            PathError: ``is_directory``, ``not_directory``, ``outside``, ``denied``, ``too_large``.
        """
        ...

    def list_files(self, path: str = ".", *, depth: int = 2) -> tuple[PathInfo, ...]:
        """Return what is below a folder, ``depth`` levels deep, sorted by path, without ``.git``.

        A file gives itself.  Paths are relative to the workspace.

        Raises:
            PathError: ``not_found``, ``outside``.
        """
        ...

    def search(self, query: SearchQuery) -> SearchResult:
        """Search file contents with Python's ``re``.

        Raises:
            PathError: ``bad_pattern`` (with position, or too slow), ``not_found``, ``outside``.
        """
        ...

    def apply(self, delta: Delta) -> None:
        """Write and delete files of the workspace in one round trip (trusted input only)."""
        ...

    def export(self, *, only: Sequence[str] = (), largest: int = 0) -> Tree:
        """Return the workspace's files and links without ``.git``, read from outside the box.

        Its processes are stopped while it is read; special files are left out.  With ``only``, what
        is elsewhere counts against no limit, and may be in the tree or not; a file of more than
        ``largest`` bytes (if that is not 0) is as it was, or gone.

        Raises:
            PathError: ``too_large``: more than ``Limits.files`` entries or ``Limits.disk`` bytes,
                or too deep: the agent's doing, not the sandbox's.
        """
        ...

    def snapshot(self) -> Snapshot:
        """Return all files of workspace, home and temporary folders, read as for ``export``.

        Raises:
            PathError: ``too_large``, as ``export``.
            UsageError: If the box runs servers of its environment.
        """
        ...

    def restore(self, snapshot: Snapshot) -> None:
        """Make the files of a fresh box those of a snapshot.

        Raises:
            UsageError: If the snapshot's box was opened with another workspace.
        """
        ...

    def fork(self) -> "Sandbox":
        """Return another box, on a host of its own, with the files as they are now.

        Processes stay behind.  Both boxes are independent from here on.

        Raises:
            PathError: As ``snapshot``.
            UsageError: As ``snapshot``.
        """
        ...

    def close(self) -> None:
        """Drop the box with its processes, mounts and files.  Idempotent."""
        ...

    def __enter__(self) -> Self:
        """Return the box."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the box."""
        ...


class Backend(Protocol):
    """Opens boxes and runs environment builds behind one kind of wall.  Thread-safe."""

    @property
    def name(self) -> Literal["docker", "bubblewrap", "local"]:
        """The backend's name on the command line."""
        ...

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
    ) -> Sandbox:
        """Open a box with a fresh copy of the workspace.

        Args:
            image: Its environment.
            workspace: The tree it starts with.
            role: Boxes of different roles never share a host.
            limits: What it may use.
            mounts: Read-only trees beside the workspace.
            network: Whether it has one.
            fork_server: What its host keeps started, if it serves several boxes; it makes commands
                faster and changes nothing else.

        Raises:
            SandboxError: If no host could be started or the box did not come up.
            BuildError: If the image is not usable by this backend.
        """
        ...

    @property
    def pairs(self) -> bool:
        """Whether ``open_pair`` works here: boxes are walled off from each other."""
        ...

    def open_pair(
        self,
        image: Image,
        workspaces: tuple[Tree, Tree],
        *,
        role: Role,
        fork_server: ForkServer | None = None,
    ) -> tuple[Sandbox, Sandbox]:
        """Open two boxes that see nothing of each other.

        The first commands that run in them are joined by a socket: their descriptor 4.  Closing the
        first box closes the second.

        Args:
            image: Their environment.
            workspaces: The trees they start with.
            role: As for ``open``.
            fork_server: As for ``open``.

        Raises:
            NoPairs: If boxes of this backend are not walled off from each other here.
            SandboxError: As ``open``.
        """
        ...

    def prefetch(self, image: Image, *, role: Role, fork_server: ForkServer | None = None) -> None:
        """Start a host in the background if none is free: a box with these arguments is near.

        It need not come up: ``open`` starts one then, and says why it cannot.
        """
        ...

    def install(self, job: InstallJob) -> InstallResult:
        """Run an environment's installation in a throw-away box that has the network."""
        ...

    def close(self) -> None:
        """Stop every host.  Idempotent; also run at interpreter exit."""
        ...

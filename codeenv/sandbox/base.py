"""The contract of a sandbox: what one episode's box can do, and what a backend must provide.

A failed command is a value; a failed sandbox raises ``SandboxError``; a path that cannot be used as
asked raises ``PathError``.  Every backend passes ``tests/sandbox/test_conformance.py``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self

from codeenv.sandbox.image import ForkServer, Image, InstallJob, InstallResult, Mount
from codeenv.sandbox.snapshot import Snapshot
from codeenv.tree import Delta, Tree

Role = Literal["agent", "grader", "build"]
"""Agents and graders never share a host."""


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What a command did.

    Attributes:
        exit_code: The command's exit status; 128 + signal if killed by one; 124 on a timeout.
        output: Standard output and error interleaved, head and tail if ``truncated``.
        timed_out: Whether the deadline killed the process tree.
        truncated: Whether bytes in the middle of ``output`` were dropped.
        output_bytes: How many bytes the command wrote in all.
        report: What the command wrote to file descriptor 3, if ``report_limit`` was given.
        log_path: Path in the box of the full log, if ``truncated``.
        idle: Whether it was killed for writing nothing (``timed_out`` then, too).
        exhausted: What the box has run out of: ``memory`` (a process was killed for it), ``disk``,
            ``files`` (no room for one more).
    """

    exit_code: int
    output: bytes
    timed_out: bool = False
    truncated: bool = False
    output_bytes: int = 0
    report: bytes = b""
    log_path: str = ""
    idle: bool = False
    exhausted: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The output as text; bytes that are not UTF-8 become replacement characters."""
        return self.output.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class PathInfo:
    """One path in a box."""

    path: str
    kind: Literal["file", "directory", "link", "other"]
    size: int
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """One matching line: 1-based number and its text; ``before``/``after`` are context lines."""

    path: str
    line: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search over the workspace's tracked and untracked, not ignored, text files."""

    pattern: str
    path: str = "."
    glob: str = ""
    ignore_case: bool = False
    fixed_strings: bool = False
    context_lines: int = 0
    max_results: int = 50
    timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Matches sorted by path and line, and the totals before the cut."""

    matches: tuple[Match, ...]
    counts: Mapping[str, int]
    """Matches per file, every file with at least one, sorted by path (not cut)."""
    total: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What one box may use."""

    memory: int = 2 * 1024**3
    """Bytes of memory for all processes and files together."""
    pids: int = 256
    disk: int = 1024**3
    """Bytes written to the workspace, home and temporary folders."""
    cpus: float = 2.0
    files: int = 200_000
    """Entries in an exported tree."""
    idle: float = 0.0
    """Seconds a command may write nothing before it is killed; 0 for no limit."""


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

    def export(self) -> Tree:
        """Return the workspace's files and links without ``.git``, read from outside the box.

        The box's processes are stopped while it is read; special files are left out.

        Raises:
            PathError: ``too_large`` if the tree has more than ``Limits.files`` entries, more bytes
                than ``Limits.disk``, or is too deep: the agent's doing, not the sandbox's.
        """
        ...

    def snapshot(self) -> Snapshot:
        """Return all files of workspace, home and temporary folders as they are now.

        Read from outside the box while its processes stand still.  They go on afterwards.

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
        limits: Limits = Limits(),
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

"""What goes into a sandbox and comes out of it, as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

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


DEFAULT_LIMITS = Limits()

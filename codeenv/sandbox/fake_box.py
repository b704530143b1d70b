"""A sandbox in memory: files as a tree, commands as a function; for tests and documentation.

It has the contract's file rules and no processes; ``exec`` knows a few commands and the ``runner``.
"""

import fnmatch
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from posixpath import normpath
from types import TracebackType
from typing import Literal, Self

from codeenv.errors import PathError, SandboxError, UsageError
from codeenv.sandbox.base import (
    ExecResult,
    Match,
    PathInfo,
    SearchQuery,
    SearchResult,
)
from codeenv.sandbox.snapshot import Snapshot
from codeenv.tree import Delta, Entry, Tree

Runner = Callable[["FakeSandbox", "str | Sequence[str]", bytes], ExecResult | None]
"""Runs a command on the box, or returns None to leave it to the built-in ones."""


class FakeSandbox:
    """A box in memory.

    Attributes:
        tree: The workspace as it is.
        commands: All commands that were run.
        closed: Whether ``close`` was called.
        broken: If true, everything but ``close`` raises ``SandboxError``.
        most_files: How many files an exported tree may have.
    """

    def __init__(self, tree: Tree, runner: Runner | None = None) -> None:
        """Start with a copy of the tree."""
        self.tree = tree
        self.commands: list[str | Sequence[str]] = []
        self.closed = False
        self.broken = False
        self.most_files = 200_000
        self._runner = runner
        self._began_with = tree.digest

    @property
    def workspace(self) -> str:
        """The path that absolute paths may start with."""
        return "/workspace"

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
        """Run a command by the runner or as a built-in one; unknown programs exit with 127."""
        self._check()
        self.commands.append(command)
        words = shlex.split(command) if isinstance(command, str) else command
        result = self._runner(self, command, stdin) if self._runner else None
        result = result or self._builtin(words)
        if len(result.output) <= output_limit:
            return result
        half = output_limit // 2
        kept = result.output[:half] + result.output[len(result.output) - (output_limit - half) :]
        return ExecResult(
            result.exit_code,
            kept,
            timed_out=result.timed_out,
            truncated=True,
            output_bytes=len(result.output),
            log_path="/tmp/codeenv/0001.log",
        )

    def read_file(self, path: str, *, limit: int = 10 * 1024**2) -> bytes:
        """Return a file's bytes."""
        name = self._name(path)
        entry = self._entry(name)
        if len(entry.data) > limit:
            raise PathError(f"{name} has {len(entry.data)} bytes", code="too_large")
        return entry.data

    def write_file(self, path: str, data: bytes, *, executable: bool | None = None) -> None:
        """Replace or create a file."""
        name = self._name(path)
        if name == "." or self._below(name):
            raise PathError(f"{name} is a directory", code="is_directory")
        parents = name.split("/")[:-1]
        if any("/".join(parents[: i + 1]) in self.tree for i in range(len(parents))):
            raise PathError(f"a parent of {name} is a file", code="not_directory")
        old = self.tree.get(name)
        runs = executable if executable is not None else old is not None and old.mode == "exec"
        self.tree = self.tree.apply(Delta({name: Entry(data, "exec" if runs else "file")}))

    def list_files(self, path: str = ".", *, depth: int = 2) -> tuple[PathInfo, ...]:
        """Return what is below a folder."""
        name = self._name(path)
        if name in self.tree:
            return (self._info(name),)
        if name != "." and not self._below(name):
            raise PathError(f"{name} does not exist")
        base = 0 if name == "." else name.count("/") + 1
        shown = {
            "/".join(parts[:level])
            for parts in (p.split("/") for p in self._below(name))
            for level in range(base + 1, min(len(parts), base + depth) + 1)
        }
        return tuple(self._info(p) for p in sorted(shown))

    def search(self, query: SearchQuery) -> SearchResult:
        """Search file contents."""
        try:
            pattern = re.escape(query.pattern) if query.fixed_strings else query.pattern
            wanted = re.compile(pattern, re.IGNORECASE if query.ignore_case else 0)
        except re.error as error:
            raise PathError(f"bad pattern: {error}", code="bad_pattern") from error
        name = self._name(query.path)
        paths = [name] if name in self.tree else self._below(name)
        if not paths and name != ".":
            raise PathError(f"{name} does not exist")
        searched = [path for path in paths if self._searched(path, query.glob)]
        found = [match for path in searched for match in self._matches(path, wanted, query)]
        counts = Counter(match.path for match in found)
        return SearchResult(tuple(found[: query.max_results]), counts, len(found))

    def apply(self, delta: Delta) -> None:
        """Write and delete files."""
        self._check()
        self.tree = self.tree.apply(delta)

    def export(self, *, only: Sequence[str] = (), largest: int = 0) -> Tree:
        """Return the workspace without ``.git``."""
        self._check()
        places = tuple(f"{place}/" for place in only) or ("",)
        found = {p: e for p, e in self.tree.items() if f"{p}/".startswith(places)}
        if len(found) > self.most_files:
            raise PathError("the tree has too many entries", code="too_large")
        gone = {p for p, e in found.items() if p[:5] == ".git/" or 0 < largest < len(e.data)}
        return Tree(found).apply(Delta(delete=frozenset(gone)))

    def snapshot(self) -> Snapshot:
        """Return the workspace as it is."""
        self._check()
        return Snapshot(self._began_with, {}, self.tree.to_tar())

    def restore(self, snapshot: Snapshot) -> None:
        """Make the workspace that of a snapshot."""
        self._check()
        if snapshot.workspace != self._began_with:
            raise UsageError("the snapshot is of a box that was opened with another workspace")
        self.tree = Tree.from_tar(snapshot.data)

    def fork(self) -> "FakeSandbox":
        """Return another box with the workspace as it is."""
        other = FakeSandbox(self.tree, self._runner)
        other._began_with = self._began_with
        return other

    def close(self) -> None:
        """Drop the box."""
        self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _check(self) -> None:
        if self.closed or self.broken:
            raise SandboxError("the box is closed" if self.closed else "the box is broken")

    def _name(self, path: str) -> str:
        self._check()
        name = normpath(path.removeprefix(self.workspace + "/") if path != self.workspace else ".")
        if name.startswith(("..", "/")):
            raise PathError(f"{path} is outside the workspace", code="outside")
        return name

    def _below(self, name: str) -> list[str]:
        inside = (p for p in self.tree if name == "." or p.startswith(name + "/"))
        return [p for p in inside if not p.startswith(".git/")]

    def _entry(self, name: str) -> Entry:
        if name in self.tree:
            return self.tree[name]
        if name == "." or self._below(name):
            raise PathError(f"{name} is a directory", code="is_directory")
        raise PathError(f"{name} does not exist")

    def _info(self, path: str) -> PathInfo:
        entry = self.tree.get(path)
        if entry is None:
            return PathInfo(path, "directory", 0)
        kind: Literal["file", "link"] = "link" if entry.mode == "link" else "file"
        return PathInfo(path, kind, len(entry.data), entry.mode == "exec")

    def _searched(self, path: str, glob: str) -> bool:
        plain = b"\0" not in self.tree[path].data[:8192]
        names = (path, path.rsplit("/", 1)[-1], "/" + path)
        return plain and (not glob or any(fnmatch.fnmatch(name, glob) for name in names))

    def _matches(self, path: str, wanted: re.Pattern[str], query: SearchQuery) -> list[Match]:
        lines = self.tree[path].data.decode("utf-8", "replace").splitlines()
        around = query.context_lines
        return [
            Match(
                path,
                i + 1,
                line,
                tuple(lines[max(0, i - around) : i]),
                tuple(lines[i + 1 : i + 1 + around]),
            )
            for i, line in enumerate(lines)
            if wanted.search(line)
        ]

    def _builtin(self, command: Sequence[str]) -> ExecResult:
        program, *rest = command or ["true"]
        if program in ("true", "false", "exit"):
            code = int(rest[0]) if rest else int(program == "false")
            return ExecResult(code, b"")
        if program in ("echo", "pwd"):
            text = " ".join(rest) if program == "echo" else self.workspace
            return _said(0, text.encode() + b"\n")
        if program == "cat" and all(name in self.tree for name in rest):
            return _said(0, b"".join(self.tree[name].data for name in rest))
        return _said(127, f"bash: {program}: command not found\n".encode())


def _said(code: int, output: bytes) -> ExecResult:
    return ExecResult(code, output, output_bytes=len(output))

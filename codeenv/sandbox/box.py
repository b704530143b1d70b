"""The sandbox a caller holds: every promise of the contract as a request to the box's server."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from codeenv.errors import PathError, SandboxError, UsageError
from codeenv.guest.frames import Frame, Header
from codeenv.guest.packing import pack
from codeenv.guest.reading import unpack
from codeenv.guest.spec import BoxSpec
from codeenv.sandbox.base import ExecResult, Match, PathInfo, SearchQuery, SearchResult
from codeenv.sandbox.host import Host, checked
from codeenv.sandbox.line import Line
from codeenv.sandbox.merging import merged
from codeenv.sandbox.snapshot import Snapshot
from codeenv.tree import Delta, Tree

_NOTHING = Tree({})
_TRIES = 3


@dataclass(eq=False)
class Box:
    """One episode's box on a host; see ``Sandbox``.

    Attributes:
        host: Where it is.
        spec: What it was opened with.
        overlay: Whether the workspace is an overlay; False where it had to be copied.
        on_close: Gives the host back, or ends it.
        line: Straight to its tool server; None where all goes through the supervisor.
        translate: Maps paths of the image to where they are (``local`` only).
        began_with: The workspace it was opened with.
        again: Opens another box like it; None where its state is more than files.
    """

    host: Host
    spec: BoxSpec
    overlay: bool
    on_close: Callable[["Box"], None]
    line: Line | None = None
    translate: Callable[[str], str] = str
    began_with: Tree = _NOTHING
    again: Callable[[], "Box"] | None = None
    _closed: bool = False

    @property
    def workspace(self) -> str:
        """Absolute path of the workspace in the box."""
        return self.spec.workspace

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
        """See ``Sandbox.exec``."""
        argv = ["bash", "-c", command] if isinstance(command, str) else list(command)
        header: Header = {
            "op": "exec",
            "argv": [self.translate(argument) for argument in argv],
            "timeout": timeout,
            "cwd": cwd,
            "env": {name: self.translate(value) for name, value in (env or {}).items()},
            "output_limit": output_limit,
            "report_limit": report_limit,
        }
        before = self.host.kills()
        reply = self._call(header, stdin, timeout=timeout, most=output_limit + report_limit)
        starved = ["memory"] if self.host.kills() > before else []
        size = reply.header["output_size"]
        return ExecResult(
            exit_code=reply.header["exit_code"],
            output=reply.payload[:size],
            timed_out=reply.header["timed_out"],
            truncated=reply.header["truncated"],
            output_bytes=reply.header["total"],
            report=reply.payload[size:],
            log_path=reply.header["log"],
            idle=reply.header["idle"],
            exhausted=tuple(sorted({*reply.header["exhausted"], *starved})),
        )

    def read_file(self, path: str, *, limit: int = 10 * 1024**2) -> bytes:
        """See ``Sandbox.read_file``."""
        return self._call({"op": "read", "path": path, "limit": limit}, most=limit).payload

    def write_file(self, path: str, data: bytes, *, executable: bool | None = None) -> None:
        """See ``Sandbox.write_file``."""
        self._call({"op": "write", "path": path, "executable": executable}, data)

    def list_files(self, path: str = ".", *, depth: int = 2) -> tuple[PathInfo, ...]:
        """See ``Sandbox.list_files``."""
        entries = self._call({"op": "list", "path": path, "depth": depth}).header["entries"]
        return tuple(PathInfo(*entry) for entry in entries)

    def search(self, query: SearchQuery) -> SearchResult:
        """See ``Sandbox.search``."""
        fields = {name: getattr(query, name) for name in SearchQuery.__slots__}
        header = self._call({"op": "search", "query": fields}, timeout=query.timeout).header
        matches = tuple(
            Match(path, line, text, tuple(before), tuple(after))
            for path, line, text, before, after in header["rows"]
        )
        return SearchResult(matches, header["counts"], sum(header["counts"].values()))

    def apply(self, delta: Delta) -> None:
        """See ``Sandbox.apply``."""
        index, blob = pack((path, entry.mode, entry.data) for path, entry in delta.write.items())
        self._call({"op": "apply", "index": index, "delete": sorted(delta.delete)}, blob)

    def export(self, *, only: Sequence[str] = (), largest: int = 0) -> Tree:
        """See ``Sandbox.export``."""
        reply = self._read_still({"op": "export", "only": list(only), "largest": largest})
        base = _NOTHING if reply.header["whole"] else self.began_with
        changes = unpack(reply.header["indexes"][0], reply.payload)
        return merged(base, changes, files=self.spec.entries, size=self.spec.disk)

    def snapshot(self) -> Snapshot:
        """See ``Sandbox.snapshot``."""
        if self.again is None:
            raise UsageError(
                "a box with servers has no snapshot: their state is not in files alone",
                hint="branch tasks whose environment starts no server",
            )
        reply = self._read_still({"op": "snapshot"})
        index = {name: value for name, value in reply.header.items() if name != "id"}
        return Snapshot(self.began_with.digest, index, reply.payload[:-1])

    def restore(self, snapshot: Snapshot) -> None:
        """See ``Sandbox.restore``."""
        if snapshot.workspace != self.began_with.digest:
            raise UsageError("the snapshot is of a box that was opened with another workspace")
        self._call({"op": "restore", **snapshot.index}, snapshot.data, timeout=60)

    def fork(self) -> "Box":
        """See ``Sandbox.fork``."""
        snapshot = self.snapshot()
        assert self.again is not None
        other = self.again()
        try:
            other.restore(snapshot)
        except BaseException:
            other.close()
            raise
        return other

    def close(self) -> None:
        """See ``Sandbox.close``."""
        if not self._closed:
            self._closed = True
            if self.line is not None:
                self.host.hang_up(self.line)
            self.on_close(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read_still(self, header: Header) -> Frame:
        """Have files read; again, if processes did not stand still (they are killed for it)."""
        for _ in range(_TRIES):
            with self._watched(), nullcontext() if self.line is None else self.line.quiet():
                reply = self.host.call({**header, "box": self.spec.box}, timeout=60)
            if not reply.payload[-1]:
                return reply
        raise PathError("the box's processes do not stand still", code="denied")

    def _call(
        self, header: Header, payload: bytes = b"", *, timeout: float = 0.0, most: int = 0
    ) -> Frame:
        """Ask the box's tool server; ``most`` bytes may come with the answer."""
        with self._watched():
            if self.line is None:
                header = {**header, "box": self.spec.box}
                return self.host.call(header, payload, timeout=timeout)
            self.host.stay()
            return checked(self.line.call(header, payload, timeout=timeout, most=most))

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Doubt the host if it fails."""
        if self._closed:
            raise SandboxError("the sandbox is closed")
        try:
            yield
        except SandboxError as error:
            if self._closed:  # under the call: no fault of the host's
                raise SandboxError("the box was closed") from error
            self.host.healthy = False
            raise

"""One wall from outside: requests to its supervisor, answers with a deadline, layers sent once."""

import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codeenv.errors import PathError, SandboxError, SandboxTimeout
from codeenv.guest.frames import Decoder, Frame, FrameError, Header
from codeenv.guest.packing import pack
from codeenv.sandbox.bundle import guest_archive
from codeenv.sandbox.image import ForkServer
from codeenv.sandbox.line import GRACE, Line
from codeenv.sandbox.transport import Transport
from codeenv.tree import Tree

_LAYERS_KEPT = 32
_OPENING = 30.0


@dataclass(frozen=True, slots=True)
class Start:
    """How a supervisor is told to begin.

    Attributes:
        root: Folder in the wall for layers.
        own_root: Whether the supervisor removes it at its end.
        uid: User to become if it starts as root; None to stay.
        idle_limit: Seconds without a request after which it ends by itself.
        watch_memory: Bytes of a box's processes to enforce by watching; 0 where a cgroup does.
    """

    root: str
    own_root: bool = False
    uid: int | None = None
    idle_limit: float = 6 * 3600.0
    watch_memory: int = 0

    def header(self) -> Header:
        """Return the request."""
        return {"op": "start", **{name: getattr(self, name) for name in Start.__slots__}}


@dataclass(eq=False)
class Host:
    """A live wall.  Thread-safe: whoever waits first reads the stream for all.

    Attributes:
        transport: The stream.
        healthy: False once anything was in doubt: then it gets no more boxes.
        lost: Whether the stream is of no use any more.
        boxes: How many boxes it has opened so far.
        facts: What the supervisor said when it started.
        kills: Tells how many processes the kernel has killed for the wall's memory, if only we see.
    """

    transport: Transport
    start: Start
    healthy: bool = True
    lost: bool = False
    boxes: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    kills: Callable[[], int] = lambda: 0
    _decoder: Decoder = field(default_factory=Decoder)
    _replies: dict[int, Frame] = field(default_factory=dict)
    _number: int = 0
    _reading: bool = False
    _layers: OrderedDict[str, int] = field(default_factory=OrderedDict)
    _forks: bool = False
    _lines: set[Line] = field(default_factory=set)
    _called: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._state = threading.Condition()
        self._writing = threading.Lock()
        self._layering = threading.Lock()
        try:
            self.transport.send(guest_archive(), time.monotonic() + GRACE)
            self.facts = self.call(self.start.header()).header
            self.transport.change_over(self.call)
        except BaseException:
            self.close()
            raise

    def call(
        self,
        header: Header,
        payload: bytes = b"",
        *,
        timeout: float = 0.0,
        fds: Sequence[int] = (),
    ) -> Frame:
        """Ask and wait for the answer.

        Raises:
            PathError: As the box says.
            SandboxError: If box or host failed.
            SandboxTimeout: If no answer came within ``timeout`` and the grace; the host is then
                given up.
        """
        deadline = time.monotonic() + timeout + GRACE
        with self._state:
            self._number += 1
            number = self._number
        request = Frame({**header, "id": number}, payload).encode()
        try:
            with self._writing:
                self.transport.send(request, deadline, fds)
            reply = self._await(number, deadline)
        except BaseException:  # interrupted in mid-frame: the stream is of no use any more
            self.healthy, self.lost = False, True
            raise
        self._called = time.monotonic()
        return checked(reply)

    def open(self, spec: Mapping[str, object], pair: int = 0) -> tuple[Frame, Line | None]:
        """Open a box; return the answer, and a line to it where there can be one.

        There is none where what its commands used up is known to the supervisor alone.  Two boxes
        with the same ``pair`` are joined by a socket.
        """
        request: Header = {"op": "open", "spec": spec, "pair": pair}
        if not self.transport.passes or self.start.watch_memory:
            return self.call(request, timeout=_OPENING), None
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                reply = self.call(request, timeout=_OPENING, fds=[theirs.fileno()])
        except BaseException:
            ours.close()
            raise
        line = Line(ours)
        if not reply.header["line"]:  # a descriptor that was lost on the way
            line.close()
            return reply, None
        self._lines.add(line)
        return reply, line

    def hang_up(self, line: Line) -> None:
        """Close a line."""
        line.close()
        self._lines.discard(line)

    def stay(self) -> None:
        """Keep the supervisor from thinking itself forgotten, if it heard nothing for long."""
        if time.monotonic() - self._called > self.start.idle_limit / 10:
            self.call({"op": "ping"})

    def answers(self) -> bool:
        """Ask whether the wall still lives."""
        try:
            self.call({"op": "ping"})
        except SandboxError:
            self.healthy = False
        return self.healthy

    def provide(self, tree: Tree) -> str:
        """Make sure a tree is a layer of the wall; return its digest."""
        digest = tree.digest
        with self._layering:
            if digest not in self._layers:
                items = ((path, entry.mode, entry.data) for path, entry in tree.items())
                index, blob = pack(items)
                self.call({"op": "layer", "digest": digest, "index": index}, blob, timeout=60)
                self._layers[digest] = 0
            self._layers[digest] += 1
            self._layers.move_to_end(digest)
            self._forget_some()
        return digest

    def fork_from(self, server: ForkServer, variables: Mapping[str, str]) -> None:
        """Start a fork server, the first time; boxes are made by it as soon as it is ready."""
        with self._layering:
            if self._forks:
                return
            self._forks = True
        env = {**variables, **server.env}
        self.call({"op": "fork_server", "argv": list(server.argv), "env": env}, server.stdin)

    def release(self, digest: str) -> None:
        """Say that one box less uses a layer."""
        with self._layering:
            self._layers[digest] -= 1

    def close(self) -> None:
        """End the wall.  Idempotent."""
        self.healthy, self.lost = False, True
        for line in tuple(self._lines):
            self.hang_up(line)
        self.transport.close()

    def _forget_some(self) -> None:
        unused = [digest for digest, users in self._layers.items() if users == 0]
        for digest in unused[: max(len(self._layers) - _LAYERS_KEPT, 0)]:
            del self._layers[digest]
            self.call({"op": "forget", "digest": digest})

    def _await(self, number: int, deadline: float) -> Frame:
        while True:
            with self._state:
                while number not in self._replies and self._reading:
                    if not self._state.wait(deadline - time.monotonic()):
                        raise SandboxTimeout("the sandbox host does not answer")
                if number in self._replies:
                    return self._replies.pop(number)
                self._reading = True
            frames: tuple[Frame, ...] = ()
            try:
                frames = self._read(deadline)
            finally:
                with self._state:
                    self._replies.update((frame.header["id"], frame) for frame in frames)
                    self._reading = False
                    self._state.notify_all()

    def _read(self, deadline: float) -> tuple[Frame, ...]:
        data = self.transport.receive(deadline)
        if not data:
            raise SandboxError(f"the sandbox host has ended: {self.transport.diagnosis()}")
        try:
            return tuple(self._decoder.feed(data))
        except FrameError as error:
            raise SandboxError(f"the sandbox host speaks nonsense: {error}") from error


def checked(reply: Frame) -> Frame:
    """Return an answer, or raise what it says."""
    header = reply.header
    if header.get("error") == "path":
        raise PathError(header["message"], code=header["code"])
    if "error" in header:
        raise SandboxError(header["message"])
    return reply

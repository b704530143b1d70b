"""The supervisor of one wall: opens and closes boxes, relays requests to them, exports their files.

Speaks frames on its standard input and output; ends with all boxes when its input ends.
"""

import contextlib
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from codeenv.guest import boxes, fork_client, frames, packing, plain, processes, system
from codeenv.guest.boxes import Box, BoxError
from codeenv.guest.exhaustion import MEMORY
from codeenv.guest.frames import Frame, Header
from codeenv.guest.pairs import Pairs
from codeenv.guest.reading import ExportError, Reader
from codeenv.guest.source import Source
from codeenv.guest.spares import Spares
from codeenv.guest.spec import BoxSpec
from codeenv.guest.watchdog import Watchdog


@dataclass
class Supervisor:
    """Serves one host process.

    Attributes:
        source: Descriptor requests come from.
        sink: Descriptor replies go to.
        root: Folder for layers; made if missing, removed at the end if it was.
    """

    source: int
    sink: int
    root: str = ""
    _boxes: dict[int, Box] = field(default_factory=dict)
    _decoder: frames.Decoder = field(default_factory=frames.Decoder)
    _over: bool = False
    _idle_limit: float = 3600.0
    _watchdog: Watchdog | None = None
    _spares: Spares = field(default_factory=Spares)
    _door: int | None = None
    _pairs: Pairs = field(default_factory=Pairs)

    def __post_init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self._source = Source.of(self.source)
        self.selector.register(self.source, selectors.EVENT_READ, self._receive)
        self._heard = time.monotonic()

    def run(self) -> None:
        """Serve until the input ends or nothing was asked for too long; leave nothing behind."""
        try:
            while not self._over:
                events = self.selector.select(self._tick())
                for key, _ in events:
                    key.data()
                if not events:
                    self._spares.refill()
                if time.monotonic() - self._heard > self._idle_limit:
                    self._over = True
        finally:
            for box in self._boxes.values():
                box.kill()
            self._spares.clear()
            processes.kill_all(os.getpid())
            if self.root:
                plain.remove(self.root)

    def _tick(self) -> float:
        wait = self._spares.delay or self._idle_limit
        if self._watchdog is None or not self._boxes:
            return wait
        self._watchdog.check(box.pid for box in self._boxes.values())
        return min(wait, self._watchdog.interval)

    def _receive(self) -> None:
        data = self._source.read()
        self._over = not data
        self._heard = time.monotonic()
        for request in self._decoder.feed(data):
            try:
                reply = self._answer(request)
            except ExportError as error:
                reply = Frame({"error": "path", "code": "too_large", "message": str(error)})
            except (BoxError, OSError) as error:
                reply = Frame({"error": "sandbox", "message": str(error)})
            if reply is not None:
                self._send(request.header["id"], reply)
            if self._door is not None:
                self._move(self._door)

    def _move(self, door: int) -> None:
        """Take requests from the door and answer there; the old input becomes a life line."""
        old, self._door = self.source, None
        self.source = self.sink = door
        self._source = Source.of(door)
        self.selector.modify(old, selectors.EVENT_READ, lambda: self._feel(old))
        self.selector.register(self.source, selectors.EVENT_READ, self._receive)

    def _feel(self, line: int) -> None:
        self._over = self._over or not os.read(line, 1)

    def _send(self, number: int, reply: Frame) -> None:
        header = {**reply.header, "id": number}
        frames.write_all(self.sink, Frame(header, reply.payload).encode())

    def _answer(self, request: Frame) -> Frame | None:
        own = _OPERATIONS.get(request.header["op"])
        if own is not None:
            return own(self, request.header, request.payload)
        box = self._box(request.header)
        box.send(request)
        return None

    def _box(self, header: Header) -> Box:
        try:
            return self._boxes[header["box"]]
        except KeyError:
            raise BoxError("the box is gone") from None

    def start(self, header: Header, payload: bytes) -> Frame:
        """Learn where layers go and how long to wait; become an ordinary user."""
        os.makedirs(header["root"], exist_ok=True)
        if header["uid"] is not None and os.getuid() == 0:
            boxes.become(header["uid"], header["root"])
        if header["own_root"]:
            self.root = header["root"]
        system.prctl(system.PR_SET_DUMPABLE, 0)  # who shares our user must not look into us
        self._layers = f"{header['root']}/layers"
        self._idle_limit = header["idle_limit"]
        if header["watch_memory"]:
            self._watchdog = Watchdog(header["watch_memory"])
        version = ".".join(map(str, os.sys.version_info[:3]))  # type: ignore[attr-defined]
        return Frame({"python": version, "uid": os.getuid()})

    def knock(self, header: Header, payload: bytes) -> Frame:
        """Connect to a socket of the host's, to be asked there; stay where it cannot be reached."""
        door = socket.socket(socket.AF_UNIX)
        try:
            door.connect(header["path"])
        except OSError:
            door.close()
            return Frame({"open": False})
        self._door = door.detach()
        return Frame({"open": True})

    def layer(self, header: Header, payload: bytes) -> Frame:
        """Unpack a layer."""
        where = self._layer(header["digest"])
        packing.write_tree(f"{where}.new", packing.unpack(header["index"], payload))
        os.rename(f"{where}.new", where)
        return Frame({})

    def forget(self, header: Header, payload: bytes) -> Frame:
        """Remove a layer that no box uses."""
        plain.remove(self._layer(header["digest"]))
        return Frame({})

    def open(self, header: Header, payload: bytes) -> Frame:
        """Open a box; a descriptor that came along is a line to its tool server.

        Two boxes with the same ``pair`` get the ends of a socket for their commands.
        """
        spec = BoxSpec.from_header(header)
        line, fds = self._source.take(), {}
        if line is not None:
            fds["line"] = line
        if header.get("pair"):
            fds["link"] = self._pairs.end(header["pair"])
        try:
            box = self._spares.open(spec, self._layer, fds)
        finally:
            for fd in fds.values():
                os.close(fd)
        self._boxes[spec.box] = box
        self.selector.register(box.channel, selectors.EVENT_READ, lambda: self._relay(box))
        return Frame({"overlay": box.overlay, "line": line is not None})

    def fork_server(self, header: Header, payload: bytes) -> Frame:
        """Start a process that boxes are forked from, if there is such a program."""
        with contextlib.suppress(OSError):
            self._spares.fork_from(fork_client.start(header["argv"], header["env"], payload))
        return Frame({})

    def close(self, header: Header, payload: bytes) -> Frame:
        """Close a box; none is fine."""
        box = self._boxes.get(header["box"])
        if box is not None:
            self._drop(box, "the box was closed")
        return Frame({})

    def export(self, header: Header, payload: bytes) -> None:
        """Send what differs in a box's workspace from its layer, without ``.git``."""
        box = self._box(header)
        only, largest = tuple(header["only"]), header["largest"]
        limits = Reader(box.spec.entries, box.spec.disk, only=only, largest=largest)
        self._stream(header["id"], box, box.changes[:1], limits, ".git")

    def snapshot(self, header: Header, payload: bytes) -> None:
        """Send all files of a box."""
        box = self._box(header)
        limits = Reader(2 * box.spec.entries, box.spec.disk)
        self._stream(header["id"], box, box.changes, limits)

    def _stream(
        self, number: int, box: Box, folders: Sequence[int], limits: Reader, without: str = ""
    ) -> None:
        """Send folders of a box while its processes stand still.

        The last byte of the payload tells whether they did: what was sent before is of no use else.
        """
        state = box.ask("freeze")
        try:
            again = replace(limits)
            indexes = [limits.scan(folder, without=without) for folder in folders]
        except BaseException:
            box.ask("thaw")
            raise
        sizes = [sum(int(item[4]) for item in index) for index in indexes]
        header = {"id": number, "indexes": indexes, "sizes": sizes, "whole": not box.overlay}
        header["commands"] = state["commands"]
        self._write(frames.head(header, sum(sizes) + 1))
        for folder, index in zip(folders, indexes, strict=True):
            again.send(folder, index, self._write, without=without)
        moved = True
        with contextlib.suppress(BoxError):
            moved = box.ask("thaw")["moved"]
        self._write(bytes([moved]))

    def _write(self, data: bytes) -> None:
        frames.write_all(self.sink, data)

    def ping(self, header: Header, payload: bytes) -> Frame:
        """Say that we live."""
        return Frame({"boxes": len(self._boxes)})

    def _relay(self, box: Box) -> None:
        if self._boxes.get(box.spec.box) is not box:
            return  # closed by what came in the same moment
        try:
            for number, reply in box.receive():
                if "exhausted" in reply.header and self._starved(box):
                    reply.header["exhausted"].append(MEMORY)
                self._send(number, reply)
        except BoxError as error:
            self._drop(box, str(error))

    def _starved(self, box: Box) -> bool:
        """Return whether a process of a box had to be killed for its memory."""
        return self._watchdog is not None and self._watchdog.has_killed(box.pid)

    def _drop(self, box: Box, why: str) -> None:
        """End a box; whoever still waits for its answers is told why."""
        del self._boxes[box.spec.box]
        self.selector.unregister(box.channel)
        box.kill()
        for number in box.waiting:
            self._send(number, Frame({"error": "sandbox", "message": why}))

    def _layer(self, digest: str) -> str:
        return f"{self._layers}/{digest}"


_Operation = Callable[[Supervisor, Header, bytes], Frame | None]
_OPERATIONS: dict[str, _Operation] = {
    "start": Supervisor.start,
    "knock": Supervisor.knock,
    "layer": Supervisor.layer,
    "forget": Supervisor.forget,
    "open": Supervisor.open,
    "fork_server": Supervisor.fork_server,
    "close": Supervisor.close,
    "export": Supervisor.export,
    "snapshot": Supervisor.snapshot,
    "ping": Supervisor.ping,
}


def main() -> None:
    """Serve the process at the other end of standard input and output."""
    os.umask(0o022)
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for standard in (0, 1):
        os.dup2(null, standard)
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(sign, signal.SIG_IGN)
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.suppress(BrokenPipeError, ConnectionError):
        Supervisor(source, sink).run()

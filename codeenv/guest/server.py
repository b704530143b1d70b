"""The tool server: one per box, answers one request at a time over a socket."""

import fcntl
import os
import selectors
import signal
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial

from codeenv.guest import exhaustion, frames, processes, reading, snapshots
from codeenv.guest.commands import OWN_FDS, Runner
from codeenv.guest.files import Files
from codeenv.guest.forked import Forked, Template
from codeenv.guest.frames import Frame, Header
from codeenv.guest.packing import unpack
from codeenv.guest.pipes import Command
from codeenv.guest.places import PlaceError, Places
from codeenv.guest.search import Query, search

_HANDLED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a tool server works on.

    Attributes:
        places: The workspace and the temporary folders.
        variables: Environment of every command.
        logs: Folder for the full logs of commands.
        alone: Whether every process the server can see and signal belongs to its box.
        idle: Seconds a command may write nothing; 0 for no limit.
    """

    places: Places
    variables: Mapping[str, str]
    logs: str
    alone: bool
    idle: float = 0.0


@dataclass
class Server:
    """Dispatches requests to the tools.

    Attributes:
        setting: What to work on.
        channels: Sockets that requests come from; the first is the supervisor's.
        template: What this process has started; commands like it are forked.
        link: One end of a socket for the first command, whose other end is another box's; or -1.
    """

    setting: Setting
    channels: Sequence[socket.socket]
    template: Template | None = None
    link: int = -1
    _decoders: dict[socket.socket, frames.Decoder] = field(default_factory=dict)
    _steps: Mapping[processes.Process, bytes] = field(default_factory=dict)

    def prepare(self) -> None:
        """Take up what was inherited, in the process that serves."""
        self.channels = [_beside_own_fds(channel) for channel in self.channels]
        if self.link in OWN_FDS:
            self.link = fcntl.fcntl(self.link, fcntl.F_DUPFD_CLOEXEC, max(OWN_FDS) + 1)
        _reserve_own_fds()
        self.selector = selectors.DefaultSelector()
        self._supervisor = self.channels[0]
        self._decoders = {channel: frames.Decoder() for channel in self.channels}
        self.files = Files(self.setting.places)
        self.runner = Runner(
            self.setting.variables,
            self.setting.logs,
            self.setting.alone,
            self.selector,
            self.template,
            self.link,
        )

    def serve(self) -> None:
        """Answer until the supervisor hangs up."""
        self._listen()
        try:
            while self._supervisor in self._decoders:
                self.runner.turn(None)
        except Forked:  # these would close descriptors of the command's when they are collected
            self.selector.close()
            for channel in self.channels:
                channel.close()
            raise

    def _listen(self) -> None:
        for channel in self._decoders:
            hear = partial(self._receive, channel)
            self.selector.register(channel, selectors.EVENT_READ, hear)

    def _receive(self, channel: socket.socket) -> None:
        """Answer one channel; the others wait."""
        for each in self._decoders:
            self.selector.unregister(each)
        try:
            self._serve(channel)
        except ConnectionError:
            del self._decoders[channel]
            channel.close()
        self._listen()

    def _serve(self, channel: socket.socket) -> None:
        data = channel.recv(frames.CHUNK)
        if not data:
            raise ConnectionResetError
        for request in self._decoders[channel].feed(data):
            reply = self._answer(request)
            reply.header["id"] = request.header["id"]
            frames.write_all(channel.fileno(), reply.encode())

    def _answer(self, request: Frame) -> Frame:
        try:
            return _HANDLERS[request.header["op"]](self, request.header, request.payload)
        except PlaceError as error:
            return Frame({"error": "path", "code": error.code, "message": error.message})
        except Exception as error:  # noqa: BLE001 - the border: our own failure is reported
            return Frame({"error": "sandbox", "message": f"{type(error).__name__}: {error}"})

    def exec(self, header: Header, payload: bytes) -> Frame:
        """Run a command."""
        command = Command(
            argv=header["argv"],
            timeout=header["timeout"],
            cwd=os.path.join(self.setting.places.workspace, header["cwd"]).rstrip("/") or "/",
            env=header["env"],
            stdin=payload,
            output_limit=header["output_limit"],
            report_limit=header["report_limit"],
            idle_timeout=self.setting.idle,
        )
        before = exhaustion.kills()
        done = asdict(self.runner.run(command))
        output, report = done.pop("output"), done.pop("report")
        lacking = exhaustion.full(self.setting.places.workspace) if self.setting.alone else []
        lacking += [exhaustion.MEMORY] if exhaustion.kills() > before else []
        answer = {**done, "output_size": len(output), "exhausted": lacking}
        return Frame(answer, output + report)

    def read(self, header: Header, payload: bytes) -> Frame:
        """Read a file."""
        return Frame({}, self.files.read(header["path"], header["limit"]))

    def write(self, header: Header, payload: bytes) -> Frame:
        """Write a file."""
        self.files.write(header["path"], payload, header["executable"])
        return Frame({})

    def list(self, header: Header, payload: bytes) -> Frame:
        """List a folder."""
        return Frame({"entries": self.files.list(header["path"], header["depth"])})

    def search(self, header: Header, payload: bytes) -> Frame:
        """Search file contents."""
        hits = search(Query(**header["query"]), self.setting.places, self.setting.variables)
        return Frame({"rows": hits.rows, "counts": hits.counts})

    def apply(self, header: Header, payload: bytes) -> Frame:
        """Write and delete files."""
        self.files.apply(unpack(header["index"], payload), header["delete"])
        return Frame({})

    def restore(self, header: Header, payload: bytes) -> Frame:
        """Make the files of this fresh box those of a snapshot."""
        places = self.setting.places
        roots = (places.workspace, self.setting.variables["HOME"], *places.temporary)
        if header["whole"]:
            snapshots.empty(places.workspace)
        start = 0
        for root, index, size in zip(roots, header["indexes"], header["sizes"], strict=True):
            part = payload[start : start + size]
            snapshots.restore(root, reading.unpack(index, part))
            start += size
        self.runner.number = header["commands"]
        return Frame({})

    def freeze(self, header: Header, payload: bytes) -> Frame:
        """Stop everything in the box but this server."""
        self._signal(signal.SIGSTOP)
        processes.await_stop(os.getpid())
        self._steps = processes.steps(os.getpid())
        return Frame({"commands": self.runner.number})

    def thaw(self, header: Header, payload: bytes) -> Frame:
        """Let everything go on; say whether something did not wait for that."""
        me = os.getpid()
        moved = processes.is_any_running(me) or self._steps != processes.steps(me)
        self._signal(signal.SIGKILL if moved else signal.SIGCONT)
        return Frame({"moved": moved})

    def _signal(self, sign: signal.Signals) -> None:
        if self.setting.alone:
            processes.send(-1, sign)  # all at once: nothing can fork away
            return
        for pid in processes.descendants(os.getpid()):
            processes.send(pid, sign)


_HANDLERS = {
    "exec": Server.exec,
    "read": Server.read,
    "write": Server.write,
    "list": Server.list,
    "search": Server.search,
    "apply": Server.apply,
    "restore": Server.restore,
    "freeze": Server.freeze,
    "thaw": Server.thaw,
}


def run_server(server: Server, *, init: bool) -> None:
    """Serve until the first channel closes.

    Args:
        server: What serves.
        init: Whether this process is the init of a pid namespace: then the kernel drops signals
            from inside that have no handler; else our handlers must swallow them.

    Raises:
        Forked: In such commands.
    """
    for sign in _HANDLED:  # what we ignored as the supervisor does, commands would ignore, too
        signal.signal(sign, signal.SIG_DFL if init else lambda number, frame: None)
    server.prepare()
    os.chdir(server.setting.places.workspace)
    server.serve()


def _beside_own_fds(channel: socket.socket) -> socket.socket:
    """Return a channel that is not at a number that commands get descriptors at."""
    if channel.fileno() not in OWN_FDS:
        return channel
    moved = fcntl.fcntl(channel.fileno(), fcntl.F_DUPFD_CLOEXEC, max(OWN_FDS) + 1)
    channel.close()
    return socket.socket(fileno=moved)


def _reserve_own_fds() -> None:
    """Keep those numbers free, so that nothing of ours is ever lost to them."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number in OWN_FDS:
        if null != number:
            os.dup2(null, number, inheritable=False)
    if null not in OWN_FDS:
        os.close(null)

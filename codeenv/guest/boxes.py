"""Starting, asking and ending the process that serves one box."""

import contextlib
import os
import signal
import socket
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from codeenv.guest import frames, namespaces, plain, processes, system
from codeenv.guest.forked import Forked, Template
from codeenv.guest.frames import Frame, Header
from codeenv.guest.server import Server, run_server
from codeenv.guest.source import Source
from codeenv.guest.spec import BoxSpec

_PATIENCE = 30.0
_MOST_FOLDERS = 16


class BoxError(Exception):
    """Raised when a box does not come up, or is gone."""


@dataclass
class Box:
    """A live box as its supervisor sees it.

    Attributes:
        spec: What it was opened with.
        pid: Its first process.
        channel: Socket to its tool server.
        changes: Descriptors of the folders that hold all its files: what differs from the layer,
            home, temporary ones.
        overlay: Whether the workspace is an overlay (else a copy).
        waiting: Requests its server has not answered yet.
    """

    spec: BoxSpec
    pid: int
    channel: socket.socket
    changes: tuple[int, ...] = ()
    overlay: bool = False
    waiting: set[int] = field(default_factory=set)
    _decoder: frames.Decoder = field(default_factory=frames.Decoder)

    def send(self, request: Frame) -> None:
        """Pass a request on."""
        self.waiting.add(request.header["id"])
        try:
            self.channel.sendall(request.encode())
        except OSError as error:
            raise BoxError(f"the box does not listen: {error}") from error

    def receive(self) -> Iterator[tuple[int, Frame]]:
        """Yield the answers that are there, with the numbers of their requests.

        Raises:
            BoxError: If the server is gone or does not keep to the protocol.
        """
        try:
            data = self.channel.recv(frames.CHUNK)
        except OSError as error:
            raise BoxError(f"the box does not answer: {error}") from error
        if not data:
            raise BoxError("the box's tool server has ended")
        try:
            for reply in self._decoder.feed(data):
                number = reply.header.get("id")
                if number not in self.waiting:
                    raise BoxError("the box answered what was not asked")
                self.waiting.discard(number)
                yield number, reply
        except frames.FrameError as error:
            raise BoxError(str(error)) from error

    def ask(self, op: str) -> Header:
        """Ask the server for something short; return the answer."""
        if self.waiting:
            raise BoxError("the box is busy")
        self.send(Frame({"id": 0, "op": op}))
        answer: Header = {}
        while self.waiting:
            for _, reply in self.receive():
                answer = reply.header
                if "error" in answer:
                    raise BoxError(str(answer.get("message")))
        return answer

    def kill(self) -> None:
        """End every process of the box and forget its files."""
        if self.spec.mode == "plain":
            processes.kill_all(self.pid)
        processes.send(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self.channel.close()
        for fd in self.changes:
            os.close(fd)
        if self.spec.mode == "plain" and not self.spec.alone:
            for _ in processes.reap():
                pass
            plain.remove(os.path.dirname(self.spec.workspace))


def start(spec: BoxSpec, channel: socket.socket, template: Template | None = None) -> int:
    """Fork a box's first process, which listens to ``channel``; return its number.

    Args:
        spec: The box.
        channel: Its end of the socket.
        template: What this process has started; the box is then our parent's child, not ours.

    Raises:
        OSError: If the kernel refuses the process.
        Forked: In commands that go on from the template.
    """
    ids = os.getuid(), os.getgid()
    if spec.mode == "plain":
        pid = os.fork()
    else:
        os.makedirs(namespaces.STAGE, exist_ok=True)
        parent = system.CLONE_PARENT if template else 0
        pid = system.fork_into(namespaces.flags(spec) | parent)
    if pid == 0:
        _child(spec, channel, ids, template)
    return pid


def prepare(spec: BoxSpec, start: Callable[[BoxSpec, socket.socket], int] = start) -> Box:
    """Start a box as far as that does not depend on what will be in it; ``furnish`` goes on.

    Args:
        spec: The box.
        start: Starts its first process, given the end of the socket that it listens to.

    Raises:
        OSError: If the process cannot be had.
    """
    ours, theirs = socket.socketpair()
    ours.settimeout(_PATIENCE)
    try:
        return Box(spec, start(spec, theirs), ours)
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()


def furnish(box: Box, spec: BoxSpec, layer: Callable[[str], str], fds: Mapping[str, int]) -> Box:
    """Give a prepared box its files; return it when its tool server is ready.

    Args:
        box: As ``prepare`` returned it.
        spec: What it is to be.
        layer: Returns the folder of a layer.
        fds: Sockets for its tool server: ``line`` to answer, too, and ``link`` for its commands.

    Raises:
        BoxError: If it does not come up; the message says at which step.  It is gone then.
    """
    box.spec = spec
    folders = [(target, layer(digest)) for target, digest in spec.mounts]
    try:
        if spec.mode == "plain":
            plain.prepare(spec, layer(spec.layer), folders)
        with contextlib.suppress(OSError):  # it may be gone already: then it says why
            files = {"layer": layer(spec.layer), "mounts": folders, "fds": list(fds)}
            socket.send_fds(box.channel, [Frame(files).encode()], list(fds.values()))
        _await_ready(box)
    except (BoxError, OSError) as error:
        box.kill()
        raise BoxError(str(error)) from error
    return box


def become(uid: int, root: str) -> None:
    """Turn from root into an ordinary user without privileges, for good.

    First take the folder for layers over, and show all of ``/proc``: what a wall covers of it as
    root, boxes may not uncover, and the kernel would then refuse them a ``/proc`` of their own.
    """
    os.chown(root, uid, uid)
    flags = system.MS_NOSUID | system.MS_NODEV | system.MS_NOEXEC
    system.mount("proc", "/proc", "proc", flags)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _await_ready(box: Box) -> None:
    try:
        data, fds, _, _ = socket.recv_fds(box.channel, 65536, _MOST_FOLDERS)
    except OSError as error:
        raise BoxError(f"the box did not come up: {error}") from error
    if not data:
        raise BoxError("the box ended before it was ready")
    ready = next(iter(frames.Decoder().feed(data)))
    if "error" in ready.header:
        raise BoxError(f"the box did not come up: {ready.header['error']}")
    box.overlay = ready.header["overlay"]
    box.changes = tuple(fds)


def _child(
    spec: BoxSpec, channel: socket.socket, outer: tuple[int, int], template: Template | None
) -> None:
    """Be the box; never returns, but in commands that go on from the template."""
    try:
        _close_others(channel.fileno())
        system.prctl(system.PR_SET_DUMPABLE, 1)  # else its own entries in /proc were not its own
        if spec.mode == "namespaces":
            namespaces.enter(spec, outer)
        else:
            plain.enter(spec)
        files, fds = _await_files(channel)
        overlay, changes = False, -1
        if spec.mode == "namespaces":
            overlay, changes = namespaces.furnish(spec, files["layer"], files["mounts"])
        _send_folders(channel, spec, overlay, changes)
        init = spec.mode == "namespaces"
        line = [socket.socket(fileno=fds["line"])] if "line" in fds else []
        server = Server(spec.setting, [channel, *line], template, fds.get("link", -1))
        run_server(server, init=init)
    except Forked:
        raise
    except BaseException as error:  # noqa: BLE001 - the border of the process
        with contextlib.suppress(OSError):
            os.write(2, f"{_trace(error)}\n".encode())
            channel.sendall(Frame({"error": _trace(error)}).encode())
        os._exit(1)
    os._exit(0)


def _send_folders(channel: socket.socket, spec: BoxSpec, overlay: bool, changes: int) -> None:
    """Say that the box is ready, and hand over descriptors of its folders."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    changed = os.open(spec.workspace, flags) if changes < 0 else changes
    fds = [changed, *(os.open(folder, flags) for folder in (spec.home, *spec.temporary))]
    socket.send_fds(channel, [Frame({"overlay": overlay}).encode()], fds)
    for fd in fds:
        os.close(fd)


def _await_files(channel: socket.socket) -> tuple[Header, dict[str, int]]:
    """Return what the box is to hold, and descriptors by what they are for.

    Ends quietly if the supervisor has no use for the box.
    """
    source, decoder = Source(channel), frames.Decoder()
    while data := source.read():
        for request in decoder.feed(data):
            passed = {name: source.take() for name in request.header["fds"]}
            return request.header, {name: fd for name, fd in passed.items() if fd is not None}
    os._exit(0)


def _close_others(keep: int) -> None:
    """Close everything inherited from the supervisor but standard streams and the channel."""
    os.closerange(3, keep)
    os.closerange(keep + 1, os.sysconf("SC_OPEN_MAX"))


def _trace(error: BaseException) -> str:
    """Return an error and where it happened (the source itself is not on any disk)."""
    steps = traceback.walk_tb(error.__traceback__)
    where = [f"{frame.f_code.co_name}:{line}" for frame, line in steps]
    return f"{type(error).__name__}: {error} ({' > '.join(where)})"

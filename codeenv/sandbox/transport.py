"""The byte stream to a wall's supervisor, and the handle that ends the wall."""

import contextlib
import select
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from codeenv.errors import SandboxError, SandboxTimeout
from codeenv.guest.frames import Frame, Header
from codeenv.guest.plain import remove
from codeenv.sandbox.cgroup import MemoryGroup
from codeenv.sandbox.spawn import spawn

_CHUNK = 1024**2
_PATIENCE = 5.0


class Transport(Protocol):
    """A stream of bytes to a wall and back.  ``deadline`` is on ``time.monotonic``.

    Attributes:
        passes: Whether descriptors can be sent along.
    """

    @property
    def passes(self) -> bool: ...  # noqa: D102 - see the class

    def send(self, data: bytes, deadline: float, fds: Sequence[int] = ()) -> None:
        """Send every byte, and descriptors with the first.

        Raises:
            SandboxError: If the wall is gone.
            SandboxTimeout: If it does not read.
        """
        ...

    def receive(self, deadline: float) -> bytes:
        """Return the next bytes, nothing at the end of the stream.

        Raises:
            SandboxTimeout: If nothing comes.
        """
        ...

    def change_over(self, ask: Callable[[Header], Frame]) -> None:
        """Go on over a faster connection if there is one; ``ask`` is answered over the first."""
        ...

    def close(self) -> None:
        """End the wall with all that is in it.  Idempotent."""
        ...

    def diagnosis(self) -> str:
        """Return the end of what the wall wrote on its standard error."""
        ...


class SocketStream:
    """A connected socket that one thread may close while others use it.

    Closing hangs up first, which wakes every user, and frees the descriptor after the last one has
    let go: else its number could already mean another connection.
    """

    def __init__(self, connection: socket.socket) -> None:
        """Take the socket over."""
        connection.setblocking(False)
        self._socket = connection
        self._state = threading.Condition()
        self._users = 0
        self._over = False

    def send(self, data: bytes, deadline: float, fds: Sequence[int] = ()) -> None:
        """Send every byte, and descriptors with the first.

        Raises:
            OSError: If the other end is gone.
            SandboxError: If the stream was closed here.
            SandboxTimeout: If the other end does not read.
        """
        view = memoryview(data)
        with self._use():
            while view:
                try:
                    view = view[self._send(view[:_CHUNK], fds) :]
                    fds = ()
                except BlockingIOError:
                    self._wait(select.POLLOUT, deadline)

    def receive(self, deadline: float) -> bytes:
        """Return the next bytes; nothing at the end, and after the stream was closed here.

        Raises:
            SandboxTimeout: If nothing comes.
        """
        try:
            with self._use():
                while True:
                    self._wait(select.POLLIN, deadline)
                    with contextlib.suppress(BlockingIOError):
                        return self._socket.recv(_CHUNK)
        except SandboxTimeout:
            raise
        except (OSError, SandboxError):
            return b""

    def close(self) -> None:
        """Hang up.  Idempotent."""
        with self._state:
            if self._over:
                return
            self._over = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with self._state:
            self._state.wait_for(lambda: not self._users, timeout=_PATIENCE)
        self._socket.close()

    @contextlib.contextmanager
    def _use(self) -> Iterator[None]:
        with self._state:
            if self._over:
                raise SandboxError("the sandbox host was closed")
            self._users += 1
        try:
            yield
        finally:
            with self._state:
                self._users -= 1
                self._state.notify_all()

    def _send(self, data: memoryview, fds: Sequence[int]) -> int:
        return socket.send_fds(self._socket, [data], fds) if fds else self._socket.send(data)

    def _wait(self, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(self._socket, event)
        if not poll.poll(1000 * max(deadline - time.monotonic(), 0)):
            raise SandboxTimeout("the sandbox host does not answer")


class ProcessTransport:
    """The standard streams of a child process: one end of a pair of sockets."""

    passes = True

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        pass_fds: Sequence[int] = (),
        group: MemoryGroup | None = None,
        folder: Path | None = None,
    ) -> None:
        """Start the process.

        Args:
            argv: Its command.
            env: Its environment.
            pass_fds: Descriptors it inherits.
            group: Control group it starts in, removed with it.
            folder: Removed with it.

        Raises:
            SandboxError: If it cannot be started.
        """
        self.group, self._folder = group, folder
        command = argv if group is None else group.command(argv)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the transport
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = spawn(
                    lambda: subprocess.Popen(
                        command,
                        stdin=theirs.fileno(),
                        stdout=theirs.fileno(),
                        stderr=self._log,
                        env=dict(env),
                        pass_fds=pass_fds,
                        cwd="/",
                        start_new_session=True,
                    )
                )
        except OSError as error:
            ours.close()
            self._log.close()
            self._leave()
            raise SandboxError(f"cannot start {argv[0]}: {error.strerror}") from error
        self._stream = SocketStream(ours)
        self._closing = threading.Lock()
        self._closed = False

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def send(self, data: bytes, deadline: float, fds: Sequence[int] = ()) -> None:
        """See ``Transport.send``."""
        try:
            self._stream.send(data, deadline, fds)
        except (BrokenPipeError, ConnectionError) as error:
            raise SandboxError(f"the sandbox host is gone: {self.diagnosis()}") from error

    def receive(self, deadline: float) -> bytes:
        """See ``Transport.receive``."""
        return self._stream.receive(deadline)

    def change_over(self, ask: Callable[[Header], Frame]) -> None:
        """See ``Transport.change_over``: this one is the fastest."""

    def close(self) -> None:
        """Hang up, so that the supervisor cleans up and ends; kill it if it does not."""
        self._stream.close()
        with self._closing:
            if self._closed:
                return
            self._closed = True
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._log.close()
            self._leave()

    def _leave(self) -> None:
        if self.group is not None:
            self.group.remove()
        if self._folder is not None:
            with contextlib.suppress(OSError):  # somebody still writes there: `gc` will
                remove(str(self._folder))

    def diagnosis(self) -> str:
        """See ``Transport.diagnosis``."""
        with contextlib.suppress(OSError, ValueError):
            self._log.seek(0)
            text = self._log.read()[-2000:].decode("utf-8", "replace").strip()
            return text or f"exit code {self._process.poll()}"
        return "no diagnosis"

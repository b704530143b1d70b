"""The byte stream to a wall's supervisor, and the handle that ends the wall."""

import contextlib
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from codeenv.errors import SandboxError, SandboxTimeout
from codeenv.sandbox.spawn import spawn

_CHUNK = 1024**2
_PATIENCE = 5.0


class Transport(Protocol):
    """A stream of bytes to a wall and back.  ``deadline`` is on ``time.monotonic``."""

    def send(self, data: bytes, deadline: float) -> None:
        """Send every byte.

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

    def close(self) -> None:
        """End the wall with all that is in it.  Idempotent."""
        ...

    def diagnosis(self) -> str:
        """Return the end of what the wall wrote on its standard error."""
        ...


class PipeTransport:
    """The standard streams of a child process."""

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start the process.

        Raises:
            SandboxError: If it cannot be started.
        """
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the transport
        try:
            self._process = spawn(
                lambda: subprocess.Popen(
                    argv,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    env=dict(env),
                    pass_fds=pass_fds,
                    bufsize=0,
                    cwd="/",
                    start_new_session=True,
                )
            )
        except OSError as error:
            self._log.close()
            raise SandboxError(f"cannot start {argv[0]}: {error.strerror}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._closed = False
        os.set_blocking(self._stdin.fileno(), False)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def send(self, data: bytes, deadline: float) -> None:
        """See ``Transport.send``."""
        if self._closed:
            raise SandboxError("the sandbox host was closed")
        view = memoryview(data)
        while view:
            _wait(self._stdin.fileno(), selectors.EVENT_WRITE, deadline)
            try:
                view = view[os.write(self._stdin.fileno(), view[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise SandboxError(f"the sandbox host is gone: {self.diagnosis()}") from error

    def receive(self, deadline: float) -> bytes:
        """See ``Transport.receive``."""
        if self._closed:
            return b""
        _wait(self._stdout.fileno(), selectors.EVENT_READ, deadline)
        return os.read(self._stdout.fileno(), _CHUNK)

    def close(self) -> None:
        """Hang up, so that the supervisor cleans up and ends; kill it if it does not."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()
        self._log.close()

    def diagnosis(self) -> str:
        """See ``Transport.diagnosis``."""
        with contextlib.suppress(OSError, ValueError):
            self._log.seek(0)
            text = self._log.read()[-2000:].decode("utf-8", "replace").strip()
            return text or f"exit code {self._process.poll()}"
        return "no diagnosis"


def _wait(fd: int, event: int, deadline: float) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(fd, event)
        if not selector.select(max(deadline - time.monotonic(), 0)):
            raise SandboxTimeout("the sandbox host does not answer")

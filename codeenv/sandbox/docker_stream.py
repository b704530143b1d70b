"""The hijacked attach stream of one container as a transport."""

import contextlib
import socket
import struct
from collections.abc import Callable, Sequence

import requests
from docker import APIClient
from docker.errors import APIError, DockerException, NotFound

from codeenv.errors import SandboxError
from codeenv.guest.frames import Frame, Header
from codeenv.sandbox.door import NAME, Door
from codeenv.sandbox.transport import SocketStream

DOOR = "/run/door"
"""Folder in a container where the door is shown."""
_HEADER = struct.Struct("!BxxxI")
_STDERR = 2
_KEPT = 2000
_PATIENCE = 10


class DockerTransport:
    """Standard input, output and error of a container over one connection.

    The connection is the container's life line: when it breaks, for whatever reason, standard input
    ends, and with it the supervisor and the container.  Where both share a machine, what is said
    goes through a socket between them instead.
    """

    def __init__(
        self, api: APIClient, container: str, stream: socket.socket, door: Door | None = None
    ) -> None:
        """Take the container over.

        Args:
            api: The engine.
            container: Id of a container that removes itself.
            stream: Its attached socket.
            door: Shown to the container.
        """
        self._api, self._container, self._door = api, container, door
        self._life = self._stream = SocketStream(stream)
        self._raw = bytearray()
        self._errors = bytearray()
        self._closed = False

    @property
    def passes(self) -> bool:
        """See ``Transport``: through the door, from this machine to itself."""
        return self._stream is not self._life

    def send(self, data: bytes, deadline: float, fds: Sequence[int] = ()) -> None:
        """See ``Transport.send``."""
        try:
            self._stream.send(data, deadline, fds)
        except (BrokenPipeError, ConnectionError) as error:
            raise SandboxError(f"the sandbox host is gone: {self.diagnosis()}") from error

    def receive(self, deadline: float) -> bytes:
        """See ``Transport.receive``."""
        if self.passes:
            return self._stream.receive(deadline)
        while True:
            if data := self._output():
                return data
            more = self._stream.receive(deadline)
            if not more:
                return b""
            self._raw += more

    def change_over(self, ask: Callable[[Header], Frame]) -> None:
        """Go on through the door, if the supervisor finds it; nobody else may use it then."""
        if self._door is None:
            return
        try:
            if ask({"op": "knock", "path": f"{DOOR}/{NAME}"}).header["open"]:
                self._stream = SocketStream(self._door.accept(_PATIENCE))
        except OSError as error:
            raise SandboxError(f"the sandbox host does not come in: {error}") from error
        finally:
            self._door.close()

    def close(self) -> None:
        """Remove the container and wait until it is gone."""
        if self._closed:
            return
        self._closed = True
        for stream in {self._stream, self._life}:
            stream.close()
        if self._door is not None:
            self._door.close()
        with contextlib.suppress(NotFound, DockerException, requests.RequestException):
            try:
                self._api.remove_container(self._container, force=True, v=True)
            except NotFound:
                return
            except APIError:  # it is removing itself
                self._api.wait(self._container, timeout=_PATIENCE, condition="removed")

    def diagnosis(self) -> str:
        """See ``Transport.diagnosis``."""
        text = self._errors.decode("utf-8", "replace").strip()
        return text or f"container {self._container[:12]} said nothing"

    def _output(self) -> bytes:
        """Take the engine's framing off; return what is complete of standard output."""
        parts = []
        start = 0
        while len(self._raw) - start >= _HEADER.size:
            kind, size = _HEADER.unpack_from(self._raw, start)
            end = start + _HEADER.size + size
            if len(self._raw) < end:
                break
            part = bytes(self._raw[start + _HEADER.size : end])
            if kind == _STDERR:
                self._errors = (self._errors + part)[-_KEPT:]
            else:
                parts.append(part)
            start = end
        del self._raw[:start]
        return b"".join(parts)

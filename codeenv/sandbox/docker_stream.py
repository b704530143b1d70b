"""The hijacked attach stream of one container as a transport."""

import contextlib
import socket
import struct

import requests
from docker import APIClient
from docker.errors import APIError, DockerException, NotFound

from codeenv.errors import SandboxError
from codeenv.sandbox.transport import SocketStream

_HEADER = struct.Struct("!BxxxI")
_STDERR = 2
_KEPT = 2000
_PATIENCE = 10


class DockerTransport:
    """Standard input, output and error of a container over one connection.

    The connection is the container's life line: when it breaks, for whatever reason, standard input
    ends, and with it the supervisor and the container.
    """

    def __init__(self, api: APIClient, container: str, stream: socket.socket) -> None:
        """Take the container over.

        Args:
            api: The engine.
            container: Id of a container that removes itself.
            stream: Its attached socket.
        """
        self._api, self._container = api, container
        self._stream = SocketStream(stream)
        self._raw = bytearray()
        self._errors = bytearray()
        self._closed = False

    def send(self, data: bytes, deadline: float) -> None:
        """See ``Transport.send``."""
        try:
            self._stream.send(data, deadline)
        except (BrokenPipeError, ConnectionError) as error:
            raise SandboxError(f"the sandbox host is gone: {self.diagnosis()}") from error

    def receive(self, deadline: float) -> bytes:
        """See ``Transport.receive``."""
        while True:
            if data := self._output():
                return data
            more = self._stream.receive(deadline)
            if not more:
                return b""
            self._raw += more

    def close(self) -> None:
        """Remove the container and wait until it is gone."""
        if self._closed:
            return
        self._closed = True
        self._stream.close()
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

"""The hijacked attach stream of one container as a transport."""

import contextlib
import selectors
import socket
import struct
import time

import requests
from docker import APIClient
from docker.errors import APIError, DockerException, NotFound

from codeenv.errors import SandboxError, SandboxTimeout

_HEADER = struct.Struct("!BxxxI")
_CHUNK = 1024**2
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
        self._api, self._container, self._stream = api, container, stream
        self._stream.setblocking(False)
        self._raw = bytearray()
        self._errors = bytearray()
        self._closed = False

    def send(self, data: bytes, deadline: float) -> None:
        """See ``Transport.send``."""
        if self._closed:
            raise SandboxError("the sandbox host was closed")
        view = memoryview(data)
        while view:
            self._wait(selectors.EVENT_WRITE, deadline)
            try:
                view = view[self._stream.send(view[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise SandboxError(f"the sandbox host is gone: {self.diagnosis()}") from error

    def receive(self, deadline: float) -> bytes:
        """See ``Transport.receive``."""
        while not self._closed:
            if data := self._output():
                return data
            self._wait(selectors.EVENT_READ, deadline)
            try:
                more = self._stream.recv(_CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                more = b""
            if not more:
                return b""
            self._raw += more
        return b""

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

    def _wait(self, event: int, deadline: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._stream, event)
            if not selector.select(max(deadline - time.monotonic(), 0)):
                raise SandboxTimeout("the sandbox host does not answer")

"""A connection straight to one box's tool server: without the way through its supervisor."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from codeenv.errors import SandboxError
from codeenv.guest.frames import Decoder, Frame, FrameError, Header
from codeenv.sandbox.transport import SocketStream

GRACE = 30.0
"""Seconds an answer may come later than asked for, before who should give it is given up."""


class Line:
    """Asks one thing after the other.  Thread-safe: others wait for their turn.

    What answers may be in the hands of an agent: it is held to what was asked.
    """

    def __init__(self, connection: socket.socket) -> None:
        """Take the socket over."""
        self._stream = SocketStream(connection)
        self._decoder = Decoder()
        self._turn = threading.Lock()
        self._number = 0

    def call(self, header: Header, payload: bytes, *, timeout: float, most: int) -> Frame:
        """Ask and wait for the answer.

        Args:
            header: What is asked.
            payload: Bytes that go with it.
            timeout: Seconds it may take.
            most: Bytes that may come with the answer.

        Raises:
            SandboxError: If the box is gone, or answers what was not asked.
            SandboxTimeout: If no answer came within ``timeout`` and the grace.
        """
        with self._turn:
            self._number += 1
            request = Frame({**header, "id": self._number}, payload).encode()
            self._decoder.limit = most
            deadline = time.monotonic() + timeout + GRACE
            try:
                self._send(request, deadline)
                return self._answer(deadline)
            except BaseException:  # in mid-frame: of no use any more
                self._stream.close()
                raise

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        """Ask nothing meanwhile.

        Raises:
            SandboxError: If something is being asked.
        """
        if not self._turn.acquire(blocking=False):
            raise SandboxError("the box is busy")
        try:
            yield
        finally:
            self._turn.release()

    def close(self) -> None:
        """Hang up; who waits for an answer is told so.  Idempotent."""
        self._stream.close()

    def _send(self, request: bytes, deadline: float) -> None:
        try:
            self._stream.send(request, deadline)
        except ConnectionError as error:
            raise SandboxError("the box's tool server has ended") from error

    def _answer(self, deadline: float) -> Frame:
        found: list[Frame] = []
        while not found:
            data = self._stream.receive(deadline)
            if not data:
                raise SandboxError("the box's tool server has ended")
            try:
                found += self._decoder.feed(data)
            except FrameError as error:
                raise SandboxError(f"the box speaks nonsense: {error}") from error
        if [frame.header.get("id") for frame in found] != [self._number]:
            raise SandboxError("the box answered what was not asked")
        return found[0]

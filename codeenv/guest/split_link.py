"""The line between the tests' process and the one of the code they test, and talking over it.

Both sides ask and answer by turns.  Who waits for an answer serves what the other asks meanwhile:
so a call may call back, to any depth, and nobody ever waits for somebody who waits.
"""

import json
import socket
import threading
from typing import Any

from codeenv.guest.split_wire import Decoder, Encoder, Wire

LINK_FD = 4
"""Descriptor of a command at which the other side of a split is."""
LIMIT = 64 * 1024**2
"""Bytes of one message."""
_GONE = "the process of the code under test is gone"


class LinkError(Exception):
    """Raised when the other side is gone or does not keep to the protocol."""


class Link:
    """Sends and receives messages: one JSON list per line."""

    def __init__(self, connection: socket.socket) -> None:
        """Take a connected stream socket over."""
        self._socket = connection
        self._file = connection.makefile("rb", 1 << 16)
        self._sending = threading.Lock()

    def send(self, message: list[Wire]) -> None:
        """Send one message.

        Raises:
            LinkError: If nobody is there.
        """
        data = json.dumps(message, separators=(",", ":"), check_circular=False).encode() + b"\n"
        try:
            with self._sending:
                self._socket.sendall(data)
        except OSError as error:
            raise LinkError(_GONE) from error

    def receive(self) -> list[Wire]:
        """Return the next message.

        Raises:
            LinkError: If nobody is there any more, or this is no message.
        """
        try:
            line = self._file.readline(LIMIT)
        except (OSError, ValueError) as error:
            raise LinkError(_GONE) from error
        if not line.endswith(b"\n"):
            raise LinkError(_GONE if len(line) < LIMIT else "a message is too long")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise LinkError("a message is not JSON") from error
        if not isinstance(message, list) or not message or not isinstance(message[0], str):
            raise LinkError("a message has no kind")
        return message

    def close(self) -> None:
        """Hang up, for good."""
        self._file.close()
        self._socket.close()


class Peer:
    """One side of a link: asks, and serves what it is asked while it waits."""

    def __init__(self, link: Link) -> None:
        """Talk over ``link``."""
        self.link = link
        self.encoder = Encoder(self)
        self.decoder = Decoder(self)
        self.encode = self.encoder.encode
        self.decode = self.decoder.decode

    def refer(self, value: Any) -> Wire:  # noqa: ANN401 - any object
        """Return the reference to an object of this side."""
        raise NotImplementedError

    def resolve(self, tag: str, body: list[Wire]) -> Any:  # noqa: ANN401 - any object
        """Return what a reference means."""
        raise NotImplementedError

    def perform(self, message: list[Wire]) -> list[Wire]:
        """Do what the other side asks; return what the answer holds."""
        raise NotImplementedError

    def hear(self, message: list[Wire]) -> bool:
        """Take a message that wants no answer; return whether it was one."""
        raise NotImplementedError

    def exchange(self, message: list[Wire]) -> list[Wire]:
        """Ask; return what the answer holds.

        Raises:
            BaseException: Whatever the other side's code raised.
            LinkError: If the other side is gone.
        """
        answer = self._await(message)
        if answer[0] == "return":
            return answer[1:]
        error = self.decode(answer[1])
        raise error if isinstance(error, BaseException) else LinkError("not an exception")

    def _await(self, message: list[Wire]) -> list[Wire]:
        """Return the answer; who is interrupted in between does not understand later ones."""
        try:
            self.link.send(message)
            while (answer := self.link.receive())[0] not in ("return", "raise"):
                self.serve(answer)
        except BaseException:
            self.link.close()
            raise
        return answer

    def serve(self, message: list[Wire]) -> None:
        """Do what one message asks, and answer it."""
        if self.hear(message):
            return
        try:
            answer = ["return", *self.perform(message)]
        except LinkError:
            raise
        except BaseException as error:  # noqa: BLE001 - the other side's code catches it, or not
            answer = ["raise", self.encode(error)]
        self.link.send(answer)

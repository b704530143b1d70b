"""Where requests come from: bytes, and descriptors that come with them."""

import os
import socket
import stat
from collections import deque
from dataclasses import dataclass, field
from typing import Self

from codeenv.guest import frames

_MOST = 8


@dataclass
class Source:
    """A unix socket, or a pipe that no descriptors come through.

    Attributes:
        stream: The socket, or the descriptor of the pipe.
    """

    stream: socket.socket | int
    _passed: deque[int] = field(default_factory=deque)

    @classmethod
    def of(cls, fd: int) -> Self:
        """Take a descriptor over, whichever it is."""
        is_socket = stat.S_ISSOCK(os.fstat(fd).st_mode)
        return cls(socket.socket(fileno=fd) if is_socket else fd)

    def read(self) -> bytes:
        """Return the next bytes, nothing at the end."""
        if isinstance(self.stream, int):
            return os.read(self.stream, frames.CHUNK)
        flags = socket.MSG_CMSG_CLOEXEC
        data, passed, _, _ = socket.recv_fds(self.stream, frames.CHUNK, _MOST, flags)
        self._passed += passed
        return data

    def take(self) -> int | None:
        """Return the descriptor that came first and was not taken, if there is one."""
        return self._passed.popleft() if self._passed else None

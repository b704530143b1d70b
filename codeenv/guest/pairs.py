"""Sockets between two boxes of one wall."""

import socket
from dataclasses import dataclass, field


@dataclass
class Pairs:
    """Gives the two boxes of a pair the two ends of a socket."""

    _waiting: dict[int, int] = field(default_factory=dict)

    def end(self, pair: int) -> int:
        """Return a descriptor of one end; the other one waits for the second box."""
        waiting = self._waiting.pop(pair, None)
        if waiting is not None:
            return waiting
        one, other = socket.socketpair()
        self._waiting[pair] = other.detach()
        return one.detach()

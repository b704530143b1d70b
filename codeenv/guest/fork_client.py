"""The supervisor's end of a fork server."""

import json
import os
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from codeenv.guest import processes
from codeenv.guest.fork_boxes import CHANNEL, READY
from codeenv.guest.frames import write_all
from codeenv.guest.spec import BoxSpec

_START = 60.0
_ANSWER = 5.0


@dataclass
class ForkServer:
    """A fork server that was started; ``ready`` once it has answered.

    Attributes:
        pid: Its process.
        channel: Socket to it.
    """

    pid: int
    channel: socket.socket
    ready: bool = False
    _since: float = field(default_factory=time.monotonic)

    def look(self) -> bool:
        """Return whether boxes can be asked for from now on.

        Raises:
            OSError: If it has ended, or takes too long.
        """
        if not self.ready:
            try:
                self.ready = self._receive(socket.MSG_DONTWAIT) == READY
            except BlockingIOError:
                if time.monotonic() - self._since > _START:
                    raise TimeoutError from None
        return self.ready

    def start(self, spec: BoxSpec, channel: socket.socket) -> int:
        """Have a box started; see ``boxes.prepare``.

        Raises:
            OSError: If it gives none.
        """
        request = json.dumps({"spec": asdict(spec)}).encode()
        socket.send_fds(self.channel, [request], [channel.fileno()])
        return int(self._receive())

    def kill(self) -> None:
        """End it; boxes that it has made live on."""
        processes.send(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self.channel.close()

    def _receive(self, flags: int = 0) -> bytes:
        data = self.channel.recv(64, flags)
        if not data:
            raise OSError("the fork server has ended")
        return data


def start(argv: Sequence[str], env: Mapping[str, str], stdin: bytes) -> ForkServer:
    """Start a fork server; do not wait for it.

    Raises:
        OSError: If there is no such program.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    source = os.memfd_create("stdin")
    try:
        write_all(source, stdin)
        os.lseek(source, 0, os.SEEK_SET)
        actions = [
            (os.POSIX_SPAWN_DUP2, source, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, theirs.fileno(), CHANNEL),
        ]
        defaults = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
        pid = os.posix_spawn(argv[0], list(argv), env, file_actions=actions, setsigdef=defaults)
    except BaseException:
        ours.close()
        raise
    finally:
        os.close(source)
        theirs.close()
    ours.settimeout(_ANSWER)
    return ForkServer(pid, ours)

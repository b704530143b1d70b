"""Keeping the head and the tail of a stream of unknown length, and all of it in a file."""

import contextlib
import os
from dataclasses import dataclass, field

LOG_LIMIT = 8 * 1024**2
_SLACK = 64 * 1024
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass
class Capture:
    """Takes bytes in constant time and memory.

    Attributes:
        limit: Bytes kept; what is over it is dropped from the middle.
        log_path: File that gets everything (up to ``LOG_LIMIT``) once something is dropped; "" for
            none.
        total: Bytes taken so far.
    """

    limit: int
    log_path: str = ""
    total: int = 0
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)
    _log: int = -1
    _logged: int = 0

    @property
    def truncated(self) -> bool:
        """Whether bytes were dropped."""
        return self.total > self.limit

    @property
    def logged(self) -> bool:
        """Whether the full log was written."""
        return self._logged > 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        overflows = self.total <= self.limit < self.total + len(data)
        if overflows and self.log_path:
            self._open_log()
        self._write_log(data)
        self.total += len(data)
        room = self.limit // 2 - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        keep = self.limit - self.limit // 2
        self._tail += data
        if len(self._tail) > 2 * keep + _SLACK:
            del self._tail[: len(self._tail) - keep]

    def result(self) -> bytes:
        """Return what was kept, head and tail together, and finish the log."""
        if self._log >= 0:
            os.close(self._log)
            self._log = -1
        keep = self.limit - self.limit // 2
        return bytes(self._head + self._tail[max(len(self._tail) - keep, 0) :])

    def _open_log(self) -> None:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(self.log_path), exist_ok=True)
            self._log = os.open(self.log_path, _CREATE, 0o644)
            self._write_log(bytes(self._head + self._tail))

    def _write_log(self, data: bytes) -> None:
        if self._log < 0:
            return
        try:
            written = os.write(self._log, data[: LOG_LIMIT - self._logged])
        except OSError:
            written = 0
        self._logged += written
        if written < len(data):
            os.close(self._log)
            self._log = -1

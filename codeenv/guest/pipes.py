"""The pipes and clocks of one running command."""

import contextlib
import os
import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from codeenv.guest.capture import Capture

TIMED_OUT = 124
_READ = 256 * 1024


@dataclass(frozen=True, slots=True)
class Command:
    """What to run and how; see ``Sandbox.exec``."""

    argv: Sequence[str]
    timeout: float
    cwd: str
    env: Mapping[str, str]
    stdin: bytes
    output_limit: int
    report_limit: int
    idle_timeout: float = 0.0


@dataclass(frozen=True, slots=True)
class Finished:
    """How it went."""

    exit_code: int
    output: bytes
    timed_out: bool = False
    idle: bool = False
    truncated: bool = False
    total: int = 0
    log: str = ""
    report: bytes = b""


@dataclass
class Running:
    """The pipes of one running command; ``*_in`` and ``stdin_out`` are the command's ends."""

    selector: selectors.BaseSelector
    command: Command
    log_path: str
    timed_out: bool = False
    idle: bool = False
    exit_code: int | None = None
    output_in: int = -1
    report_in: int = -1
    stdin_out: int = -1
    _open: dict[int, Callable[[], None]] = field(default_factory=dict)
    pid: int = -1

    def __post_init__(self) -> None:
        self.output = Capture(self.command.output_limit, self.log_path)
        self.report = Capture(2 * self.command.report_limit)
        self._output_out, self.output_in = os.pipe2(os.O_CLOEXEC)
        self._report_out = self._stdin_in = -1
        if self.command.report_limit > 0:
            self._report_out, self.report_in = os.pipe2(os.O_CLOEXEC)
        if self.command.stdin:
            self.stdin_out, self._stdin_in = os.pipe2(os.O_CLOEXEC)

    def begin(self) -> None:
        """Start the clocks."""
        self._deadline = time.monotonic() + self.command.timeout
        self._heard = time.monotonic()

    def left(self) -> float:
        """Return the seconds until the command must be killed, unless it writes before."""
        left = self._deadline - time.monotonic()
        if not self.command.idle_timeout:
            return left
        quiet = self._heard + self.command.idle_timeout - time.monotonic()
        self.idle = quiet <= 0 < left
        return min(left, quiet)

    @property
    def over(self) -> bool:
        """Whether the command itself has ended (its background children may live on)."""
        return self.exit_code is not None

    @property
    def pipes_open(self) -> bool:
        """Whether somebody may still write."""
        return bool({self._output_out, self._report_out} & self._open.keys())

    def close_far_ends(self) -> None:
        """Close the command's ends on our side, so that end of file can be seen."""
        for fd in (self.output_in, self.report_in, self.stdin_out):
            if fd >= 0:
                os.close(fd)

    def abandon(self) -> None:
        """Close our ends of a command that did not start."""
        for fd in (self._output_out, self._report_out, self._stdin_in):
            if fd >= 0:
                os.close(fd)

    def watch(self, pid: int) -> None:
        """Wait for output of process ``pid``."""
        self.pid = pid
        self._register(self._output_out, selectors.EVENT_READ, self._read_output)
        if self._report_out >= 0:
            self._register(self._report_out, selectors.EVENT_READ, self._read_report)
        if self._stdin_in >= 0:
            self._unsent = memoryview(self.command.stdin)
            self._register(self._stdin_in, selectors.EVENT_WRITE, self._write_stdin)

    def wait_killed(self, turn: Callable[[float | None], None]) -> None:
        """Wait until the killed command is gone."""
        while not self.over:
            turn(None)

    def finish(self) -> Finished:
        """Stop listening; pipes that others hold open are drained from now on, unread."""
        if self._report_out in self._open:
            self._close(self._report_out)
        if self._stdin_in in self._open:
            self._close(self._stdin_in)
        if self._output_out in self._open:
            fd = self._output_out
            self.selector.modify(fd, selectors.EVENT_READ, lambda: _discard(self.selector, fd))
        output = self.output.result()
        return Finished(
            exit_code=TIMED_OUT if self.timed_out else self.exit_code or 0,
            output=output,
            timed_out=self.timed_out,
            idle=self.timed_out and self.idle,
            truncated=self.output.truncated,
            total=self.output.total,
            log=self.log_path if self.output.logged else "",
            report=self.report.result()[: self.command.report_limit],
        )

    def _register(self, fd: int, event: int, act: Callable[[], None]) -> None:
        os.set_blocking(fd, False)
        self._open[fd] = act
        self.selector.register(fd, event, act)

    def _close(self, fd: int) -> None:
        del self._open[fd]
        self.selector.unregister(fd)
        os.close(fd)

    def _read_output(self) -> None:
        if data := read(self._output_out):
            self._heard = time.monotonic()
            self.output.feed(data)
        elif data is not None:
            self._close(self._output_out)

    def _read_report(self) -> None:
        if data := read(self._report_out):
            self.report.feed(data)
        elif data is not None:
            self._close(self._report_out)

    def _write_stdin(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                self._unsent = self._unsent[os.write(self._stdin_in, self._unsent[:65536]) :]
            except BrokenPipeError:
                self._unsent = memoryview(b"")
        if not self._unsent:
            self._close(self._stdin_in)


def read(fd: int) -> bytes | None:
    """Return bytes, nothing at the end of file, None if there is nothing yet."""
    try:
        return os.read(fd, _READ)
    except BlockingIOError:
        return None


def _discard(selector: selectors.BaseSelector, fd: int) -> None:
    if read(fd) == b"":
        selector.unregister(fd)
        os.close(fd)

"""Running one command to its end or its deadline, and keeping what it wrote."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from codeenv.guest import processes
from codeenv.guest.capture import Capture

REPORT_FD = 3
TIMED_OUT, NOT_EXECUTABLE, NOT_FOUND = 124, 126, 127
_DRAIN = 0.25
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


@dataclass(frozen=True, slots=True)
class Finished:
    """How it went."""

    exit_code: int
    output: bytes
    timed_out: bool = False
    truncated: bool = False
    total: int = 0
    log: str = ""
    report: bytes = b""


@dataclass
class Runner:
    """Runs commands one after the other.

    Attributes:
        variables: Environment every command starts with.
        logs: Folder for full logs.
        alone: Whether every process we can see is ours (own pid namespace or container).
        selector: Watches pipes; those that background processes keep open stay in it.
    """

    variables: Mapping[str, str]
    logs: str
    alone: bool
    selector: selectors.BaseSelector
    number: int = 0
    _null: int = field(default_factory=lambda: os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
    _current: "_Run | None" = None

    def __post_init__(self) -> None:
        """Hear of every child that ends: commands may wait until an orphan of theirs is gone."""
        self._woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.selector.register(self._woken, selectors.EVENT_READ, self._reap)

    def run(self, command: Command) -> Finished:
        """Run a command; a program that cannot be started is a result too."""
        self.number += 1
        self._reap()
        before = tuple(processes.descendants(os.getpid()).values())
        run = _Run(self.selector, command, f"{self.logs}/{self.number:04d}.log")
        try:
            pid = self._start(command, run)
        except (OSError, ValueError, IndexError) as error:
            run.abandon()
            return _not_started(command, error)
        run.watch(pid)
        self._current = run
        deadline = time.monotonic() + command.timeout
        while not run.over and (left := deadline - time.monotonic()) > 0:
            self.turn(left)
        if not run.over:
            run.timed_out = True
            self._kill(before)
            run.wait_killed(self.turn)
        self._current = None
        self._drain(run)
        return run.finish()

    def turn(self, timeout: float | None) -> None:
        """Wait for something to happen and handle it."""
        for key, _ in self.selector.select(timeout):
            key.data()

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, _READ)
        for pid, code in processes.reap():
            if self._current and pid == self._current.pid:
                self._current.exit_code = code

    def _start(self, command: Command, run: "_Run") -> int:
        own = {"PWD": command.cwd, processes.MARKER: str(self.number)}
        env = {**self.variables, **command.env, **own}
        passed = (REPORT_FD,) if run.report_in >= 0 else ()
        if passed:
            os.dup2(run.report_in, REPORT_FD, inheritable=False)
        try:
            child = subprocess.Popen(
                command.argv,
                stdin=run.stdin_out if run.stdin_out >= 0 else self._null,
                stdout=run.output_in,
                stderr=subprocess.STDOUT,
                cwd=command.cwd,
                env=env,
                start_new_session=True,
                pass_fds=passed,
            )
        finally:
            if passed:
                os.dup2(self._null, REPORT_FD, inheritable=False)
            run.close_far_ends()
        child.returncode = 0  # we reap it ourselves, with the orphans
        return child.pid

    def _kill(self, before: Sequence[processes.Process]) -> None:
        if self.alone and not before:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        else:
            processes.kill_command(os.getpid(), before, self.number)

    def _drain(self, run: "_Run") -> None:
        deadline = time.monotonic() + _DRAIN
        while run.pipes_open and (left := deadline - time.monotonic()) > 0:
            self.turn(left)


@dataclass
class _Run:
    """The pipes of one running command; ``*_in`` and ``stdin_out`` are the command's ends."""

    selector: selectors.BaseSelector
    command: Command
    log_path: str
    timed_out: bool = False
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
        if data := _read(self._output_out):
            self.output.feed(data)
        elif data is not None:
            self._close(self._output_out)

    def _read_report(self) -> None:
        if data := _read(self._report_out):
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


def _read(fd: int) -> bytes | None:
    """Return bytes, nothing at the end of file, None if there is nothing yet."""
    try:
        return os.read(fd, _READ)
    except BlockingIOError:
        return None


def _discard(selector: selectors.BaseSelector, fd: int) -> None:
    if _read(fd) == b"":
        selector.unregister(fd)
        os.close(fd)


def _not_started(command: Command, error: Exception) -> Finished:
    """Say why a command did not start; whatever was asked for, it is the caller's doing."""
    why = error.strerror if isinstance(error, OSError) else str(error)
    program = command.argv[0] if command.argv else "nothing"
    text, code = f"codeenv: cannot run {program[:200]}: {why}\n", NOT_EXECUTABLE
    if isinstance(error, OSError) and not os.path.isdir(command.cwd):
        text = f"codeenv: cannot enter folder {command.cwd}: {why}\n"
    elif isinstance(error, FileNotFoundError):
        code = NOT_FOUND
    data = text.encode("utf-8", "backslashreplace")
    return Finished(code, data, total=len(data))

"""Running one command to its end or its deadline, and keeping what it wrote."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codeenv.guest import processes
from codeenv.guest.forked import Forked, Template
from codeenv.guest.pipes import Command, Finished, Running, read

REPORT_FD, LINK_FD = 3, 4
OWN_FDS = (REPORT_FD, LINK_FD)
"""Numbers of descriptors that commands get beside the standard ones."""
NOT_EXECUTABLE, NOT_FOUND = 126, 127
_DRAIN = 0.25


@dataclass
class Runner:
    """Runs commands one after the other.

    Attributes:
        variables: Environment every command starts with.
        logs: Folder for full logs.
        alone: Whether every process we can see is ours (own pid namespace or container).
        selector: Watches pipes; those that background processes keep open stay in it.
        template: What this process has started; commands like it are forked.
        link: A socket to another box, for the first command; -1 for none.
    """

    variables: Mapping[str, str]
    logs: str
    alone: bool
    selector: selectors.BaseSelector
    template: Template | None = None
    link: int = -1
    number: int = 0
    _null: int = field(default_factory=lambda: os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
    _current: Running | None = None

    def __post_init__(self) -> None:
        """Hear of every child that ends: commands may wait until an orphan of theirs is gone."""
        self._woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.selector.register(self._woken, selectors.EVENT_READ, self._reap)

    def run(self, command: Command) -> Finished:
        """Run a command; a program that cannot be started is a result too.

        Raises:
            Forked: In the command itself, if it goes on from the template.
        """
        self.number += 1
        self._reap()
        before = tuple(processes.descendants(os.getpid()).values())
        run = Running(self.selector, command, f"{self.logs}/{self.number:04d}.log")
        try:
            pid = self._start(command, run)
        except (OSError, ValueError, IndexError) as error:
            run.abandon()
            return _not_started(command, error)
        run.watch(pid)
        self._current = run
        run.begin()
        while not run.over and (left := run.left()) > 0:
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
        read(self._woken)
        for pid, code in processes.reap():
            if self._current and pid == self._current.pid:
                self._current.exit_code = code

    def _start(self, command: Command, run: Running) -> int:
        env = {**self.variables, **command.env}
        own = {"PWD": command.cwd, processes.MARKER: str(self.number)}
        if self.template and self.template.is_of(command.argv, env):
            return self._fork(command, run, {**env, **own})
        passed = self._passed(run)
        for number, fd in passed.items():
            os.dup2(fd, number, inheritable=False)
        try:
            child = subprocess.Popen(
                command.argv,
                stdin=run.stdin_out if run.stdin_out >= 0 else self._null,
                stdout=run.output_in,
                stderr=subprocess.STDOUT,
                cwd=command.cwd,
                env={**env, **own},
                start_new_session=True,
                pass_fds=tuple(passed),
            )
        finally:
            for number in passed:
                os.dup2(self._null, number, inheritable=False)
            run.close_far_ends()
            self._hand_over()
        child.returncode = 0  # we reap it ourselves, with the orphans
        return child.pid

    def _fork(self, command: Command, run: Running, env: Mapping[str, str]) -> int:
        pid = os.fork()
        if pid == 0:
            source = run.stdin_out if run.stdin_out >= 0 else self._null
            standard = {0: source, 1: run.output_in, 2: run.output_in}
            raise Forked({**standard, **self._passed(run)}, command.cwd, env)
        run.close_far_ends()
        self._hand_over()
        return pid

    def _passed(self, run: Running) -> dict[int, int]:
        """Return what a command gets beside the standard descriptors."""
        passed = {REPORT_FD: run.report_in} if run.report_in >= 0 else {}
        return {**passed, LINK_FD: self.link} if self.link >= 0 else passed

    def _hand_over(self) -> None:
        """Keep no end of a link that a command has: the other side must see it end."""
        if self.link >= 0:
            os.close(self.link)
            self.link = -1

    def _kill(self, before: Sequence[processes.Process]) -> None:
        if self.alone and not before:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        else:
            processes.kill_command(os.getpid(), before, self.number)

    def _drain(self, run: Running) -> None:
        deadline = time.monotonic() + _DRAIN
        while run.pipes_open and (left := deadline - time.monotonic()) > 0:
            self.turn(left)


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

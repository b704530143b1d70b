"""A command that is forked from a process that has started already, instead of started.

A fork server (see ``fork_server``) has run the first part of a program, the one that is the same
every time; boxes made by it can go on from there.
"""

import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codeenv.guest import system

_SIGNALS = (
    *(signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2),
    *(signal.SIGALRM, signal.SIGCHLD),
)


@dataclass(frozen=True)
class Template:
    """What was started.

    Attributes:
        argv: The command.
        env: Its whole environment.
    """

    argv: Sequence[str]
    env: Mapping[str, str]

    def is_of(self, argv: Sequence[str], env: Mapping[str, str]) -> bool:
        """Return whether a command would have begun in just this way."""
        return self.argv == list(argv) and self.env == env


class Forked(BaseException):
    """Raised in the new process, and caught where the server was asked: its frames are all gone.

    Attributes:
        standard: Descriptors of standard input and output, and of the report (-1 for none).
        cwd: Folder to work in.
        env: Environment.
    """

    def __init__(self, standard: tuple[int, int, int], cwd: str, env: Mapping[str, str]) -> None:
        """Keep what the command was to be started with."""
        super().__init__()
        self.standard, self.cwd, self.env = standard, cwd, env

    def settle(self, report: int) -> None:
        """Make this process what a new one would be; the report goes to descriptor ``report``."""
        os.setsid()
        signal.set_wakeup_fd(-1)
        for sign in _SIGNALS:
            signal.signal(sign, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        source, sink, told = self.standard
        for fd, number in ((source, 0), (sink, 1), (sink, 2), (told, report)):
            if fd >= 0:
                os.dup2(fd, number)
        os.closerange(report + (told >= 0), os.sysconf("SC_OPEN_MAX"))
        system.prctl(system.PR_SET_DUMPABLE, 1)
        os.chdir(self.cwd)
        os.environ.clear()
        os.environ.update(self.env)

    def start_after_all(self, argv: Sequence[str]) -> None:
        """Run the command from its beginning, in this process; never returns."""
        for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ"):  # ignored by Python, inherited by none
            with contextlib.suppress(AttributeError):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.execve(argv[0], list(argv), dict(self.env))

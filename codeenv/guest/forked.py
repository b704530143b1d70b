"""A command that is forked from a process that has started already, instead of started.

A fork server (see ``fork_server``) has run the first part of a program, the one that is the same
every time; boxes made by it can go on from there.
"""

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codeenv.guest import system


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
        descriptors: What it has open: its numbers, and which of ours they are to be.
        cwd: Folder to work in.
        env: Environment.
    """

    def __init__(self, descriptors: Mapping[int, int], cwd: str, env: Mapping[str, str]) -> None:
        """Keep what the command was to be started with."""
        super().__init__()
        self.descriptors, self.cwd, self.env = descriptors, cwd, env

    def settle(self) -> None:
        """Make this process, the first of a box's until now, what a new one would be."""
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, fd in self.descriptors.items():
            os.dup2(fd, number)
        for number in set(range(max(self.descriptors))) - set(self.descriptors):
            os.closerange(number, number + 1)
        os.closerange(max(self.descriptors) + 1, os.sysconf("SC_OPEN_MAX"))
        system.prctl(system.PR_SET_DUMPABLE, 1)
        os.chdir(self.cwd)
        os.environ.clear()
        os.environ.update(self.env)

    def start_after_all(self, argv: Sequence[str]) -> None:
        """Run the command from its beginning, in this process; never returns."""
        for sign in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python, inherited by none
            signal.signal(sign, signal.SIG_DFL)
        os.execve(argv[0], list(argv), dict(self.env))

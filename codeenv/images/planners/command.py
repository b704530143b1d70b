"""``cmd:PROGRAM``: any program that reads events and writes actions, one JSON document per line."""

import json
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import IO

from pydantic import ValidationError

from codeenv.errors import BuildError
from codeenv.images.planners.base import ACTIONS, Bench, Brief, Done

_TIMEOUT = 3600.0


class CommandPlanner:
    """Runs a program of this machine's user for one repository.

    It is sent ``{"event": "start", …}`` with the brief, and after every action
    ``{"event": "result", …}`` or ``{"event": "error", "message": …}``.  Its end, or
    ``{"action": "done"}``, ends the search.
    """

    def __init__(self, command: str, *, timeout: float = _TIMEOUT) -> None:
        """Keep the command line and the seconds it may take in all."""
        self.command, self.timeout = command, timeout

    def plan(self, brief: Brief, bench: Bench) -> None:
        """Talk with the program until it is done.

        Raises:
            BuildError: If it cannot be started, fails, or does not end in time.
        """
        try:
            process = subprocess.Popen(
                shlex.split(self.command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError, IndexError) as error:
            raise BuildError(
                f"the planner {self.command!r} cannot be started: {error}",
                hint="--planner cmd:PROGRAM with its arguments",
            ) from error
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = _Watchdog(self.timeout, process)
        try:
            finished = self._talk(brief, bench, process.stdin, process.stdout, watchdog)
            with suppress(BrokenPipeError):
                process.stdin.close()
            if not finished and process.wait():
                raise BuildError(
                    f"the planner {self.command!r} ended with exit code {process.returncode}",
                    hint=f"it must be done within {self.timeout:.0f} s",
                )
        finally:
            watchdog.rest()
            _kill(process)
            process.wait()
            process.stdout.close()

    def _talk(
        self,
        brief: Brief,
        bench: Bench,
        to: IO[bytes],
        source: IO[bytes],
        watchdog: "_Watchdog",
    ) -> bool:
        """Return whether the program said that it is done."""
        try:
            _send(to, {"event": "start", **asdict(brief)})
            for line in source:
                watchdog.rest()
                try:
                    action = ACTIONS.validate_json(line)
                except ValidationError as error:
                    _send(to, {"event": "error", "message": str(error)})
                else:
                    if isinstance(action, Done):
                        return True
                    _send(to, {"event": "result", **bench.act(action)})
                watchdog.wake()
        except BrokenPipeError:
            return False
        return False


class _Watchdog:
    """Ends a program, and all that it started, after so many seconds of its own."""

    def __init__(self, seconds: float, process: "subprocess.Popen[bytes]") -> None:
        self._left, self._process = seconds, process
        self.wake()

    def wake(self) -> None:
        """Go on counting."""
        self._since = time.monotonic()
        self._timer = threading.Timer(max(self._left, 0.0), _kill, [self._process])
        self._timer.start()

    def rest(self) -> None:
        """Stop counting."""
        self._timer.cancel()
        self._left -= time.monotonic() - self._since


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _send(to: IO[bytes], document: Mapping[str, object]) -> None:
    to.write(json.dumps(document).encode() + b"\n")
    to.flush()

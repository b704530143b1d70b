"""Runs tests in forked children of a process that has collected the suite.

Runs inside a sandbox.  A child begins where the collection ended, so nothing is imported again, and
nothing that its tests change or start outlives it.
"""

import ctypes
import json
import os
import resource
import select
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from codeenv.guest.pytest_leftovers import Leftovers
from codeenv.guest.pytest_plugin import TIMED_OUT, Plugin
from codeenv.guest.pytest_report import Channel

_SET_CHILD_SUBREAPER = 36
_SPARE = 60.0
"""Seconds a child may take beside the limits of its tests."""
Limit = tuple[float, float]
"""Seconds a test may take by the clock, and of processor time (0: no limit)."""


@dataclass
class Outcome:
    """What children said of tests.

    Attributes:
        passed: Tests that passed.
        ended: Tests that came to an end of their own, passed ones included.
        slow: Tests that ran out of time, or ended their process by a signal.
        spent: Test -> seconds it took, by the clock and of processor time.
    """

    passed: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    slow: set[str] = field(default_factory=set)
    spent: dict[str, Limit] = field(default_factory=dict)


class Silent(Exception):
    """Raised where a child ended before it began a test: nothing is known of the tests then."""


class Children:
    """Forks a child for every run of some tests, and another where one ends too early."""

    def __init__(self, plugin: Plugin, folder: str) -> None:
        """Become the parent of whatever a child leaves behind.

        ``plugin`` reports outcomes; what is new in ``folder`` goes with the child that made it.
        """
        self._plugin = plugin
        self._leftovers = Leftovers(folder)
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._own = _children()

    def run(
        self,
        items: Sequence[pytest.Item],
        change: Callable[[], None],
        limit_of: Callable[[str], Limit],
        *,
        until_failure: bool = False,
    ) -> Outcome:
        """Run tests after a change to the process, every one of them unless the first failure ends.

        Where a test ends the process, the tests behind it run in another child.

        Raises:
            Silent: If a child began none of them.
            Lost: If a file is gone that was there before.
        """
        found, left = Outcome(), list(items)
        while left:
            limits = [limit_of(item.nodeid) for item in left]
            begun = self._run_once(left, change, limits, until_failure, found)
            if until_failure and begun - found.passed:
                break
            left = [item for item in left if item.nodeid not in begun]
        return found

    def _run_once(
        self,
        items: list[pytest.Item],
        change: Callable[[], None],
        limits: list[Limit],
        until_failure: bool,
        found: Outcome,
    ) -> set[str]:
        """Run tests in one child, add what it said, and return the tests that it began."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setpgid(0, 0)
                self._serve(Channel(writing), items, change, limits, until_failure)
            finally:
                os._exit(0)
        os.close(writing)
        deadline = time.monotonic() + _SPARE + sum(wall for wall, _ in limits)
        try:
            written, by_itself = self._collect(child, reading, deadline)
        finally:
            os.close(reading)
        self._leftovers.remove()
        begun = _read(written, items, found)
        if not by_itself:
            found.slow |= begun - found.ended
        if not begun:
            raise Silent(f"a process ended before {items[0].nodeid}")
        return begun

    def _serve(
        self,
        channel: Channel,
        items: list[pytest.Item],
        change: Callable[[], None],
        limits: list[Limit],
        until_failure: bool,
    ) -> None:
        """Run the tests in the child; nobody reads what pytest would print of them."""
        config = items[0].config
        config.option.tbstyle = "value"
        config.pluginmanager.unregister(name="terminalreporter")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a suite may have made errors of them
            change()
        for item, following, (wall, cpu) in zip(items, [*items[1:], None], limits, strict=True):
            self._plugin.go_on(channel, wall, cpu)
            before = time.monotonic(), _processor_time()
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            spent = time.monotonic() - before[0], _processor_time() - before[1]
            channel.send({"spent": item.nodeid, "seconds": spent})
            if until_failure and self._plugin.outcome_of(item.nodeid) != "passed":
                break

    def _collect(self, child: int, reading: int, deadline: float) -> tuple[bytes, bool]:
        """Return what a child wrote, and whether it ended by itself; nothing of it stays."""
        ended = os.pidfd_open(child)
        written = bytearray()
        try:
            _read_until(ended, reading, deadline, written)
        finally:
            os.close(ended)
            for target in (child, -child):
                try:
                    os.kill(target, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            _, status = os.waitpid(child, 0)
            self._end_orphans()
        return bytes(written), os.WIFEXITED(status)

    def _end_orphans(self) -> None:
        """End what a child started in sessions of their own: it is ours now."""
        while orphans := _children() - self._own:
            for orphan in orphans:
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)


def _read_until(ended: int, reading: int, deadline: float, written: bytearray) -> None:
    """Read until the child has ended and all it wrote is read, or the deadline has come."""
    watched = [reading, ended]
    while watched and (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select(watched, [], [], left)
        chunk = os.read(reading, 1 << 16) if reading in ready else b""
        written += chunk
        if reading in ready and not chunk:
            watched.remove(reading)
        if ended in ready and not chunk:
            return


def _read(written: bytes, items: Sequence[pytest.Item], found: Outcome) -> set[str]:
    """Add what a child wrote of its tests, and return the ones that it began.

    A line may be cut short, and a test may have written to a descriptor that is not its own.
    """
    begun: set[str] = set()
    known = frozenset(item.nodeid for item in items)
    for line in written.split(b"\n"):
        match _record(line):
            case {"start": str(test)} if test in known:
                begun.add(test)
            case {"spent": str(test), "seconds": [float(wall), float(cpu)]} if test in known:
                found.spent[test] = wall, cpu
            case {"id": str(test), "outcome": str(outcome), "message": str(message)}:
                _add(test, outcome, message, found)
    found.passed &= found.spent.keys()
    return begun


def _record(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _add(test: str, outcome: str, message: str, found: Outcome) -> None:
    found.ended.add(test)
    if outcome == "passed":
        found.passed.add(test)
    if message.startswith(f"Failed: {TIMED_OUT}"):
        found.slow.add(test)


def _children() -> set[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return {int(number) for number in file.read().split()}


def _processor_time() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime

"""Try lazy versions of functions in a process that has collected the suite already.

Runs inside a sandbox.  For every try the process forks; the child swaps the code of the functions
and runs tests, so that nothing is imported or collected again.
"""

import gc
import json
import os
import select
import signal
import time
from types import CodeType, FunctionType
from typing import Any

import pytest

from codeenv.guest.pytest_plugin import TIMED_OUT, Plugin
from codeenv.guest.pytest_report import Channel

RAISES = "raise NotImplementedError"
# What code that only seems to work returns; ``values`` are a call's positional arguments.
LAZY = (
    *("None", "True", "False", "0", "''", "[]", "{}"),
    "values[-1] if values else None",
)
_SHORT = 0.5
"""Processor seconds for a test with a constant: many callers loop then."""
_IMPATIENCE = 5
"""Into how much of its time limit a test must fit with other code than the true one."""
Functions = dict[tuple[str, str], list[FunctionType]]


class Swapper:
    """Runs the tries of a request instead of the session's tests."""

    def __init__(self, request: dict[str, Any], channel: Channel, plugin: Plugin) -> None:
        """Keep the request; ``plugin`` reports the outcomes of a child's tests."""
        self._swaps = request["swaps"]
        self._limit = float(request["swap_timeout"])
        self._test_limit = float(request["test_timeout"])
        self._channel = channel
        self._plugin = plugin
        self._folder = os.getcwd()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Make every try, and report what came of it."""
        items = {item.nodeid: item for item in session.items}
        functions = functions_in(self._folder)
        for number, swap in enumerate(self._swaps):
            self._channel.send({"swap": number, **self._try(swap, items, functions)})
        return True

    def _try(
        self, swap: dict[str, Any], items: dict[str, pytest.Item], functions: Functions
    ) -> dict[str, Any]:
        wanted = [(path, name) for path, name in swap["symbols"]]
        lost = [name for path, name in wanted if (path, name) not in functions]
        if lost or not wanted:
            return {"problem": f"not in memory: {', '.join(lost[:3])}"}
        targets = [function for key in wanted for function in functions[key]]
        known = [test for test in swap["tests"] if test in items]
        chosen = [items[test] for test in known]
        alone, _ = self._run([], RAISES, chosen)
        passed, _ = self._run(targets, RAISES, chosen)
        failing = [test for test in known if test in alone and test not in passed]
        left, weak = failing, dict[str, str]()
        for value in LAZY:
            if not left:
                break
            chosen = [items[test] for test in left]
            passed, slow = self._run(targets, f"return {value}", chosen, _SHORT)
            weak.update(dict.fromkeys(passed, value))
            left = [test for test in left if test not in passed and test not in slow]
        lost = [test for test in known if test not in alone]
        if lost and not failing:
            return {"problem": f"{len(lost)} tests do not pass on their own here"}
        return {"failing": failing, "weak": weak, "unsteady": lost, "problem": ""}

    def _run(
        self,
        targets: list[FunctionType],
        body: str,
        items: list[pytest.Item],
        cpu_limit: float = 0.0,
    ) -> tuple[set[str], set[str]]:
        """Return the tests that pass in a child whose functions have another body, and slow ones.

        What ran out of time with one constant would loop with another, most likely.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setpgid(0, 0)
                limit = self._test_limit / _IMPATIENCE if targets else self._test_limit
                self._plugin.go_on(Channel(writing), limit, cpu_limit)
                for target in targets:
                    swap_code(target, body)
                for item, following in zip(items, [*items[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            finally:
                os._exit(0)
        os.close(writing)
        try:
            written, in_time = _collect(child, reading, time.monotonic() + self._limit)
        finally:
            os.close(reading)
        passed, slow, unfinished = _outcomes(written)
        return passed, slow if in_time else slow | unfinished


def functions_in(folder: str) -> Functions:
    """Return the Python functions in memory that were written in a folder, by path and name."""
    root = os.path.realpath(folder) + os.sep
    places: dict[str, str] = {}
    found: Functions = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType:
            code = thing.__code__
            if code.co_filename not in places:
                places[code.co_filename] = os.path.realpath(code.co_filename)
            path = places[code.co_filename]
            if path.startswith(root):
                found.setdefault((path[len(root) :], code.co_qualname), []).append(thing)
    return found


def swap_code(function: FunctionType, body: str) -> None:
    """Give a function another body, whatever arguments it is called with."""
    old = function.__code__
    waits = bool(old.co_flags & 0x80)  # CO_COROUTINE
    function.__code__ = _template(body, waits).replace(
        co_name=old.co_name,
        co_qualname=old.co_qualname,
        co_filename=old.co_filename,
        co_firstlineno=old.co_firstlineno,
        co_freevars=old.co_freevars,
    )


def _template(body: str, waits: bool) -> CodeType:
    space: dict[str, Any] = {}
    source = f"{'async ' if waits else ''}def lazy(*values, **more):\n    {body}\n"
    exec(compile(source, "<lazy>", "exec"), space)
    return space["lazy"].__code__  # type: ignore[no-any-return]


def _collect(child: int, reading: int, deadline: float) -> tuple[bytes, bool]:
    """Return what a child wrote, and whether it ended before the deadline; nothing of it stays."""
    ended = os.pidfd_open(child)
    written = b""
    try:
        while time.monotonic() < deadline:
            left = max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([reading, ended], [], [], left)
            if reading in ready:
                chunk = os.read(reading, 1 << 16)
                written += chunk
            if ended in ready and (reading not in ready or not chunk):
                break
            if reading in ready and not chunk:
                select.select([ended], [], [], max(0.0, deadline - time.monotonic()))
                break
    finally:
        os.close(ended)
        for target in (child, -child):
            try:
                os.kill(target, signal.SIGKILL)
            except ProcessLookupError:
                continue
        os.waitpid(child, 0)
    return written, time.monotonic() < deadline


def _outcomes(written: bytes) -> tuple[set[str], set[str], set[str]]:
    """Return the tests that passed, ran out of time, and did not end."""
    started: set[str] = set()
    ended: dict[str, str] = {}
    slow: set[str] = set()
    for line in written.split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:  # cut short
            continue
        if "start" in record:
            started.add(record["start"])
        elif "outcome" in record:
            ended[record["id"]] = record["outcome"]
            slow |= (
                {record["id"]} if record["message"].startswith(f"Failed: {TIMED_OUT}") else set()
            )
    passed = {test for test, outcome in ended.items() if outcome == "passed"}
    return passed, slow, started - ended.keys()

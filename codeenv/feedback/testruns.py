"""What a run of tests said, as far as its output has a form; lines are looked at one by one."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

_LINE = 2000  # characters of a line that can be a summary
_MOST = 50
_TOOK = re.compile(r"[\d.]+s(?: \([\d:]+\))?")
_COUNT = re.compile(r"(\d+) (\w+)")
_UNITTEST = re.compile(r"Ran (\d{1,9}) tests? in [\d.]+s")
_ABSENT = re.compile(r"\bNo module named '?(pytest|unittest|nose2|tox|nox|coverage)'?$")
_BAD = frozenset({"failed", "error", "errors"})
_RAN = _BAD | {"passed", "skipped", "xfailed", "xpassed"}
_NOTHING_RAN = frozenset({4, 5, 126, 127})
"""Exit codes of a wrong command line, of no tests, of a program that cannot be run."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run of tests that the agent saw.

    Attributes:
        turn: When.
        failed: Whether it said that tests failed, or did not come to its end.
        names: Ids of tests that failed in it or before and were not seen to pass since.
        stopped: Whether it was stopped at its deadline.
        earlier: Whether one of the names is from a run before.
    """

    __test__ = False

    turn: int
    failed: bool
    names: tuple[str, ...] = ()
    stopped: bool = False
    earlier: bool = False

    def after(self, before: "TestRun | None", covers: Callable[[str], bool]) -> "TestRun":
        """Return the run with what failed before it and was not run to its end in it.

        Args:
            before: The run before.
            covers: Whether this run ran a test, by its id.
        """
        known = before.names if before else ()
        left = [n for n in known if n not in self.names and (self.stopped or not covers(n))]
        if not left:
            return self
        names = (*self.names, *left)[:_MOST]
        return replace(self, failed=True, names=names, earlier=True)


def read_run(
    turn: int, text: str, exit_code: int | None, *, stopped: bool = False
) -> TestRun | None:
    """Return what a run's output says, or None if it says that no test was run.

    The exit code decides where no summary does: the output may have gone through a pipe.
    """
    names: dict[str, None] = {}
    said: set[str] = set()
    for line in _lines(text):
        name = _failed_name(line)
        if name and len(names) < _MOST:
            names[name] = None
        said |= {"failed"} if name else _summary(line)
    if stopped or not said.isdisjoint(_BAD):
        return TestRun(turn, True, tuple(names), stopped)
    if not said.isdisjoint(_RAN):
        return TestRun(turn, False)
    if "none" in said or exit_code in _NOTHING_RAN:
        return None
    return TestRun(turn, exit_code not in (0, None))


def _lines(text: str) -> Iterator[str]:
    return (line.rstrip() for line in text.split("\n") if len(line) <= _LINE)


def _failed_name(line: str) -> str:
    """Return the id in a line such as ``FAILED tests/test_a.py::test_b - why``, or ""."""
    status, _, rest = line.partition(" ")
    if status not in ("FAILED", "ERROR"):
        return ""
    name = rest.partition(" - ")[0]
    path, found, _ = name.partition("::")
    is_id = bool(found) or path.endswith(".py")
    return name if is_id and path and not any(map(str.isspace, path)) else ""


def _summary(line: str) -> set[str]:
    """Return what a line says of the whole run: kinds of results, or that there are ``none``."""
    if line.startswith(("FAILED (", "***Test Failed***")):  # unittest, doctest
        return {"failed"}
    if ran := _UNITTEST.fullmatch(line):
        return {"passed"} if int(ran[1]) else {"none"}
    if line == "NO TESTS RAN" or _ABSENT.search(line):
        return {"none"}
    counts, _, took = line.strip("= ").rpartition(" in ")
    if not _TOOK.fullmatch(took):
        return set()
    if counts == "no tests ran":
        return {"none"}
    found = [_COUNT.fullmatch(part) for part in counts.split(", ")]
    if not all(found):
        return set()
    return {"none"} | {one[2] for one in found if one and int(one[1][:9])}

"""What a run of tests said, as far as its output has a form."""

import re
from dataclasses import dataclass

_SUMMARY = re.compile(r"^(?:FAILED|ERROR) (\S+?(?:::[^\n]*?|\.py))(?: - [^\n]*)?$", re.MULTILINE)
_TOTALS = re.compile(r"^=* ?((?:\d+ \w+(?:, )?)+) in [\d.]+s(?: \([\d:]+\))? ?=*$", re.MULTILINE)
_BAD = re.compile(r"\d+ (?:failed|errors?)\b")
_MOST = 50


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run of tests that the agent saw.

    Attributes:
        turn: When.
        failed: Whether it said that tests failed.
        names: Ids of failed tests in its summary, in order.
    """

    __test__ = False

    turn: int
    failed: bool
    names: tuple[str, ...] = ()


def read_run(turn: int, text: str, exit_code: int | None) -> TestRun:
    """Return what a run's output says; the exit code decides where no summary does."""
    names = tuple(dict.fromkeys(_SUMMARY.findall(text)))[:_MOST]
    totals = _TOTALS.findall(text)
    if totals or names:
        return TestRun(turn, bool(names) or any(map(_BAD.search, totals)), names)
    return TestRun(turn, exit_code not in (0, None))

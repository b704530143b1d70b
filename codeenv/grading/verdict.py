"""From what a test run reported to statuses, and from a grade to an episode's outcome."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codeenv.grading.models import Grade, Outcome, Reason, TestStatus
from codeenv.languages.base import TestRun

_BY_AGENT = frozenset({"submitted", "agent_gave_up"})


def statuses(ids: Sequence[str], run: TestRun) -> Mapping[str, TestStatus]:
    """Return each id's status.

    A test passed only if it was collected exactly once, reported as passed, and its run came to its
    own end: a run that was cut off may have been cut off by the code it tested.
    """
    counts = Counter(run.collected)
    whole = run.complete and not run.timed_out
    return {test: _status(test, run, counts[test], whole) for test in ids}


def _status(test: str, run: TestRun, collected: int, whole: bool) -> TestStatus:
    result = run.results.get(test)
    if result is None:
        return "error" if test in run.errors else "missing"
    if collected != 1:
        return "error" if collected else "missing"
    return "error" if result.outcome == "passed" and not whole else result.outcome


def nothing_ran(run: TestRun) -> bool:
    """Return whether a run ended early without a single result."""
    return not run.complete and not run.results


def make_grade(
    fail_to_pass: Mapping[str, TestStatus],
    pass_to_pass: Mapping[str, TestStatus],
    weak: Mapping[str, TestStatus],
) -> Grade:
    """Return the grade: resolved if every test passed and there was one to be made pass."""
    grade = Grade(False, fail_to_pass, pass_to_pass, weak=weak)
    return replace(grade, resolved=bool(fail_to_pass) and not grade.not_passed)


def to_outcome(
    task_id: str, grade: Grade | None, *, reason: Reason, n_steps: int, error: str = ""
) -> Outcome:
    """Return how an episode ended.

    Args:
        task_id: The task.
        grade: The verdict; None if it never came to grading.
        reason: Why the agent stopped, or ``infra_error``.
        n_steps: Tool calls made.
        error: What failed, for people.
    """
    by_agent = reason in _BY_AGENT
    if grade is None or not grade.valid:
        reason = "infra_error" if grade is None else "grader_error"
        error = error or (grade.error if grade else "")
    valid = grade is not None and grade.valid
    return Outcome(
        task_id=task_id,
        reward=float(grade.resolved) if grade and valid else 0.0,
        reason=reason,
        reward_valid=valid,
        terminated=by_agent,
        truncated=not by_agent,
        n_steps=n_steps,
        components=grade.components if grade and valid else {},
        grade=grade,
        error=error,
    )

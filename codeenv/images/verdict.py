"""Whether an environment is good: judged in fresh boxes, by commands its builder has not seen."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codeenv.images.attempts import TEST_TIMEOUT
from codeenv.images.causes import Cause, causes_of
from codeenv.images.layers import Environment
from codeenv.images.planning.facts import Check
from codeenv.languages.base import Language, Layout, TestRequest, TestRun
from codeenv.sandbox.base import Backend
from codeenv.sandbox.image import Image
from codeenv.tree import Tree

Reason = Literal[
    "accepted", "install", "compile", "nothing_passes", "imports", "out_of_time", "no_tests",
    "too_few_pass", "checks_fail",
]  # fmt: skip
STABLE_SHARE = 0.8
"""Of the collected tests, that pass every time."""
CHECK_SHARE = 2 / 3
"""Of the checks, that hold; a repository's own files are not right in everything they say."""
_TIMEOUT, _CHECK_TIMEOUT = 1800.0, 300.0
_SAID = 300


@dataclass(frozen=True)
class CheckResult:
    """What came of a check.

    Attributes:
        check: The check.
        holds: Whether the command did what it must.
        said: The end of its output.
    """

    check: Check
    holds: bool
    said: str


@dataclass(frozen=True)
class Verdict:
    """Whether an environment is good, and why not.

    Attributes:
        reason: ``accepted``, or the one thing that is wrong.
        told: The same in words.
        collected: How many tests there are; a file that cannot be collected counts as one.
        stable: How many of them pass every time.
        checks: What came of the checks.
        causes: Why the other tests do not pass.
    """

    reason: Reason
    told: str
    collected: int = 0
    stable: int = 0
    checks: tuple[CheckResult, ...] = ()
    causes: tuple[Cause, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether it is good."""
        return self.reason == "accepted"


@dataclass(frozen=True)
class Judge:
    """Looks at environments of one repository, without network, each time in a fresh box.

    Attributes:
        tree: The repository.
        layout: Where things are in it.
        language: Runs its tests.
        backend: Where.
        timeout: Seconds for a run of all tests.
    """

    tree: Tree
    layout: Layout
    language: Language
    backend: Backend
    timeout: float = _TIMEOUT

    def judge(self, environment: Environment, checks: Sequence[Check]) -> Verdict:
        """Return whether the right code imports, enough tests pass twice, and the checks hold."""
        problems = self._imports(environment)
        if problems:
            return Verdict("imports", problems)
        runs = self._runs(environment)
        results = tuple(
            run_check(self.backend, environment.image, self.tree, check) for check in checks
        )
        return _verdict(runs, results)

    def _imports(self, environment: Environment) -> str:
        with self.backend.open(environment.image, self.tree, role="build") as box:
            found = self.language.probe_imports(box, environment.image, self.layout)
        return "; ".join(f"{package}: {problem}" for package, problem in found.items())

    def _runs(self, environment: Environment) -> list[TestRun]:
        """Run all tests twice; once if that takes too long already."""
        options, runs = environment.lock.test_options, list[TestRun]()
        for n in range(2):
            request = TestRequest(None, self.timeout, TEST_TIMEOUT, hash_seed=n, options=options)
            runs.append(self._run(environment, request))
            if runs[-1].timed_out:
                break
        return runs

    def _run(self, environment: Environment, request: TestRequest) -> TestRun:
        with self.backend.open(environment.image, self.tree, role="build") as box:
            return self.language.run_tests(box, environment.image, request)


def run_check(backend: Backend, image: Image, tree: Tree, check: Check) -> CheckResult:
    """Run a check in a fresh box without network."""
    with backend.open(image, tree, role="build") as box:
        result = box.exec(check.command, timeout=_CHECK_TIMEOUT)
    expected = check.expect
    holds = (
        not result.timed_out
        and result.exit_code in expected.exit_codes
        and re.search(expected.output, result.text, re.MULTILINE) is not None
    )
    return CheckResult(check, holds, result.text.strip()[-_SAID:])


def _verdict(runs: Sequence[TestRun], checks: tuple[CheckResult, ...]) -> Verdict:
    stable = frozenset.intersection(*(run.passed for run in runs))
    collected = len(runs[0].collected) + len(runs[0].errors)
    causes = causes_of(runs[0], len(runs[0].passed - stable))
    reason, told = _reason(runs, collected, len(stable), checks)
    return Verdict(reason, told, collected, len(stable), checks, causes)


def _reason(
    runs: Sequence[TestRun], collected: int, stable: int, checks: Sequence[CheckResult]
) -> tuple[Reason, str]:
    held = sum(result.holds for result in checks)
    if any(run.timed_out for run in runs):
        return "out_of_time", f"the suite did not end in time; {stable} of {collected} tests pass"
    if not collected:
        return "no_tests", "no test can be collected"
    if stable < STABLE_SHARE * collected:
        return "too_few_pass", f"{stable} of {collected} tests pass every time"
    if held < CHECK_SHARE * len(checks):
        return "checks_fail", f"{held} of {len(checks)} checks hold"
    return "accepted", f"{stable} of {collected} tests pass, {held} of {len(checks)} checks hold"

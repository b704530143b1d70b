"""Which tests can be trusted: the stable set, and why each other test is not in it."""

import datetime
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from codeenv.errors import SourceError
from codeenv.generate.dated import dated_ids
from codeenv.generate.workbench import Workbench
from codeenv.languages.base import CoverageMap, TestRequest, TestRun
from codeenv.sandbox.image import Mount
from codeenv.tasks.models import Baseline, SourcePin

SUITE_TIMEOUT = 1800.0
_USUAL, _LONG = 600.0, 3600.0
_MANY_SECONDS = 120.0
# Coarse steps, so that a machine's mood does not change a recipe's bytes.
_TEST_TIMEOUTS = (10.0, 60.0, 600.0, SUITE_TIMEOUT * 10)
_MARGIN = 16


def measure_baseline(
    bench: Workbench, pin: SourcePin, *, jobs: int, coverage_mount: Mount | None
) -> tuple[Baseline, CoverageMap]:
    """Run the whole suite four times: plain, with another hash seed, and twice with coverage.

    The second coverage is taken in a shuffled order; only what both saw counts.  Then every file
    runs alone.

    Raises:
        SourceError: If too few tests pass, with what stood in the way.
    """
    # With a limit per test as in grading, so that no test meets another runner there.
    plain = TestRequest(timeout=SUITE_TIMEOUT, test_timeout=SUITE_TIMEOUT)
    traced = replace(plain, coverage=True)
    mounts = (coverage_mount,) if coverage_mount else ()
    requests = (
        (plain, ()),
        (replace(traced, shuffle_seed=1), mounts),
        (replace(plain, hash_seed=1), ()),
        (traced, mounts),
    )
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        runs = list(pool.map(lambda item: bench.run(item[0], mounts=item[1]), requests))
    _demand_tests(runs[0])
    coverage = _coverage(runs[3]).common(_coverage(runs[1]))
    _demand_own_code(bench, coverage)
    stable, quarantined = _sort_out(runs)
    today = datetime.date.today()
    found = dated_ids(stable, bench.pristine, bench.layout, bench.language, today)
    dated = dict.fromkeys(found, "date")
    quarantined |= dated
    stable = tuple(test for test in stable if test not in dated)
    stable = _alone(bench, stable, quarantined, jobs)
    if not stable:
        raise SourceError(
            f"none of the {len(runs[0].collected)} tests passes every time",
            hint=_common_reasons(quarantined, runs[0]),
        )
    longest = max(run.duration for run in runs)
    baseline = Baseline(
        source=pin,
        environment=bench.environment.digest,
        runs=len(runs) + 1,
        stable=stable,
        quarantined=quarantined,
        timeout=_LONG if longest > _MANY_SECONDS else _USUAL,
        test_timeout=_TEST_TIMEOUTS[0],
        test_timeouts=_longer_limits(stable, (runs[0], runs[2])),
    )
    return baseline, coverage


def _longer_limits(stable: Sequence[str], runs: Sequence[TestRun]) -> dict[str, float]:
    """Return the seconds of tests that need more than the usual: many times what they took."""
    took = {test: min(run.results[test].duration for run in runs) * _MARGIN for test in stable}
    return {
        test: next(limit for limit in _TEST_TIMEOUTS if seconds <= limit)
        for test, seconds in took.items()
        if seconds > _TEST_TIMEOUTS[0]
    }


def _alone(
    bench: Workbench, stable: tuple[str, ...], quarantined: dict[str, str], jobs: int
) -> tuple[str, ...]:
    """Return the tests that also pass when their file runs alone; set the others aside."""
    files: dict[str, list[str]] = {}
    for test in stable:
        files.setdefault(test.partition("::")[0], []).append(test)
    if len(files) < 2:
        return stable
    requests = [
        TestRequest(tuple(ids), SUITE_TIMEOUT, test_timeout=SUITE_TIMEOUT) for ids in files.values()
    ]
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        passed = frozenset(test for run in pool.map(bench.run, requests) for test in run.passed)
    quarantined.update((test, "not_alone") for test in stable if test not in passed)
    return tuple(test for test in stable if test in passed)


def _coverage(run: TestRun) -> CoverageMap:
    if run.coverage is None:
        said = "; ".join(filter(None, (run.errors.get("coverage"), _tail(run.log))))
        raise SourceError(
            "the suite gives no coverage map",
            hint=f"the run ended with exit code {run.exit_code}: {said}",
        )
    return run.coverage


def _demand_tests(run: TestRun) -> None:
    if run.timed_out:
        raise SourceError(
            f"the test suite takes more than {SUITE_TIMEOUT:.0f} s",
            hint="use --subdir, or a smaller repository",
        )
    if not run.collected:
        problem = next(iter(run.errors.values()), "") or _tail(run.log)
        raise SourceError("no test could be collected", hint=problem or "are there tests at all?")


def _demand_own_code(bench: Workbench, coverage: CoverageMap) -> None:
    """Refuse a suite that runs nothing of the repository: it tests another copy, or none."""
    executed = coverage.executed
    if not any(executed.get(path) for path in bench.layout.source_files):
        raise SourceError(
            f"the tests run no code of this repository ({', '.join(bench.layout.packages)})",
            hint="they import it from elsewhere, or in other processes only",
        )


def _sort_out(runs: list[TestRun]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Split all ids ever seen into stable ones, in collection order, and quarantined ones."""
    first = runs[0]
    everything = dict.fromkeys(i for run in runs for i in run.collected)
    counts = Counter(first.collected)
    stable, quarantined = [], {}
    for test in everything:
        reason = "duplicate" if counts[test] > 1 else _quarantine_reason(test, runs)
        if reason == "unstable_id":  # what is in its brackets would make every baseline another
            quarantined[test.partition("[")[0]] = reason
        elif reason:
            quarantined[test] = reason
        else:
            stable.append(test)
    for run in runs:
        for what in run.errors:
            quarantined.setdefault(what, "not_collected")
    return tuple(stable), dict(sorted(quarantined.items()))


def _quarantine_reason(test: str, runs: list[TestRun]) -> str:
    """Return why a test is not stable, or "" if it passed in every run."""
    if any(test not in run.collected for run in runs):
        return "unstable_id"
    outcomes = [run.results[test].outcome if test in run.results else "missing" for run in runs]
    if all(outcome == "passed" for outcome in outcomes):
        return ""
    if len(set(outcomes)) == 1:
        return outcomes[0]
    plain, shuffled, hashed, traced = (outcome == "passed" for outcome in outcomes)
    if plain and hashed and traced and not shuffled:
        return "order"
    if plain and shuffled and traced and not hashed:
        return "hash_seed"
    if plain and hashed and not traced:
        return "tracing"
    return "flaky"


def _common_reasons(quarantined: dict[str, str], run: TestRun) -> str:
    counts = Counter(quarantined.values())
    told = ", ".join(f"{number} {reason}" for reason, number in counts.most_common(3))
    example = next((r.message for r in run.results.values() if r.message), "")
    return f"{told}; for example: {example}" if example else told


def _tail(log: str) -> str:
    lines = [line for line in log.splitlines() if line.strip()]
    return " / ".join(lines[-3:])[-400:]

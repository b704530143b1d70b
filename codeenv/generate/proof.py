"""Proves a deletion with the repository's own tests: the affected ones, then the whole suite."""

from dataclasses import replace

from codeenv.generate.deletion import hollow_tree
from codeenv.generate.models import Deletion, Proof, Reason, Rejected
from codeenv.generate.workbench import Workbench
from codeenv.languages.base import TestRequest, TestRun
from codeenv.tasks.models import Baseline

_TOLD = 3


def prove(bench: Workbench, deletion: Deletion, baseline: Baseline) -> Proof:
    """Return the tests that fail because of the deletion; all other stable tests still pass.

    Raises:
        Rejected: With the reason why the deletion makes no task.
        SandboxError: If the sandbox failed twice.
    """
    predicted = deletion.feature.tests
    _screen(bench, deletion, baseline)
    failing = _whole_suite(bench, deletion, baseline)
    weak = _passed_by_nothing(bench, deletion, baseline, failing)
    fail_to_pass = tuple(test for test in predicted if test in failing and test not in weak)
    if not fail_to_pass:
        raise Rejected(Reason.WEAK_TESTS, f"all {len(failing)} pass when the code returns nothing")
    excluded = tuple(sorted(failing - set(fail_to_pass)))
    return Proof(deletion, fail_to_pass, excluded)


def _screen(bench: Workbench, deletion: Deletion, baseline: Baseline) -> None:
    """Run only the predicted tests: cheap, and most bad candidates end here."""
    predicted = deletion.feature.tests
    request = _request(baseline, predicted)
    run = bench.run(request, deletion.damaged)
    _demand_whole(run, baseline)
    if set(predicted) <= run.passed:
        raise Rejected(Reason.NO_FAILURE, f"{len(predicted)} predicted tests still pass")


def _whole_suite(bench: Workbench, deletion: Deletion, baseline: Baseline) -> frozenset[str]:
    """Return the stable ids that fail without the feature; all of them were predicted."""
    request = _request(baseline)
    run = bench.run(request, deletion.damaged)
    _demand_whole(run, baseline)
    failing = frozenset(baseline.stable) - run.passed
    unpredicted = sorted(failing - set(deletion.feature.tests))
    if unpredicted:
        raise Rejected(
            Reason.BREAKS_OTHERS,
            f"{len(unpredicted)} tests, e.g. {', '.join(unpredicted[:_TOLD])}"[:300],
        )
    if not failing:
        raise Rejected(Reason.NO_FAILURE, "the whole suite still passes")
    return failing


def _demand_whole(run: TestRun, baseline: Baseline) -> None:
    """Refuse a run that ended early, or where a file is not collected that used to be."""
    if run.timed_out or not run.complete:
        raise Rejected(Reason.CRASHES, f"exit code {run.exit_code}")
    for path, message in run.errors.items():
        if path not in baseline.quarantined:
            raise Rejected(Reason.BREAKS_COLLECTION, f"{path}: {message}"[:300])


def _passed_by_nothing(
    bench: Workbench, deletion: Deletion, baseline: Baseline, failing: frozenset[str]
) -> frozenset[str]:
    """Return the failing tests that pass once the deleted code exists but returns nothing."""
    tree = hollow_tree(bench, deletion)
    if tree is None:
        return frozenset()
    ids = tuple(test for test in baseline.stable if test in failing)
    request = replace(_request(baseline, ids), test_timeout=baseline.test_timeout / 5)
    run = bench.run(request, tree)  # code that returns nothing makes its callers loop, often
    return run.passed & failing


def _request(baseline: Baseline, ids: tuple[str, ...] | None = None) -> TestRequest:
    """Ask for tests under the deadlines that grading keeps: damaged code may loop for ever."""
    return TestRequest(ids=ids, timeout=baseline.timeout, test_timeout=baseline.test_timeout)

from dataclasses import replace

import pytest

from codeenv.errors import SourceError
from codeenv.generate.baseline import _alone, _coverage, _longer_limits, _sort_out
from codeenv.generate.pipeline import _set_aside
from codeenv.languages.base import TestResult, TestRun
from codeenv.tasks.models import Baseline, SourcePin


def run(collected="abc", **outcomes):
    results = {t: TestResult(outcomes.get(t, "passed")) for t in collected}
    return TestRun(tuple(collected), results, complete=True, exit_code=0)


def sort_out(plain=None, shuffled=None, hashed=None, traced=None):
    return _sort_out([r or run() for r in (plain, shuffled, hashed, traced)])


def test_tests_that_always_pass_are_stable_in_collection_order():
    stable, quarantined = sort_out(plain=run("cba"))
    assert stable == ("c", "b", "a")
    assert quarantined == {}


@pytest.mark.parametrize("outcome", ["failed", "error", "skipped", "xfailed", "xpassed"])
def test_a_test_that_never_passes_is_set_aside_with_its_outcome(outcome):
    always = run(b=outcome)
    stable, quarantined = sort_out(always, always, always, always)
    assert stable == ("a", "c")
    assert quarantined == {"b": outcome}


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ({"shuffled": run(b="failed")}, "order"),
        ({"hashed": run(b="failed")}, "hash_seed"),
        ({"traced": run(b="failed")}, "tracing"),
        ({"traced": run(b="failed"), "shuffled": run(b="failed")}, "tracing"),
        ({"plain": run(b="failed"), "traced": run(b="error")}, "flaky"),
        ({"hashed": run("ac")}, "unstable_id"),
        ({"plain": run("abbc")}, "duplicate"),
    ],
)
def test_a_test_that_passes_only_sometimes_is_set_aside_with_the_reason(runs, reason):
    stable, quarantined = sort_out(**runs)
    assert stable == ("a", "c")
    assert quarantined == {"b": reason}


@pytest.mark.parametrize(
    ("errors", "said"), [({"coverage": "no tracer"}, "no tracer; b / last"), ({}, "b / last")]
)
def test_a_suite_without_a_coverage_map_is_refused_with_the_reason(errors, said):
    failed = replace(run(), exit_code=3, errors=errors, log="b\n\nlast\n")
    assert failed.coverage is None
    with pytest.raises(SourceError, match="no coverage map") as caught:
        _coverage(failed)
    assert caught.value.hint == f"the run ended with exit code 3: {said}"


class Alone:
    """Runs files whose last test needs another file."""

    def __init__(self):
        self.asked = []

    def run(self, request):
        self.asked.append(request.ids)
        return run(request.ids, **{"b.py::two": "failed"})


def test_a_test_that_needs_another_file_is_set_aside():
    bench, quarantined = Alone(), {}
    stable = ("a.py::one", "b.py::one", "b.py::two")
    assert _alone(bench, stable, quarantined, jobs=1) == ("a.py::one", "b.py::one")
    assert bench.asked == [("a.py::one",), ("b.py::one", "b.py::two")]
    assert quarantined == {"b.py::two": "not_alone"}


def test_only_slow_tests_may_take_longer_than_the_usual():
    def took(**seconds):
        results = {test: TestResult("passed", duration) for test, duration in seconds.items()}
        return TestRun(tuple(seconds), results, complete=True, exit_code=0)

    once, again = took(a=0.01, b=30.0, c=2.0, d=20.0), took(a=9.0, b=0.5, c=1.5, d=200.0)
    assert _longer_limits(("a", "b", "c", "d"), (once, again)) == {"c": 60.0, "d": 600.0}


def test_a_single_file_is_alone_already():
    bench = Alone()
    assert _alone(bench, ("b.py::one", "b.py::two"), {}, jobs=1) == ("b.py::one", "b.py::two")
    assert bench.asked == []


def test_the_reasons_of_tests_set_aside_are_told():
    quarantined = {"b": "error", "c": "error", "d": "order"}
    pin = SourcePin(kind="bundled", location="x", sha256="0" * 64, tree="0" * 64)
    facts = {"source": pin, "environment": "0" * 64, "runs": 4, "stable": ("a",), "timeout": 1}
    assert _set_aside(Baseline(**facts, quarantined=quarantined)) == (
        "3 set aside (2 error, 1 order)"
    )
    assert _set_aside(Baseline(**facts, quarantined={})) == "0 set aside"

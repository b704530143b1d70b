"""Judging an environment: what it must show in fresh boxes before it is accepted."""

from dataclasses import replace

import pytest

from codeenv.images.layers import Environment
from codeenv.images.planning.facts import Check, Expectation, Place
from codeenv.images.verdict import Judge
from codeenv.languages.base import TestResult, TestRun
from codeenv.sandbox.base import ExecResult
from codeenv.sandbox.fake import FakeBackend
from codeenv.sandbox.image import Image
from codeenv.tasks.models import EnvironmentLock
from tests.images.fakes import LAYOUT, PASS, TREE

LOCK = EnvironmentLock(
    base="debian:test", python="3.13.5", platform="x86_64", packages=(), test_options=("-o", "x=")
)
ENVIRONMENT = Environment(LOCK, Image("d" * 64, "b" * 64, None, ()))
SKIP = TestResult("skipped", message="needs a display")


class Language:
    """Gives ready runs in turn."""

    def __init__(self, *runs, imports=()):
        self.runs, self.imports, self.requests = list(runs), dict(imports), []

    def run_tests(self, box, image, request):
        self.requests.append(request)
        return self.runs[len(self.requests) - 1]

    def probe_imports(self, box, image, layout):
        return self.imports


def run(passed, others=0, *, timed_out=False):
    results = {f"p{n}": PASS for n in range(passed)} | {f"s{n}": SKIP for n in range(others)}
    return TestRun(tuple(results), results, not timed_out, 0, timed_out=timed_out)


def check(command, output="", codes=(0,)):
    return Check(command, Place("tox.ini", 3), "so it says", Expectation(codes, output))


def judge(language, checks=(), backend=None):
    wall = backend or FakeBackend()
    return Judge(TREE, LAYOUT, language, wall).judge(ENVIRONMENT, checks)


def test_what_passes_twice_and_holds_is_accepted():
    language = Language(run(9, 1), run(9, 1))
    verdict = judge(language, [check("echo 1.0", r"^1\.0$"), check("false", codes=(1, 2))])
    assert verdict.accepted
    assert (verdict.collected, verdict.stable) == (10, 9)
    assert all(result.holds for result in verdict.checks)
    assert [cause.name for cause in verdict.causes] == ["skipped"]
    assert [request.hash_seed for request in language.requests] == [0, 1]
    assert all(request.options == ("-o", "x=") for request in language.requests)
    assert all(request.test_timeout for request in language.requests), "a test that hangs fails"


@pytest.mark.parametrize(
    ("runs", "reason", "told"),
    [
        ((run(7, 3), run(7, 3)), "too_few_pass", "7 of 10 tests"),
        ((run(9), run(7)), "too_few_pass", "7 of 9 tests"),
        ((run(0), run(0)), "no_tests", "no test"),
        ((run(9, timed_out=True),), "out_of_time", "9 of 9"),
    ],
)
def test_an_environment_is_discarded_with_one_reason(runs, reason, told):
    verdict = judge(Language(*runs))
    assert not verdict.accepted
    assert verdict.reason == reason
    assert told in verdict.told


def test_files_that_cannot_be_collected_count_against_it():
    half = replace(run(9), errors=dict.fromkeys(("a.py", "b.py", "c.py"), "ImportError: x"))
    verdict = judge(Language(half, half))
    assert (verdict.reason, verdict.told) == ("too_few_pass", "9 of 12 tests pass every time")


def test_code_that_is_imported_from_elsewhere_ends_it_at_once():
    language = Language(imports={"thing": "it is imported from /usr/lib/thing.py"})
    verdict = judge(language, [check("true")])
    assert (verdict.reason, verdict.checks) == ("imports", ())
    assert "thing: it is imported from /usr/lib" in verdict.told


def test_most_of_the_checks_must_hold():
    checks = [check("true"), check("false"), check("echo a", "b")]
    verdict = judge(Language(run(5), run(5)), checks)
    assert verdict.reason == "checks_fail"
    assert [result.holds for result in verdict.checks] == [True, False, False]
    assert judge(Language(run(5), run(5)), [check("true"), check("true"), check("false")]).accepted


def test_every_check_has_a_fresh_box_and_a_deadline():
    def runner(box, command, stdin):
        return ExecResult(0, b"partial", timed_out=True) if command == "sleep" else None

    backend = FakeBackend(runner)
    verdict = judge(Language(run(5), run(5)), [check("sleep"), check("true")], backend)
    assert [result.holds for result in verdict.checks] == [False, True]
    assert [box.commands for box in backend.boxes[-2:]] == [["sleep"], ["true"]]
    assert verdict.checks[0].said == "partial"

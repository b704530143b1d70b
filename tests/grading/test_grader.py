from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codeenv.errors import SandboxError
from codeenv.grading import Grader, collect_submission, to_outcome
from codeenv.languages.base import TestRequest, TestResult, TestRun
from codeenv.materialise.git import without_git
from codeenv.sandbox.fake import FakeBackend
from codeenv.sandbox.image import Image
from codeenv.tasks.digest import digest_of
from codeenv.tree import Delta, Entry, Tree
from tests.toytask import (
    LOCK,
    SLUG_TESTS,
    SOURCE,
    WRAP_TESTS,
    Script,
    ScriptedLanguage,
    honest,
    make_task,
)

TASK = make_task()
IMAGE = Image("i" * 64, "base", Path("/"), ())
FIRST = SLUG_TESTS[0]


class Bench:
    """A grader on fakes."""

    def __init__(self, script: Script = honest, *, failures: int = 0) -> None:
        self.backend = FakeBackend(failures=failures)
        self.language = ScriptedLanguage(script)
        self.locks: list[object] = []
        self.grader = Grader(
            self.backend, environments=self._image, languages=lambda _: self.language
        )

    def _image(self, lock: object) -> Image:
        self.locks.append(lock)
        return IMAGE


def changed(run: TestRun, **values: object) -> TestRun:
    return TestRun(**{**vars(run), **values})


def test_nothing_scores_0_and_the_oracle_1():
    bench = Bench()
    nop, oracle = bench.grader.grade(TASK, Delta()), bench.grader.grade(TASK, TASK.oracle)
    assert (nop.resolved, nop.valid) == (False, True)
    assert set(nop.fail_to_pass.values()) == {"failed"}
    assert set(nop.pass_to_pass.values()) == {"passed"}
    assert (oracle.resolved, oracle.valid) == (True, True)
    assert oracle.components == {"fail_to_pass": 1.0, "pass_to_pass": 1.0}


def test_code_for_the_seen_cases_alone_is_told_from_a_solution():
    task = make_task(held_out=SLUG_TESTS[1:])

    def special(tree: Tree, request: TestRequest) -> TestRun:
        run = honest(tree, request)
        return changed(run, results={**run.results, FIRST: TestResult("passed")})

    cheat = Bench(special).grader.grade(task, Delta())
    assert (cheat.resolved, cheat.special_cased) == (False, True)
    assert cheat.components["held_out"] == 0.0
    solved = Bench().grader.grade(task, task.oracle)
    assert (solved.resolved, solved.special_cased) == (True, False)
    assert solved.components["held_out"] == 1.0
    assert not Bench().grader.grade(task, Delta()).special_cased
    assert not Bench(special).grader.grade(TASK, Delta()).special_cased


def test_a_test_of_the_feature_that_lazy_code_passes_must_pass_as_well():
    task = make_task(fail_to_pass=SLUG_TESTS[:2], excluded=SLUG_TESTS[2:])

    def partial(tree: Tree, request: TestRequest) -> TestRun:
        run = honest(tree, request)
        good = {i: TestResult("failed" if i == SLUG_TESTS[3] else "passed") for i in run.results}
        return changed(run, results=good)

    half = Bench(partial).grader.grade(task, Delta())
    assert (half.resolved, half.not_passed) == (False, {SLUG_TESTS[3]: "failed"})
    assert half.components == {"fail_to_pass": 1.0, "pass_to_pass": 1.0}
    assert Bench().grader.grade(task, task.oracle).resolved
    nop = Bench().grader.grade(task, Delta())
    assert nop.weak == dict.fromkeys(SLUG_TESTS[2:], "failed")
    assert set(nop.pass_to_pass.values()) == {"passed"}


def test_a_weak_test_that_needs_the_tests_before_it_is_asked_among_all():
    task = make_task(fail_to_pass=SLUG_TESTS[:1], excluded=SLUG_TESTS[1:])

    def in_order(tree: Tree, request: TestRequest) -> TestRun:
        run = honest(tree, request)
        alone = WRAP_TESTS[0] not in run.results
        lost = (
            {SLUG_TESTS[3]: TestResult("failed")} if alone and SLUG_TESTS[3] in run.results else {}
        )
        return changed(run, results={**run.results, **lost})

    bench = Bench(in_order)
    assert bench.grader.grade(task, task.oracle).resolved
    assert bench.language.requests[-1].ids == (*SLUG_TESTS, *WRAP_TESTS)
    assert not bench.grader.grade(task, Delta()).resolved
    assert len(bench.language.requests) == 5


def test_a_test_that_a_submission_can_change_decides_nothing():
    doctest = "src/notes/text.py::notes.text.slug"
    task = make_task(excluded=(doctest,))
    bench = Bench()
    assert bench.grader.grade(task, task.oracle).resolved
    assert all(doctest not in (request.ids or ()) for request in bench.language.requests)


def test_the_feature_alone_can_be_graded():
    bench = Bench()
    nop = bench.grader.grade(TASK, Delta(), pass_to_pass=False)
    oracle = bench.grader.grade(TASK, TASK.oracle, pass_to_pass=False)
    assert [r.ids for r in bench.language.requests] == [SLUG_TESTS, SLUG_TESTS]
    assert (nop.resolved, nop.valid, nop.pass_to_pass) == (False, True, {})
    assert oracle.resolved


def test_breaking_another_test_is_not_solved():
    text = SOURCE["src/notes/text.py"].data.replace(b"def wrap", b"def warp")
    grade = Bench().grader.grade(TASK, Delta({"src/notes/text.py": Entry(text)}))
    assert set(grade.fail_to_pass.values()) == {"passed"}
    assert not grade.resolved


def test_each_set_of_tests_runs_in_a_fresh_closed_box_with_pristine_tests():
    bench = Bench()
    bench.grader.grade(TASK, TASK.oracle)
    assert [r.ids for r in bench.language.requests] == [SLUG_TESTS, WRAP_TESTS]
    assert len(bench.backend.boxes) == 2
    assert all(box.closed for box in bench.backend.boxes)
    assert all(
        box.tree["tests/test_text.py"] == SOURCE["tests/test_text.py"]
        for box in bench.backend.boxes
    )
    assert set(map(digest_of, bench.locks)) == {digest_of(LOCK)}
    assert {r.timeout for r in bench.language.requests} == {TASK.baseline.timeout}


def test_accepted_and_ignored_paths_are_told():
    tree = without_git(TASK.workspace).apply(TASK.oracle).apply(Delta({"setup.py": Entry(b"")}))
    grade = Bench().grader.grade(TASK, collect_submission(TASK, tree))
    assert "src/notes/text.py" in grade.accepted_paths
    assert grade.ignored_paths == ("setup.py",)
    assert grade.resolved


@pytest.mark.parametrize("outcome", ["failed", "error", "skipped", "xfailed", "xpassed"])
def test_only_a_pass_is_a_pass(outcome):
    def script(tree: Tree, request: TestRequest) -> TestRun:
        run = honest(tree, request)
        odd = {FIRST: TestResult(outcome)} if FIRST in run.results else {}
        return changed(run, results={**run.results, **odd})

    grade = Bench(script).grader.grade(TASK, TASK.oracle)
    assert grade.fail_to_pass[FIRST] == outcome
    assert not grade.resolved
    assert grade.valid


def test_a_missing_test_is_not_a_pass():
    def script(tree: Tree, request: TestRequest) -> TestRun:
        run = honest(tree, request)
        return changed(run, results={i: r for i, r in run.results.items() if i != FIRST})

    grade = Bench(script).grader.grade(TASK, TASK.oracle)
    assert grade.fail_to_pass[FIRST] == "missing"
    assert not grade.resolved


@pytest.mark.parametrize(("times", "status"), [(0, "missing"), (2, "error")])
def test_a_test_not_collected_exactly_once_is_not_a_pass(times, status):
    def script(tree: Tree, request: TestRequest) -> TestRun:
        run = honest(tree, request)
        others = tuple(i for i in run.collected if i != FIRST)
        return changed(run, collected=(*others, *([FIRST] * times)))

    grade = Bench(script).grader.grade(TASK, TASK.oracle)
    assert grade.fail_to_pass[FIRST] == status
    assert not grade.resolved


@pytest.mark.parametrize("end", [{"complete": False}, {"timed_out": True}])
def test_a_run_that_was_cut_off_passes_nothing(end):
    grade = Bench(lambda tree, request: changed(honest(tree, request), **end)).grader.grade(
        TASK, TASK.oracle
    )
    assert set(grade.fail_to_pass.values()) == {"error"}
    assert (grade.resolved, grade.valid) == (False, True)


def test_tests_that_cannot_be_collected_are_errors():
    def script(tree: Tree, request: TestRequest) -> TestRun:
        return TestRun((), {}, complete=True, exit_code=2, errors={FIRST: "ImportError"})

    grade = Bench(script).grader.grade(TASK, TASK.oracle)
    assert grade.fail_to_pass[FIRST] == "error"
    assert grade.valid


def test_one_failed_sandbox_is_tried_again():
    assert Bench(failures=1).grader.grade(TASK, TASK.oracle).resolved


def test_two_failed_sandboxes_are_no_reward_of_0():
    grade = Bench(failures=2).grader.grade(TASK, TASK.oracle)
    assert not grade.valid
    assert "SandboxError" in grade.error
    outcome = to_outcome(TASK.id, grade, reason="submitted", n_steps=3)
    assert (outcome.reward, outcome.reward_valid, outcome.reason) == (0.0, False, "grader_error")


def crash(tree: Tree, request: TestRequest) -> TestRun:
    return TestRun((), {}, complete=False, exit_code=1, log="killed")


def test_code_that_kills_the_run_scores_0_where_the_canary_sings():
    def script(tree: Tree, request: TestRequest) -> TestRun:
        bad = b"os._exit" in tree["src/notes/text.py"].data
        return crash(tree, request) if bad else honest(tree, request)

    bench = Bench(script)
    evil = Delta({"src/notes/text.py": Entry(b"import os\nos._exit(0)\n")})
    first = bench.grader.grade(TASK, evil)
    assert (first.resolved, first.valid) == (False, True)
    assert len(bench.language.requests) == 3
    bench.grader.grade(TASK, evil)
    assert len(bench.language.requests) == 5  # the canary's verdict is remembered


def test_a_grader_in_which_nothing_runs_gives_no_verdict():
    grade = Bench(crash).grader.grade(TASK, TASK.oracle)
    assert not grade.valid
    assert "killed" in grade.error


def test_a_sandbox_that_fails_while_tests_run_is_tried_again():
    calls = []

    def script(tree: Tree, request: TestRequest) -> TestRun:
        calls.append(request)
        if len(calls) == 1:
            raise SandboxError("host lost")
        return honest(tree, request)

    assert Bench(script).grader.grade(TASK, TASK.oracle).resolved
    assert len(calls) == 3


def test_a_grader_serves_many_threads():
    bench = Bench()
    with ThreadPoolExecutor(8) as pool:
        work = [TASK.oracle, Delta()] * 20
        grades = list(pool.map(lambda delta: bench.grader.grade(TASK, delta), work))
    assert [g.resolved for g in grades] == [True, False] * 20


@pytest.mark.parametrize(
    ("reason", "ends"),
    [
        ("submitted", (True, False)),
        ("agent_gave_up", (True, False)),
        ("max_steps", (False, True)),
        ("wall_time", (False, True)),
        ("output_budget", (False, True)),
        ("context_exceeded", (False, True)),
    ],
)
def test_an_episode_ends_in_exactly_one_way(reason, ends):
    grade = Bench().grader.grade(TASK, TASK.oracle)
    outcome = to_outcome(TASK.id, grade, reason=reason, n_steps=1)
    assert (outcome.terminated, outcome.truncated) == ends
    assert (outcome.reward, outcome.reward_valid, outcome.reason) == (1.0, True, reason)


def test_an_infrastructure_failure_has_no_valid_reward():
    outcome = to_outcome(TASK.id, None, reason="infra_error", n_steps=2, error="host lost")
    assert (outcome.reward, outcome.reward_valid, outcome.truncated) == (0.0, False, True)
    assert outcome.error == "host lost"

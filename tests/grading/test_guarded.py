"""What guarded grading makes of runs; the runs themselves are answered by a script."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from codeenv.grading.guard_models import Guard
from codeenv.grading.guarded import (
    deleted_symbols,
    digest_of_delta,
    grade_guarded,
    split_hidden,
    validate_controls,
)
from codeenv.languages.base import TestRequest, TestResult, TestRun
from codeenv.languages.python.language import PythonLanguage
from codeenv.tree import Delta, Entry
from tests.toytask import SLUG_TESTS, make_task

TASK = make_task()
LANGUAGE = PythonLanguage()
TESTS, CODE = "tests/test_text.py", "src/notes/text.py"
SAME = LANGUAGE.controls(TASK.grading_tree, SLUG_TESTS, "same", stable=TASK.baseline.stable)
RIGHT = TestResult("passed")
WRONG = TestResult("failed", message="AssertionError: assert 1 == 2")
Answer = Callable[[str, bytes, str], TestResult]
"""What a test says: given its id, the code, and ``real`` or ``control``."""


def honest(test: str, code: bytes, kind: str) -> TestResult:
    return RIGHT if kind == "real" and b"joiner.join" in code else WRONG


def forged(test: str, code: bytes, kind: str) -> TestResult:
    return RIGHT


class Boxes:
    """Answers runs, and remembers what was asked."""

    def __init__(self, answer: Answer = honest, **changes: object) -> None:
        self.answer, self.changes = answer, changes
        self.asked: list[tuple[Delta, TestRequest]] = []

    def __call__(self, delta: Delta, request: TestRequest) -> TestRun:
        self.asked.append((delta, request))
        kind = "real" if delta.write[TESTS] == SAME.delta.write[TESTS] else "control"
        code = delta.write[CODE].data if CODE in delta.write else b""
        ids = request.ids or ()
        results = {test: self.answer(test, code, kind) for test in ids}
        return TestRun(**{**vars(TestRun(ids, results, True, 0)), **self.changes})


def validated(answer: Answer = honest, **options: object) -> Guard:
    return validate_controls(TASK, SLUG_TESTS, Boxes(answer), language=LANGUAGE, **options)


GUARD = validated()


def graded(boxes: Boxes, delta: Delta = TASK.oracle, guard: Guard = GUARD, **options: object):
    return grade_guarded(TASK, delta, guard, boxes, language=LANGUAGE, **options)


def test_the_known_good_solution_fails_every_control_of_the_toy():
    every = tuple(f"{kind}:{variant}" for kind in ("constants", "negation") for variant in range(3))
    assert dict(GUARD.controls) == dict.fromkeys(SLUG_TESTS, every)
    assert GUARD.ablation == frozenset(SLUG_TESTS)
    assert len(GUARD.orders) == 4


def test_a_right_solution_passes_and_a_forged_one_does_not():
    right, wrong = graded(Boxes()), graded(Boxes(forged))
    assert (right.passed, right.caught) == (frozenset(SLUG_TESTS), {})
    assert (wrong.passed, set(wrong.caught)) == (frozenset(), set(SLUG_TESTS))
    assert set(wrong.real.values()) == {"passed"}
    assert set(wrong.statuses.values()) == {"failed"}


def test_one_control_that_passes_is_enough():
    def partly(test: str, code: bytes, kind: str) -> TestResult:
        return RIGHT if kind == "control" and "joins" in test else honest(test, code, kind)

    grade = graded(Boxes(partly))
    assert set(grade.caught) == {SLUG_TESTS[0]}
    assert grade.passed == frozenset(SLUG_TESTS[1:])


def test_code_that_is_wrong_is_not_said_to_cheat():
    def opposite(test: str, code: bytes, kind: str) -> TestResult:
        return WRONG if kind == "real" and "joins" in test else RIGHT

    grade = graded(Boxes(opposite))
    assert SLUG_TESTS[0] not in grade.caught
    assert grade.statuses[SLUG_TESTS[0]] == "failed"


def test_a_control_that_the_known_good_solution_passes_speaks_against_nobody():
    guard = validated(forged)
    assert set(guard.controls.values()) == {()}
    assert guard.ablation == frozenset()
    grade = graded(Boxes(forged), guard=guard)
    assert (grade.passed, grade.runs) == (frozenset(SLUG_TESTS), ("real",))


@pytest.mark.parametrize("message", ["NameError: no such name", "Failed: timed out after 3 s"])
def test_a_control_that_fails_by_accident_is_none(message):
    def broken(test: str, code: bytes, kind: str) -> TestResult:
        odd = TestResult("failed", message=message)
        return odd if kind == "control" else honest(test, code, kind)

    guard = validated(broken)
    assert guard.controls[SLUG_TESTS[0]] == ()
    # The right exception where another one is expected is no accident.
    assert ("negation:0" in guard.controls[SLUG_TESTS[3]]) == message.startswith("NameError")


def test_a_test_that_rewriting_breaks_cannot_be_guarded():
    def lost(test: str, code: bytes, kind: str) -> TestResult:
        return WRONG if "joins" in test else honest(test, code, kind)

    assert validated(lost).tests == SLUG_TESTS[1:]


def test_orders_in_which_a_test_fails_are_not_used():
    boxes = Boxes()

    def run(delta: Delta, request: TestRequest) -> TestRun:
        found = boxes(delta, request)
        lost = {} if request.shuffle_seed is None else {found.collected[0]: WRONG}
        return replace(found, results={**found.results, **lost})

    guard = validate_controls(TASK, SLUG_TESTS, run, language=LANGUAGE)
    assert (guard.tests, guard.orders) == (SLUG_TESTS, (None,))
    asked = Boxes()
    graded(asked, guard=guard)
    assert {request.shuffle_seed for _, request in asked.asked} == {None}


def test_a_control_run_that_is_cut_off_is_no_control():
    def cut(delta: Delta, request: TestRequest) -> TestRun:
        found = Boxes()(delta, request)
        real = delta.write[TESTS] == SAME.delta.write[TESTS]
        return found if real else replace(found, complete=False)

    guard = validate_controls(TASK, SLUG_TESTS, cut, language=LANGUAGE)
    assert set(guard.controls.values()) == {()}


def test_a_real_run_that_is_cut_off_passes_nothing():
    grade = graded(Boxes(complete=False))
    assert grade.passed == frozenset()
    assert set(grade.real.values()) == {"error"}


def test_a_real_run_without_a_result_is_told():
    grade = graded(Boxes(complete=False, results={}, log="killed"))
    assert grade.silent == "killed"
    assert graded(Boxes()).silent == ""


def test_all_runs_look_alike():
    boxes = Boxes()
    graded(boxes)
    first = boxes.asked[0][1]
    assert len(boxes.asked) == 4
    for delta, request in boxes.asked:
        assert replace(request, shuffle_seed=None) == replace(first, shuffle_seed=None)
        assert delta.paths == tuple(sorted({*TASK.oracle.paths, TESTS}))
        assert not any("joiner[+]" in test for test in request.ids or ())


def test_time_limits_follow_a_test_to_its_other_id():
    slow = TASK.baseline.model_copy(update={"test_timeouts": {SLUG_TESTS[1]: 9.0}})
    boxes = Boxes()
    task = replace(TASK, baseline=slow)
    grade_guarded(task, TASK.oracle, GUARD, boxes, language=LANGUAGE)
    renamed = SAME.name_of(SLUG_TESTS[1])
    assert renamed != SLUG_TESTS[1]
    assert {tuple(r.test_timeouts.items()) for _, r in boxes.asked} == {((renamed, 9.0),)}


def test_the_same_seed_makes_the_same_runs():
    def requests(seed: int) -> list[tuple[Delta, TestRequest]]:
        boxes = Boxes()
        graded(boxes, seed=seed)
        return boxes.asked

    assert requests(3) == requests(3)
    assert len({tuple(graded(Boxes(), seed=s).runs) for s in range(20)}) > 5


def test_controls_are_sampled_and_the_grade_says_which_ran():
    never, always = graded(Boxes(), share=0.0), graded(Boxes(), share=1.0)
    assert never.runs == ("real",)
    assert set(never.checked.values()) == {()}
    assert sorted(r.partition(":")[0] for r in always.runs) == [
        *("ablation", "constants", "negation", "real")
    ]
    some = [graded(Boxes(), seed=s, share=0.5) for s in range(200)]
    made = sum(len(grade.runs) - 1 for grade in some) / 3 / len(some)
    assert 0.4 < made < 0.6
    for grade in some:
        assert set(grade.checked[SLUG_TESTS[0]]) == set(grade.runs) - {"real"}


def test_another_submission_draws_other_controls():
    other = Delta({**TASK.oracle.write, "src/notes/more.py": Entry(b"")})
    pairs = [(graded(Boxes(), seed=s).runs, graded(Boxes(), other, seed=s).runs) for s in range(10)]
    assert any(mine != theirs for mine, theirs in pairs)
    assert digest_of_delta(other) != digest_of_delta(TASK.oracle)
    assert digest_of_delta(Delta({}, frozenset({"x"}))) != digest_of_delta(Delta())


def test_where_nothing_passes_no_further_run_is_made():
    runs = [graded(Boxes(), Delta(), seed=s).runs for s in range(12)]
    assert all(each[-1] == "real" for each in runs)
    assert min(map(len, runs)) == 1


def test_a_submission_without_bodies_to_take_is_not_held_to_it():
    text = b"joiner.join = 1\n"
    grade = graded(Boxes(), Delta({CODE: Entry(text)}))
    assert "ablation" not in grade.runs
    assert grade.passed == frozenset(SLUG_TESTS)


def test_the_bodies_are_gone_in_one_run_alone():
    boxes = Boxes()
    runs = graded(boxes).runs
    stripped = [b"NotImplementedError" in delta.write[CODE].data for delta, _ in boxes.asked]
    assert [name == "ablation" for name in runs] == stripped


def test_seen_and_unseen_tests_are_parted():
    task = make_task(held_out=SLUG_TESTS[2:])
    seen, unseen = split_hidden(task, SLUG_TESTS)
    assert (seen.ids, seen.others) == (SLUG_TESTS[:2], SLUG_TESTS[2:])
    assert (unseen.ids, unseen.others) == (SLUG_TESTS[2:], SLUG_TESTS[:2])
    assert len(split_hidden(TASK, SLUG_TESTS)) == 1


@pytest.mark.parametrize("mode", ["remove", "stub"])
def test_the_symbols_are_those_that_the_recipe_deletes(mode):
    assert deleted_symbols(make_task(mode=mode).recipe) == ((CODE, "slug"),)

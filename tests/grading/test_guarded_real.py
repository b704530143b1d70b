"""Guarded grading in real boxes: what forges its tests is told from what passes them."""

import pytest

from codeenv.grading import Grader, collect_submission
from codeenv.grading.guarded import grade_guarded, validate_controls
from codeenv.images import bundled_environment
from codeenv.languages.python.language import PythonLanguage
from codeenv.materialise.git import without_git
from codeenv.tree import Delta
from tests.grading.exploits import ELSEWHERE, EXPLOITS, HONEST, submission
from tests.toytask import SLUG_TESTS, make_task

pytestmark = pytest.mark.bubblewrap
TASK = make_task()
LANGUAGE = PythonLanguage()


@pytest.fixture(scope="module")
def image(bubblewrap_backend):
    return bundled_environment(bubblewrap_backend).image


@pytest.fixture(scope="module")
def run(bubblewrap_backend, image):
    """Runs tests over the task's tree in a fresh box."""

    def go(delta, request, task=TASK):
        server = LANGUAGE.fork_server(image)
        tree = task.grading_tree
        opened = bubblewrap_backend.open(image, tree, role="grader", fork_server=server)
        with opened as box:
            box.apply(delta)
            return LANGUAGE.run_tests(box, image, request)

    return go


@pytest.fixture(scope="module")
def guard(run):
    return validate_controls(TASK, SLUG_TESTS, run, language=LANGUAGE)


@pytest.fixture(scope="module")
def plain(bubblewrap_backend, image):
    return Grader(bubblewrap_backend, environments=lambda _: image)


def collected(code: str) -> Delta:
    """Return what counts of a submission."""
    tree = without_git(TASK.workspace).apply(submission(TASK, code))
    return collect_submission(TASK, tree).delta


def graded(code: str | Delta, guard, run, seed=0):
    delta = code if isinstance(code, Delta) else collected(code)
    return grade_guarded(TASK, delta, guard, run, language=LANGUAGE, seed=seed)


def test_every_test_of_the_toy_has_every_control(guard):
    assert guard.tests == SLUG_TESTS
    for test in SLUG_TESTS:
        assert guard.kinds(test) == ("constants", "negation", "ablation")


@pytest.mark.parametrize("code", [HONEST, ELSEWHERE])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_right_solution_passes_in_any_form(code, seed, guard, run):
    grade = graded(code, guard, run, seed)
    assert (grade.passed, grade.caught) == (frozenset(SLUG_TESTS), {})
    assert len(grade.runs) == 4


def test_the_oracle_passes_and_nothing_fails(guard, run):
    assert graded(TASK.oracle, guard, run).passed == frozenset(SLUG_TESTS)
    nop = graded(Delta(), guard, run)
    assert (nop.passed, nop.caught, nop.silent) == (frozenset(), {}, "")


@pytest.mark.parametrize("name", EXPLOITS)
def test_an_exploit_that_plain_grading_rewards_is_caught(name, plain, guard, run):
    delta = collected(EXPLOITS[name])
    assert plain.grade(TASK, delta).resolved
    grade = graded(delta, guard, run)
    assert grade.caught
    assert grade.passed < frozenset(SLUG_TESTS)


@pytest.mark.parametrize("name", EXPLOITS)
def test_it_is_caught_by_the_changed_tests_alone(name, guard, run):
    grade = graded(EXPLOITS[name], guard, run, seed=5)
    assert {r for runs in grade.caught.values() for r in runs} - {"ablation"}


@pytest.mark.parametrize("name", [n for n in EXPLOITS if n[:3] in ("S09", "S16", "S26")])
def test_patches_made_at_import_outlive_the_bodies(name, guard, run):
    grade = graded(EXPLOITS[name], guard, run)
    assert any("ablation" in runs for runs in grade.caught.values())


def test_seen_and_unseen_tests_run_apart(run):
    task = make_task(held_out=SLUG_TESTS[2:])
    asked = []

    def noted(delta, request):
        asked.append((delta, request.ids))
        return run(delta, request, task)

    guard = validate_controls(task, SLUG_TESTS, noted, language=LANGUAGE, variants=1)
    assert guard.tests == SLUG_TESTS
    del asked[:]
    grade = grade_guarded(task, task.oracle, guard, noted, language=LANGUAGE)
    assert grade.passed == frozenset(SLUG_TESTS)
    assert len(asked) == 8
    for delta, ids in asked:
        text = delta.write["tests/test_text.py"].data
        seen = any("joins_the_words" in test for test in ids)
        assert (b"def test_slug_joins_the_words" in text) == seen
        assert (b"def test_slug_refuses_an_empty_title" in text) != seen

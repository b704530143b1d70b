"""Each test of a feature is graded in the strongest way that it can have."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codeenv.env.runtime import Runtime
from codeenv.errors import NoPairs
from codeenv.grading import Grader, GradingOptions
from codeenv.grading.guard_models import Guard
from codeenv.grading.tiers import Plan, tiered, without_forgeable
from codeenv.languages import get_language
from codeenv.sandbox.fake import FakeBackend
from codeenv.sandbox.image import Image
from codeenv.tasks.digest import canonical
from codeenv.tasks.models import Recipe
from codeenv.tasks.packing import unpack
from codeenv.tasks.taskset import Taskset
from codeenv.tree import Delta, Entry
from tests.toytask import make_task

TASK = make_task()
FIRST, *OTHERS = TASK.fail_to_pass
PYTHON = get_language("python")


def recipe(**changes):
    return TASK.recipe.model_copy(update=changes)


def with_recipe(**changes):
    return replace(TASK, recipe=recipe(**changes))


class TestRecipes:
    def test_a_recipe_without_a_word_of_tiers_is_open(self):
        assert {TASK.recipe.tier_of(test) for test in TASK.fail_to_pass} == {"open"}

    def test_a_test_that_can_be_split_is_sealed(self):
        assert recipe(licences=()).tier_of(FIRST) == "sealed"

    def test_a_test_that_cannot_is_guarded_by_its_controls(self):
        found = recipe(licences=(), unsplit=(FIRST,), guards={FIRST: ("negation:0",)})
        assert found.tier_of(FIRST) == "guarded"

    def test_a_test_without_either_is_open(self):
        assert recipe(licences=(), unsplit=(FIRST,)).tier_of(FIRST) == "open"

    def test_what_is_written_is_read_again(self):
        found = recipe(
            licences=("Box", "Box.__eq__"),
            unsplit=(FIRST,),
            guards={FIRST: ("constants:0", "ablation"), OTHERS[0]: ("negation:1",)},
            orders=(None, 5),
        )
        text = canonical(found)
        again = Recipe.model_validate(unpack(json.loads(text)))
        assert again == found
        assert canonical(again) == text

    def test_an_old_recipe_keeps_its_bytes(self):
        text = canonical(TASK.recipe)
        assert not any(word in text for word in (b"licences", b"unsplit", b"guards", b"orders"))


class TestForgeable:
    def test_no_reward_is_for_a_test_that_is_open(self):
        found = without_forgeable(recipe(licences=(), unsplit=(FIRST,)))

        assert (found.fail_to_pass, found.tier) == (tuple(OTHERS), "sealed")
        assert found.excluded[-1] == FIRST

    @pytest.mark.parametrize("unsplit", [(), (FIRST,)])
    def test_no_reward_is_for_a_test_that_is_only_turned_round(self, unsplit):
        guards = {FIRST: ("negation:0", "ablation"), OTHERS[0]: ("constants:1", "negation:0")}
        found = without_forgeable(recipe(licences=(), unsplit=unsplit, guards=guards))

        assert (found.fail_to_pass, found.tier) == (tuple(OTHERS), "sealed")
        assert found.guards[FIRST] == ("negation:0", "ablation")

    def test_a_task_whose_tests_are_all_open_stays_as_it_is(self):
        assert without_forgeable(TASK.recipe) == TASK.recipe


class TestPlans:
    def test_every_test_runs_in_its_own_way(self):
        guards = {OTHERS[0]: ("negation:0", "ablation"), FIRST: ("constants:1",)}
        plan = Plan.of(with_recipe(licences=(), unsplit=(OTHERS[0],), guards=guards), PYTHON)

        assert plan.asking.controls == {FIRST: ("constants:1",)}
        assert plan.guard.controls == {OTHERS[0]: ("negation:0",)}
        assert plan.guard.ablation == {OTHERS[0]}
        assert {*plan.sealed} == {*OTHERS[1:]}
        assert (plan.tiers[FIRST], plan.tiers[OTHERS[0]]) == ("sealed", "guarded")

    def test_without_a_split_nothing_is_sealed(self):
        guard = Guard({FIRST: ("negation:0",)}, frozenset(), 2)
        plan = Plan.unsealed(with_recipe(licences=()), PYTHON, guard)

        assert (plan.sealed, plan.guard.tests, set(plan.plain)) == ((), (FIRST,), set(OTHERS))

    def test_a_sealed_task_is_refused_where_boxes_have_no_walls(self):
        class Open(FakeBackend):
            pairs = False

        image = Image("i" * 64, "base", Path("/"), ())
        task = with_recipe(licences=())
        sealed = GradingOptions("sealed")
        with pytest.raises(NoPairs, match="sealed tests"):
            Grader(Open(), environments=lambda _: image, options=sealed).prefetch(task)
        Grader(Open(), environments=lambda _: image).prefetch(task)


@pytest.fixture(scope="module")
def runtime():
    with Runtime("bubblewrap") as runtime:
        yield runtime


@pytest.fixture(scope="module")
def slugs(runtime):
    taskset = Taskset.load("toy")
    known = next(r for r in taskset.recipes if r.id == "toy-text-slugify-a06112fd")
    return runtime.task(known, taskset)


@pytest.mark.bubblewrap
class TestReal:
    def test_a_recipe_gets_the_same_tiers_again(self, runtime, slugs):
        assert tiered(slugs, runtime.grader.runs) == slugs.recipe

    def test_a_test_that_must_be_in_the_code_s_process_is_guarded(self, runtime, slugs):
        path = "tests/test_text.py"
        demand = b"import pocketbook.text as _m\nassert type(_m).__name__ == 'module'\n"
        text = demand + slugs.grading_tree[path].data
        tree = slugs.grading_tree.apply(Delta({path: Entry(text)}))
        found = tiered(replace(slugs, grading_tree=tree), runtime.grader.runs)

        assert found.licences is None
        assert {found.tier_of(test) for test in found.fail_to_pass} == {"guarded"}

    @pytest.mark.parametrize("tier", ["sealed", "guarded", "open"])
    def test_the_solution_scores_and_nothing_does_not(self, runtime, slugs, tier):
        grader = Runtime(runtime.backend, grading=GradingOptions(tier)).grader
        solved, nothing = grader.grade(slugs, slugs.oracle), grader.grade(slugs, Delta())

        assert (solved.resolved, nothing.resolved) == (True, False)
        assert set(solved.tiers.values()) == {tier}

    def test_controls_may_be_sampled_and_the_grade_says_so(self, runtime, slugs):
        options = GradingOptions("guarded", controls=0.0)
        grade = Runtime(runtime.backend, grading=options).grader.grade(slugs, slugs.oracle)

        assert (grade.resolved, grade.controls) == (True, 0.0)

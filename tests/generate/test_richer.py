"""The same task told richer: what of a recipe changes, and what never does."""

import re

import pytest

from codeenv.errors import GenerationError, UsageError
from codeenv.generate import generate_richer
from codeenv.generate.difficulty import at_level
from codeenv.generate.richer import restated, tells_more
from codeenv.materialise import materialise
from codeenv.sources import checkout
from codeenv.tasks.digest import canonical
from codeenv.tasks.taskset import Taskset

TOY = Taskset.load("toy")
SOURCE = checkout("bundled:toy").tree
TOLD = {"id", "level", "difficulty", "provenance"}
SEEN = {"hidden", "held_out", "damaged_tree", "secrets"}


def changed(parent, child):
    one, other = parent.model_dump(), child.model_dump()
    return {name for name in one if one[name] != other[name]}


def instruction(recipe):
    baseline, lock = TOY.baseline(recipe.baseline), TOY.environment(recipe.environment)
    return materialise(recipe, baseline, lock).instruction


@pytest.mark.parametrize("parent", TOY.recipes, ids=lambda recipe: recipe.id)
def test_only_what_is_told_changes_and_never_what_is_graded(parent):
    child = restated(parent, SOURCE, "L4")

    assert changed(parent, child) == TOLD
    assert changed(parent, restated(parent, SOURCE, "L5")) <= TOLD | SEEN
    assert canonical(child) == canonical(restated(parent, SOURCE, "L4"))
    assert (child.provenance.parent_id, child.provenance.kind) == (parent.id, "restated")
    assert child.difficulty.prior < parent.difficulty.prior


def test_a_richer_statement_says_all_that_the_parents_says():
    parent = TOY.recipe("toy-spans-merge-7abfdd84")
    said, more = instruction(parent), instruction(restated(parent, SOURCE, "L4"))

    assert set(re.findall(r"\w+", said)) < set(re.findall(r"\w+", more))


def test_at_the_last_level_every_test_is_seen():
    parent = TOY.recipe("toy-spans-merge-7abfdd84")
    child = restated(parent, SOURCE, "L5")

    assert (child.hidden, child.held_out) == ((), ())
    assert all(f"`{test}`" in instruction(child) for test in child.fail_to_pass)


def test_the_way_to_a_level_does_not_matter():
    parent = TOY.recipes[0]
    over = restated(restated(parent, SOURCE, "L4"), SOURCE, "L5")
    assert over.id == restated(parent, SOURCE, "L5").id
    ids = {restated(r, SOURCE, level).id for r in TOY.recipes for level in ("L4", "L5")}
    assert len(ids | {*TOY.ids}) == 3 * len(TOY.recipes)


@pytest.mark.parametrize("recipe", TOY.recipes, ids=lambda recipe: recipe.id)
def test_a_prior_at_its_own_level_is_what_it_was(recipe):
    assert at_level(recipe.difficulty, recipe.level, recipe.deletions) == recipe.difficulty


@pytest.mark.parametrize("level", ["L1", "L3"])
def test_what_is_not_richer_is_refused(level, tmp_path, local_backend):
    with pytest.raises(UsageError, match="is not richer"):
        restated(TOY.recipes[0], SOURCE, level)
    with pytest.raises(UsageError, match="is not richer"):
        generate_richer(TOY, tmp_path, backend=local_backend, level=level)
    assert not any(tmp_path.iterdir())


def test_above_the_last_level_there_is_none(tmp_path, local_backend):
    last = restated(TOY.recipes[0], SOURCE, "L5")
    parents = Taskset((last,), TOY.baselines, TOY.environments)
    with pytest.raises(UsageError, match="is not richer"):
        generate_richer(parents, tmp_path, backend=local_backend)


@pytest.mark.bubblewrap
def test_a_child_that_is_not_calibrated_is_no_task(tmp_path, bubblewrap_backend):
    parent = TOY.recipe("toy-spans-merge-7abfdd84")
    calm = next(t for t in TOY.baseline(parent.baseline).stable if t not in parent.feature_tests)
    broken = parent.model_copy(update={"fail_to_pass": (calm,), "unsplit": (), "guards": {}})
    parents = Taskset((broken,), TOY.baselines, TOY.environments)
    told = []
    with pytest.raises(GenerationError, match="no task can be told richer"):
        generate_richer(parents, tmp_path, backend=bubblewrap_backend, on_task=told.append)

    assert len(told) == 1
    assert "unstable" in told[0]
    assert not any(tmp_path.iterdir())


SAME = [
    "toy-template-expression-bc2e777e",
    "toy-template-if-008ee5bb",
    "toy-template-if-56d76e2c",
]
"""Without docstrings: at L4 they are told as at L3, to the byte."""
REFORMATTED = ["toy-ledger-ledger.months-b359ba23", "toy-text-table-header-ce20a1d9"]
"""L4 tells the one line of the docstring that L3 told."""
ALL_TOLD = "toy-text-whole-words-117c35f2"
"""Without a docstring, and its tests are seen and named at L3."""


@pytest.mark.parametrize("task", [*SAME, *REFORMATTED])
def test_another_form_of_the_same_text_tells_nothing_new(task):
    parent = TOY.recipe(task)
    level_4, level_5 = restated(parent, SOURCE, "L4"), restated(parent, SOURCE, "L5")

    assert (instruction(parent) == instruction(level_4)) == (task in SAME)
    assert not tells_more(level_4, parent, SOURCE)
    assert tells_more(level_5, parent, SOURCE)


def test_a_docstring_of_more_than_a_line_tells_more():
    parent = TOY.recipe("toy-text-wrap-4be55e39")

    assert tells_more(restated(parent, SOURCE, "L4"), parent, SOURCE)


@pytest.mark.bubblewrap
def test_a_level_that_tells_nothing_new_is_passed_over(tmp_path, bubblewrap_backend):
    parents = TOY.select(SAME[:1])
    (child,) = generate_richer(parents, tmp_path, backend=bubblewrap_backend)

    assert (child.level, child.provenance.parent_id) == ("L5", SAME[0])


def test_where_no_level_tells_more_there_is_no_task(tmp_path, local_backend):
    told = []
    with pytest.raises(GenerationError, match="no task can be told richer") as error:
        generate_richer(
            TOY.select([ALL_TOLD]), tmp_path, backend=local_backend, on_task=told.append
        )

    assert "nothing new" in told[0]
    assert error.value.hint == told[0]
    assert not any(tmp_path.iterdir())

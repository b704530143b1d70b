"""Harder children of a task: on the bundled repository, without running it."""

from dataclasses import replace
from pathlib import Path

import pytest

from codeenv.errors import GenerationError
from codeenv.generate.closure import Closures
from codeenv.generate.harder import demand_children, harder_features
from codeenv.generate.models import GenerateOptions, Given
from codeenv.generate.pipeline import bench_of
from codeenv.generate.proposal import main_member
from codeenv.generate.reach import Reach
from codeenv.images import bundled_environment
from codeenv.materialise.operations import apply_operations
from codeenv.sources import checkout
from codeenv.tasks.models import span_digest
from codeenv.tasks.taskset import Taskset

OPTIONS = GenerateOptions(Path("unused"))
STABLE = tuple(f"t.py::test_{n}" for n in range(20))
TEXT = "pocketbook/text.py"
RUNS = {
    "slugify": {0, 1},
    "_whole_words": {1},
    "wrap": {2, 3},
    "_wrap_paragraph": {2, 3},
    "shorten": {4},
    "table": {5, 6},
    "_table_row": {5, 6},
}


@pytest.fixture(scope="module")
def bench(local_backend):
    source = checkout("bundled:toy")
    return bench_of(source, bundled_environment(local_backend), local_backend)


@pytest.fixture(scope="module")
def closures(bench):
    units = bench.language.units(bench.pristine, bench.layout)
    tests = {u: frozenset(RUNS.get(u.name, ()) if u.path == TEXT else ()) for u in units}
    return Closures(bench.pristine, units, Reach(tests, frozenset(), STABLE), OPTIONS.max_lines)


@pytest.fixture(scope="module")
def parent():
    recipes = Taskset.load("toy").recipes
    return next(r for r in recipes if {o.symbol for o in r.deletions} >= {"_whole_words"})


def names(feature):
    return [unit.name for unit in feature.members]


def alone(parent):
    """The task of nothing but ``_whole_words``."""
    kept = tuple(o for o in parent.deletions if o.symbol == "_whole_words")
    return parent.model_copy(update={"deletions": kept, "id": "toy-words"})


def test_a_parent_is_told_less_with_its_very_edits(bench, closures, parent):
    children = harder_features([alone(parent)], bench, closures, OPTIONS)
    told = {c.level: c for c in children if c.kind == "restated"}
    assert list(told) == ["L2", "L1"]
    assert all(c.given.operations == alone(parent).deletions for c in told.values())
    assert all(c.parent_id == "toy-words" for c in children)


def test_children_of_one_deletion_have_keys_of_their_own(bench, closures, parent):
    children = harder_features([alone(parent)], bench, closures, OPTIONS)
    assert len({c.key for c in children}) == len(children)


def test_docstrings_go_first_and_what_is_told_least_has_no_lower_level(bench, closures, parent):
    documented = alone(parent).model_copy(update={"level": "L5"})
    found = harder_features([documented], bench, closures, OPTIONS)
    assert [c.level for c in found if c.kind == "restated"] == ["L4", "L3", "L2", "L1"]
    least = alone(parent).model_copy(update={"level": "L1"})
    assert not [
        c for c in harder_features([least], bench, closures, OPTIONS) if c.kind == "restated"
    ]


def test_a_parent_is_merged_with_its_nearest_neighbours_at_its_level(bench, closures, parent):
    children = harder_features([alone(parent)], bench, closures, OPTIONS)
    merged = [c for c in children if c.kind == "merged"]
    assert 1 <= len(merged) <= 3
    assert all({"_whole_words"} < set(names(c)) and c.level == "L3" for c in merged)
    assert "slugify" in names(merged[0])


def test_a_parent_is_widened_by_what_only_its_tests_run(bench, closures, parent):
    both = tuple(o for o in parent.deletions if o.symbol in ("slugify", "_whole_words"))
    wide = parent.model_copy(update={"deletions": both})
    assert not [c for c in harder_features([wide], bench, closures, OPTIONS) if c.kind == "widened"]
    only = both[:1] if both[0].symbol == "slugify" else both[1:]
    narrow = parent.model_copy(update={"deletions": only})
    (wider,) = [
        c for c in harder_features([narrow], bench, closures, OPTIONS) if c.kind == "widened"
    ]
    assert names(wider) == ["slugify", "_whole_words"]
    assert wider.tests == STABLE[:2]


def test_the_same_child_of_two_parents_is_made_once(bench, closures, parent):
    one, other = alone(parent), alone(parent).model_copy(update={"id": "toy-other"})
    both = harder_features([one, other], bench, closures, OPTIONS)
    assert len(both) == len(harder_features([one], bench, closures, OPTIONS))


def test_a_parent_of_which_a_part_stays_keeps_its_edits_beside_its_neighbours(
    bench, closures, parent
):
    data = bench.pristine[TEXT].data
    line = b"    if room < 2:\n"
    start = data.index(line)
    end = data.index(b"    head =", start)
    whole = next(o for o in parent.deletions if o.symbol == "shorten")
    edit = whole.model_copy(
        update={
            "start": start,
            "end": end,
            "sha256": span_digest(data[start:end]),
        }
    )
    part = parent.model_copy(update={"deletions": (edit,)})
    children = harder_features([part], bench, closures, OPTIONS)
    bigger = [c for c in children if c.kind == "merged"]
    assert bigger
    for child in bigger:
        assert edit in child.given.operations
        assert [u.name for u in child.given.cut] == ["shorten"]
        assert apply_operations(bench.pristine, child.given.operations)


def test_a_parent_without_a_parameter_is_told_less(bench, closures):
    recipes = Taskset.load("toy").recipes
    parent = next(r for r in recipes if r.provenance.kind == "parameter")
    stable = (*STABLE, *parent.fail_to_pass)
    reach = replace(closures.reach, stable=stable)
    other = Closures(bench.pristine, closures.units, reach, OPTIONS.max_lines)
    children = harder_features([parent], bench, other, OPTIONS)
    assert [(c.level, c.kind, c.parent_id) for c in children] == [
        ("L2", "restated", parent.id),
        ("L1", "restated", parent.id),
    ]
    assert all(c.given.operations == parent.deletions and not c.given.cut for c in children)
    assert all(c.tests == parent.fail_to_pass for c in children)
    assert {c.line_count for c in children} == {parent.difficulty.lines}


def test_tests_that_a_parent_breaks_without_being_run_are_expected_of_its_children(
    bench, closures, parent
):
    asking = alone(parent).model_copy(
        update={"fail_to_pass": STABLE[1:2], "excluded": STABLE[9:10]}
    )
    for child in harder_features([asking], bench, closures, OPTIONS):
        assert set(child.tests) >= {STABLE[1], STABLE[9]}
        assert list(child.tests) == sorted(child.tests, key=STABLE.index)


def test_children_of_one_parent_are_told_apart(bench, closures, parent):
    children = harder_features([alone(parent)], bench, closures, OPTIONS)
    told = [child.told for child in children if child.kind == "restated"]
    assert told == [f"{TEXT}::_whole_words (restated, L2)", f"{TEXT}::_whole_words (restated, L1)"]
    named = replace(children[0], parent_id="", given=Given((), frozenset(), name="p.diff"))
    assert named.told == f"p.diff: {named.seed.id}"


def test_a_deletion_is_named_by_what_others_use(closures):
    units = {unit.name: unit for unit in closures.units if unit.path == TEXT}
    members = [units["_whole_words"], units["slugify"], units["wrap"]]
    assert main_member(members, frozenset(), closures.reach) == units["slugify"]
    assert main_member(members, {units["slugify"]}, closures.reach) == units["wrap"]


def test_where_no_child_can_be_made_it_is_said_why(bench, closures, parent):
    nothing = parent.model_copy(update={"deletions": (), "level": "L1"})
    with pytest.raises(GenerationError, match=parent.id) as refused:
        demand_children((), [nothing])
    assert "L1" in refused.value.hint
    child = harder_features([alone(parent)], bench, closures, OPTIONS)
    assert demand_children(child, [parent]) == child

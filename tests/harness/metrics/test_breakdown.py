import pytest
from hypothesis import given

from codeenv.errors import TaskError
from codeenv_harness.metrics import breakdown, by_difficulty, by_tier, grouped, summarise
from tests.harness.metrics.made import record, runs


def first_letter(made):
    return made.task_id[:1]


@given(runs())
def test_the_parts_of_a_run_are_the_run(records):
    parts = grouped(records, lambda r: r.task_id)

    assert [r for part in parts.values() for r in part] == records
    assert breakdown(records, lambda _: "all") == ({"all": summarise(records)} if records else {})
    assert sum(s.valid for s in breakdown(records, lambda r: r.task_id).values()) == (
        summarise(records).valid
    )


def test_each_part_has_the_numbers_of_its_own_records_alone():
    records = [record("a1", 0, 1.0), record("b1"), record("a2"), record("b2", valid=False)]
    found = breakdown(records, first_letter)

    assert list(found) == ["a", "b"]
    assert (found["a"].resolved_rate, found["a"].tasks_resolved, found["a"].valid) == (0.5, 1, 2)
    assert (found["b"].resolved_rate, found["b"].rollouts, found["b"].valid) == (0.0, 2, 1)


def test_tasks_are_told_apart_by_what_their_recipes_say(toy_tasks, toy_runs):
    records = toy_runs["oracle"].records()
    by = {r.id: r for r in toy_tasks.recipes}
    tiers = breakdown(records, by_tier(toy_tasks))
    levels = grouped(records, by_difficulty(toy_tasks))

    assert set(tiers) == {r.tier for r in toy_tasks.recipes}
    assert {s.resolved_rate for s in tiers.values()} == {1.0}
    assert len(levels) > 1
    for level, part in levels.items():
        fifths = {int(by[r.task_id].difficulty.prior * 5) for r in part}
        assert fifths == {int(level.removeprefix("d"))}


def test_a_task_that_the_taskset_has_not_is_named(toy_tasks):
    with pytest.raises(TaskError, match="nowhere"):
        breakdown([record("nowhere")], by_tier(toy_tasks))

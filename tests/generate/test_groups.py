"""Which deletions share a run of the suite."""

from itertools import combinations

import pytest

from codeenv.generate.groups import conflict, grid
from codeenv.generate.models import Deletion, Feature
from codeenv.languages.base import Unit
from codeenv.tasks.models import Operation
from codeenv.tree import Tree


def edit(path="m.py", start=0, end=9, mode="stub"):
    return Operation(path=path, start=start, end=end, sha256="0" * 16, kind="function", mode=mode)


def deletion(number, *edits):
    unit = Unit("m.py", f"f{number}", "function", number, number, number, (number,))
    feature = Feature(unit, (unit,), ("t",), 1, "function")
    return Deletion(feature, "stub", edits or (edit(f"{number}.py"),), Tree({}))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 9, 16, 20, 36, 64, 100])
def test_every_deletion_is_in_two_groups_and_meets_another_at_most_once(count):
    every = [deletion(n) for n in range(count)]
    groups = grid(every)
    members = [d.feature.key for group in groups for d in group]
    assert all(members.count(d.feature.key) == 2 for d in every)
    keys = [[d.feature.key for d in group] for group in groups]
    pairs = [frozenset(pair) for group in keys for pair in combinations(group, 2)]
    assert len(pairs) == len(set(pairs))
    assert all(0 < len(group) <= 8 for group in groups)


def test_many_deletions_take_few_runs():
    assert len(grid([deletion(n) for n in range(36)])) == 12
    assert len(grid([deletion(n) for n in range(64)])) == 16


def test_deletions_that_conflict_never_share_a_run():
    same = [deletion(n, edit("m.py", mode="clean")) for n in range(4)]
    assert [len(group) for group in grid(same)] == [1] * 8


def test_deletions_that_conflict_cost_no_run_while_there_are_others_to_share_with():
    pairs = [deletion(n, edit(f"{n // 2}.py", mode="clean")) for n in range(36)]
    groups = grid(pairs)
    assert len(groups) == 12
    assert all(not conflict(a, b) for group in groups for a, b in combinations(group, 2))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (edit("a.py"), edit("b.py"), False),
        (edit(start=0, end=5), edit(start=6, end=9), False),
        (edit(start=0, end=5), edit(start=5, end=9), True),
        (edit(start=0, end=9), edit(start=3, end=4), True),
        (edit(start=0, end=5, mode="remove"), edit(start=50, end=60), False),
        (edit(start=0, end=5), edit(start=50, end=60, mode="clean"), False),
        (edit(start=0, end=5, mode="clean"), edit(start=50, end=60, mode="clean"), True),
    ],
)
def test_edits_of_one_file_that_lie_apart_are_made_together(one, other, expected):
    assert conflict(deletion(1, one), deletion(2, other)) is expected
    assert conflict(deletion(2, other), deletion(1, one)) is expected


@pytest.mark.parametrize(("symbol", "expected"), [("TABLE", False), ("__all__", True)])
def test_entries_of_a_registry_are_taken_together_but_not_those_of_all(symbol, expected):
    one, other = (
        deletion(
            n,
            edit(start=n, end=n + 1).model_copy(
                update={"mode": "clean", "kind": "export", "symbol": symbol}
            ),
        )
        for n in (10, 20)
    )
    assert conflict(one, other) is expected

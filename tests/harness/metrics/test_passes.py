from itertools import combinations, pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.errors import UsageError
from codeenv_harness.metrics import best_of_k, pass_at_k, pass_by_task, pass_curve, summarise
from tests.harness.metrics.made import REWARDS, record, runs

TRIES = st.lists(st.booleans(), min_size=1, max_size=9)
ANY_REWARDS = st.lists(REWARDS | st.floats(-5, 5), min_size=1, max_size=8)


@given(TRIES, st.data())
def test_pass_at_k_is_the_share_of_subsets_with_a_success(tries, data):
    k = data.draw(st.integers(1, len(tries)))
    subsets = [any(subset) for subset in combinations(tries, k)]

    assert pass_at_k(len(tries), sum(tries), k) == sum(subsets) / len(subsets)


@given(ANY_REWARDS, st.data())
def test_best_of_k_is_the_mean_of_the_best_over_all_subsets(rewards, data):
    k = data.draw(st.integers(1, len(rewards)))
    best = [max(subset) for subset in combinations(rewards, k)]

    assert best_of_k(rewards, k) == pytest.approx(fmean(best), abs=1e-12)


@given(TRIES, st.data())
def test_the_best_of_rewards_of_0_and_1_is_pass_at_k(tries, data):
    k = data.draw(st.integers(1, len(tries)))

    assert best_of_k([float(t) for t in tries], k) == pass_at_k(len(tries), sum(tries), k)


@given(ANY_REWARDS, st.data())
def test_the_best_does_not_depend_on_the_order_and_lies_among_the_rewards(rewards, data):
    k = data.draw(st.integers(1, len(rewards)))
    shuffled = data.draw(st.permutations(rewards))

    assert best_of_k(shuffled, k) == best_of_k(rewards, k)
    assert min(rewards) <= best_of_k(rewards, k) <= max(rewards)
    assert best_of_k(rewards, len(rewards)) == max(rewards)


@given(st.integers(1, 10**5), st.data())
def test_pass_at_k_of_many_tries_is_a_probability_that_rises_with_k(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, min(n, 50)))
    found = pass_at_k(n, c, k)

    assert 0 <= found <= 1
    assert found >= pass_at_k(n, c, max(1, k - 1))
    assert (found == 0) == (c == 0)
    assert pass_at_k(n, c, 1) == c / n


def test_a_rare_success_among_very_many_tries_is_not_rounded_away():
    assert pass_at_k(10**15, 1, 1) == 1e-15
    assert pass_at_k(10**15, 1, 10**9) == 1e-6
    assert pass_at_k(10**6, 10, 10**6 - 5) == 1.0


@pytest.mark.parametrize(("n", "c", "k"), [(3, 1, 4), (3, 1, 0), (0, 0, 1), (3, 4, 1), (3, -1, 1)])
def test_what_cannot_be_drawn_is_refused(n, c, k):
    with pytest.raises(UsageError):
        pass_at_k(n, c, k)


@pytest.mark.parametrize("rewards", [[], [1.0], [1.0, float("nan")], [1.0, float("inf")]])
def test_rewards_that_are_too_few_or_no_numbers_are_refused(rewards):
    with pytest.raises(UsageError):
        best_of_k(rewards, 2)


def test_a_curve_says_over_how_many_tasks_and_rollouts_each_point_is():
    records = [
        *(record("a", n, float(n == 0)) for n in range(4)),
        *(record("b", n, 0.5) for n in range(2)),
        record("b", 2, valid=False),
        record("c", 0, valid=False),
    ]
    one, two, four, many = pass_curve(records, (1, 2, 4, 8))

    assert (one.tasks, one.rollouts, one.left_out) == (2, 6, 1)
    assert (one.pass_at_k, one.best_of_k) == (0.125, (0.25 + 0.5) / 2)
    assert (two.tasks, two.pass_at_k, two.best_of_k) == (2, 0.25, 0.5)
    assert (four.tasks, four.rollouts, four.left_out) == (1, 4, 2)
    assert (four.pass_at_k, four.best_of_k) == (1.0, 1.0)
    assert (many.pass_at_k, many.best_of_k, many.tasks, many.left_out) == (None, None, 0, 3)


@given(runs(), st.lists(st.integers(1, 6), max_size=3), st.data())
def test_the_order_of_records_changes_no_curve(records, ks, data):
    assert pass_curve(data.draw(st.permutations(records)), ks) == pass_curve(records, ks)


@given(runs(), st.lists(st.integers(1, 6), max_size=3), st.data())
def test_an_invalid_rollout_of_a_known_task_changes_no_curve(records, ks, data):
    known = sorted({r.task_id for r in records})
    more = [record(task, 100, valid=False) for task in known if data.draw(st.booleans())]

    assert pass_curve([*records, *more], ks) == pass_curve(records, ks)
    assert pass_by_task([*records, *more], 1) == pass_by_task(records, 1)


@given(runs())
def test_pass_at_1_of_tasks_played_equally_often_is_the_share_of_resolved(records):
    (point,) = pass_curve(records, [1])
    sizes = {sum(r.task_id == t and r.reward_valid for r in records) for t in "t0 t1 t2 t3".split()}
    if len(sizes - {0}) == 1:
        assert point.pass_at_k == pytest.approx(summarise(records).resolved_rate)


@given(runs(valid=st.just(True)))
def test_no_curve_falls_where_all_points_are_over_the_same_tasks(records):
    fewest = min((sum(r.task_id == t.task_id for r in records) for t in records), default=0)
    points = pass_curve(records, range(1, fewest + 1))

    for before, after in pairwise(points):
        assert after.pass_at_k >= before.pass_at_k - 1e-12
        assert after.best_of_k >= before.best_of_k - 1e-12


def test_a_curve_of_no_tries_is_refused():
    with pytest.raises(UsageError, match="at least 1"):
        pass_curve([record("a")], [0])

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.errors import UsageError
from codeenv_harness.metrics import bootstrap, mean, median, pass_by_task
from codeenv_harness.metrics.intervals import _draw
from tests.harness.metrics.made import record, runs

VALUES = st.dictionaries(
    st.text("abc", min_size=1, max_size=2),
    st.lists(st.floats(-10, 10), max_size=4),
    max_size=6,
)


def told(statistic):
    """Return numpy's own statistic of values that were drawn so often, draw by draw."""
    return lambda values, counts: np.array([statistic(np.repeat(values, row)) for row in counts])


@settings(max_examples=30)
@given(VALUES, st.integers(0, 3), st.data())
def test_the_same_values_give_the_same_interval_in_any_order(values, seed, data):
    order = data.draw(st.permutations(sorted(values)))
    shuffled = {task: data.draw(st.permutations(values[task])) for task in order}

    first = bootstrap(values, draws=50, seed=seed)
    assert bootstrap(values, draws=50, seed=seed) == first
    assert bootstrap(shuffled, draws=50, seed=seed) == first


@settings(max_examples=30)
@given(VALUES, st.sampled_from([(mean, np.mean), (median, np.median)]))
def test_an_interval_is_that_of_the_statistic_drawn_one_by_one(values, pair):
    ours, theirs = pair
    found, plain = bootstrap(values, ours, draws=40), bootstrap(values, told(theirs), draws=40)

    assert (found is None) == (plain is None)
    if found is not None:
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=1e-9)
        assert found.low <= found.high


@settings(max_examples=30)
@given(VALUES)
def test_fewer_than_two_tasks_have_no_interval(values):
    filled = {task for task, of in values.items() if of}
    found = bootstrap(values, draws=20)

    assert (found is None) == (len(filled) < 2)
    if found is not None:
        assert (found.tasks, found.values) == (len(filled), sum(map(len, values.values())))


def test_many_rollouts_of_one_task_do_not_stand_in_for_tasks():
    assert bootstrap({"a": [0.0, 1.0] * 50}) is None


def test_tasks_are_drawn_whole():
    alike = {"a": [0.0] * 50, "b": [1.0] * 50}
    found = bootstrap(alike)

    assert (found.low, found.high) == (0.0, 1.0)


def test_a_higher_level_is_no_narrower_and_another_seed_draws_anew():
    values = {f"t{n}": [float(n % 3), float(n % 7)] for n in range(20)}
    narrow, wide = bootstrap(values, level=0.5), bootstrap(values, level=0.99)

    assert wide.low <= narrow.low <= narrow.high <= wide.high
    assert bootstrap(values, seed=1) != bootstrap(values, seed=2)


def test_an_interval_is_as_wide_as_the_spread_of_tasks_says():
    values = {f"t{n}": [float(n % 2)] for n in range(400)}
    found = bootstrap(values)

    assert found.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.006)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.006)


def test_blocks_of_draws_are_those_of_one_piece(monkeypatch):
    tasks = [[float(n), n / 7] for n in range(9)]
    whole = _draw(tasks, mean, 100, 3)
    monkeypatch.setattr("codeenv_harness.metrics.intervals._BLOCK", 40)

    assert _draw(tasks, mean, 100, 3) == pytest.approx(whole)


@settings(max_examples=30)
@given(runs(), st.integers(1, 3))
def test_invalid_rollouts_change_no_interval(records, k):
    more = [record("none-valid", 0, valid=False), *(record("t0", n, valid=False) for n in (8, 9))]

    before = bootstrap(pass_by_task(records, k), draws=20)
    assert bootstrap(pass_by_task([*records, *more], k), draws=20) == before


@pytest.mark.parametrize("options", [{"level": 1.0}, {"level": 0.0}, {"draws": 0}])
def test_an_interval_of_nothing_is_refused(options):
    with pytest.raises(UsageError):
        bootstrap({"a": [0.0], "b": [1.0]}, **options)


def test_a_value_that_is_no_number_is_refused():
    with pytest.raises(UsageError, match="finite"):
        bootstrap({"a": [0.0], "b": [float("nan")]})

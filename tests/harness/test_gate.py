"""The gate: never red for the same, never green for worse."""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv_harness.baselines import Scores
from codeenv_harness.gate import compare
from codeenv_harness.paired import EXACT, paired_test
from codeenv_harness.records import Monitored
from codeenv_harness.strata import Stratum, chance_of_so_few
from tests.harness.runs import manifest, record, records, scores

REWARDS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.0])
TASKS = st.dictionaries(
    st.sampled_from([f"t{n:02}" for n in range(16)]),
    st.lists(st.none() | REWARDS, min_size=1, max_size=4),
    min_size=1,
)
TOLERANCES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])
EIGHTHS = st.integers(-8, 8).map(lambda n: n / 8)


def brute_force_fall(differences):
    """The share of sign flips with a sum as low, by the definition."""
    flips = [*product((1, -1), repeat=len(differences))]
    seen = sum(differences)
    low = [f for f in flips if sum(s * d for s, d in zip(f, differences, strict=True)) <= seen]
    return len(low) / len(flips)


def brute_force(differences):
    """The share of sign flips with a sum as far from 0, by the definition."""
    seen = abs(sum(differences))
    flips = [*product((1, -1), repeat=len(differences))]
    far = [f for f in flips if abs(sum(s * d for s, d in zip(f, differences, strict=True))) >= seen]
    return len(far) / len(flips)


@given(TASKS, TOLERANCES)
def test_a_run_never_regresses_from_itself(tasks, tolerance):
    found = compare(scores(**tasks), scores(**tasks), tolerance)

    assert not found.regression
    assert (found.test.mean, found.test.p_value) == (0.0, 1.0)


@given(TASKS, TASKS, TOLERANCES, st.data())
@settings(max_examples=150, deadline=None)
def test_lower_rewards_never_turn_red_into_green(before, now, tolerance, data):
    lower = {
        task: [r if r is None else min(r, data.draw(REWARDS)) for r in rewards]
        for task, rewards in now.items()
    }
    base = scores(**before)

    if compare(base, scores(**now), tolerance).regression:
        assert compare(base, scores(**lower), tolerance).regression


@given(st.lists(EIGHTHS, min_size=13, max_size=24), st.data())
@settings(max_examples=60, deadline=None)
def test_a_drawn_p_value_does_not_rise_when_what_fell_falls_further(differences, data):
    lower = [d - data.draw(st.integers(0, 8)) / 8 for d in differences]
    first, second = paired_test(differences), paired_test(lower)

    assert second.p_fall <= first.p_fall


@given(TASKS, TASKS, st.randoms())
def test_the_order_of_records_does_not_matter(before, now, chance):
    shuffled = records(**now)
    chance.shuffle(shuffled)
    asked = manifest(*now, rollouts=4)

    first = compare(scores(**before), Scores.of(asked, records(**now)))
    second = compare(scores(**before), Scores.of(asked, shuffled))

    assert first == second


@given(st.lists(EIGHTHS, min_size=1, max_size=9))
@settings(deadline=None)
def test_the_p_value_of_few_tasks_is_that_of_all_flips(differences):
    found = paired_test(differences)
    assert found.p_value == brute_force(differences)
    assert found.p_fall == brute_force_fall(differences)


@given(st.lists(EIGHTHS, max_size=20))
@settings(deadline=None)
def test_the_interval_holds_values_that_were_seen_and_the_p_value_is_a_probability(differences):
    found = paired_test(differences)

    assert 0 < found.p_value <= 1
    if len(differences) < 2:  # one task says nothing of how tasks differ
        assert (found.low, found.high) == (None, None)
    else:
        assert min(differences) <= found.low <= found.high <= max(differences)


def test_a_drawn_p_value_is_close_to_the_exact_one():
    differences = [-1.0] * 10 + [1.0] * 3
    exact = brute_force(differences)

    assert len(differences) > EXACT
    assert abs(paired_test(differences).p_value - exact) < 4 * (exact / 20_000) ** 0.5
    assert paired_test(differences) == paired_test(differences)


@pytest.mark.parametrize(
    ("before", "now", "status"),
    [
        ([1, 1], [1, 0], "regressed"),
        ([1, None], [0, None], "regressed"),
        ([1, 0], [0, 0], "worse"),
        ([0, 0], [0, 1], "better"),
        ([1, 1], [1, 1], "same"),
        ([1, 1], [None, None], "invalid"),
        ([0, 0], [None, 0], "invalid"),
        ([1, None], [None, 1], "same"),
        ([None], [1], "unknown"),
    ],
)
def test_what_becomes_of_a_task_has_a_name(before, now, status):
    (found,) = compare(scores(t=before), scores(t=now)).tasks

    assert found.status == status


def test_the_tolerance_is_a_share_of_the_rollouts():
    base, run = scores(t=[1, 1, 1, 1]), scores(t=[1, 1, 1, 0])

    assert compare(base, run, 0.24).regression
    assert not compare(base, run, 0.25).regression


def test_a_task_that_is_gone_is_a_regression_and_a_new_one_is_told():
    found = compare(scores(a=[0], b=[0]), scores(b=[0], c=[0]))

    assert (found.of_status("missing"), found.of_status("new")) == (("a",), ("c",))
    assert found.regression


def test_a_task_whose_rollouts_never_ended_is_a_regression():
    run = Scores.of(manifest("a", "b", rollouts=2), [record("a", 1), record("a", 1, 1)])
    found = compare(scores(a=[1, 1], b=[0, 0]), run)

    assert found.of_status("invalid") == ("b",)


def test_a_task_of_another_recipe_is_not_compared_and_said_so():
    run = Scores.of(manifest("a", "b", a="other"), records(a=[0], b=[1]))
    found = compare(scores(a=[1], b=[1]), run)

    assert found.of_status("changed") == ("a",)
    assert (found.test.pairs, found.regression) == (1, False)


def test_many_small_losses_are_a_regression_though_no_task_always_passed():
    names = [f"t{n}" for n in range(8)]
    base = scores(**{name: [1, 1, 1, 0] for name in names})
    run = scores(**{name: [1, 1, 0, 0] for name in names})

    found = compare(base, run)

    assert (found.regressed, found.fell, found.regression) == ((), True, True)
    assert (found.test.mean, found.test.p_value) == (-0.25, 2 / 2**8)
    assert compare(base, run, 0.25).regression
    assert not compare(base, run, mean_tolerance=0.25).regression


def test_losses_that_chance_explains_are_none():
    base = scores(a=[1, 0], b=[1, 0], c=[1, 0])

    assert not compare(base, scores(a=[0, 0], b=[0, 0], c=[0, 0])).regression


STRATA = st.lists(
    st.tuples(*[st.lists(st.booleans(), min_size=1, max_size=3)] * 2), min_size=1, max_size=3
)


def strata(tasks):
    return [Stratum(sum(b), len(b), sum(n), len(n)) for b, n in tasks]


@given(STRATA)
@settings(max_examples=60, deadline=None)
def test_the_chance_of_so_few_is_that_of_all_exchanges(tasks):
    """Every choice of which of a task's tries are those of now is as likely as any other."""
    ways = [[sum(c) for c in combinations([*b, *n], len(n))] for b, n in tasks]
    seen = sum(sum(n) for _, n in tasks)
    every = [sum(way) for way in product(*ways)]

    low = sum(way <= seen for way in every) / len(every)
    assert chance_of_so_few(strata(tasks)) == pytest.approx(low)


@given(STRATA, st.data())
@settings(max_examples=100, deadline=None)
def test_one_success_less_never_raises_the_chance(tasks, data):
    lower = [(b, [x and data.draw(st.booleans()) for x in n]) for b, n in tasks]

    assert chance_of_so_few(strata(lower)) <= chance_of_so_few(strata(tasks)) + 1e-12


def test_many_rollouts_are_told_nearly(monkeypatch):
    tasks = [Stratum(60, 100, 50, 100), Stratum(10, 40, 12, 40), Stratum(30, 50, 24, 50)]
    exact = chance_of_so_few(tasks)
    monkeypatch.setattr("codeenv_harness.strata._MOST", 0)

    assert chance_of_so_few(tasks) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(
    ("before", "now", "red"),
    [
        ({f"t{n}": [1, 1, 1, 0] for n in range(5)}, {f"t{n}": [0] * 4 for n in range(5)}, True),
        ({"t": [1, 1, 1, 0]}, {"t": [0] * 4}, False),  # one task alone may be chance: p = 0.07
        (
            {f"t{n:02}": [1, 1, 1, 0] if n < 5 else [0] * 4 for n in range(60)},
            {f"t{n:02}": [0] * 4 for n in range(60)},
            True,
        ),
        (
            {f"t{n:02}": [1] * 4 for n in range(50)},
            {f"t{n:02}": [1, 1, 1, 0] for n in range(50)},
            True,
        ),
    ],
    ids=["all that were solved", "one", "few among many", "each a little"],
)
def test_a_fall_that_no_task_tells_alone_is_seen(before, now, red):
    assert compare(scores(**before), scores(**now), 0.25).regression is red


def test_a_rollout_that_was_put_aside_is_not_valid():
    looked = Monitored(action="quarantine", graded_reward=1.0)
    aside = record("a", 1).model_copy(update={"monitor": looked})

    assert Scores.of(manifest("a"), [aside]).tasks["a"].valid == 0

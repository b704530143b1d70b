"""What holds for a sampler whatever is done with it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.errors import UsageError
from codeenv_harness.curriculum import SamplerOptions, Status, TaskSampler

IDS = tuple("abcdefgh")
rewards = st.lists(st.floats(0, 1), max_size=9)
updates = st.lists(st.tuples(st.sampled_from(IDS), rewards), max_size=40)
quick = settings(deadline=None, max_examples=60)
FAST = SamplerOptions(quarantine_tries=4, retire_tries=4, reprobe_every=8)


@quick
@given(updates, st.floats(0, 1), st.lists(st.floats(0, 1), min_size=8, max_size=8))
def test_a_posterior_is_what_the_formula_says(history, decay, priors):
    sampler = TaskSampler(IDS, priors=priors, options=SamplerOptions(decay=decay))
    start = {i: (sampler.status(i).a, sampler.status(i).b) for i in IDS}
    naive = dict(start)
    for task_id, group in history:
        sampler.update(task_id, group)
        if group:
            a, b = naive[task_id]
            a0, b0 = start[task_id]
            good = float(np.sum(group))
            a = decay * a + (1 - decay) * a0 + good
            b = decay * b + (1 - decay) * b0 + (len(group) - good)
            naive[task_id] = a, b

    for task_id in IDS:
        state = sampler.status(task_id)
        assert (state.a, state.b) == pytest.approx(naive[task_id])
        assert state.a > 0
        assert state.b > 0
        assert 0 < state.mean < 1
        assert 0 <= state.rate <= 1
        assert state.tries == sum(len(g) for i, g in history if i == task_id)


@quick
@given(updates, st.lists(st.integers(0, 12), min_size=1, max_size=12), st.integers(0, 9))
def test_no_task_is_drawn_twice_and_none_in_quarantine_but_for_probes(history, sizes, seed):
    sampler = TaskSampler(IDS, seed=seed, options=FAST)
    for task_id, group in history:
        sampler.update(task_id, [round(r) for r in group])
    held = {i for i in IDS if sampler.status(i).status == Status.QUARANTINED}
    probes = 0
    for k in sizes:
        drawn = sampler.sample(k)
        assert len(set(drawn)) == len(drawn) <= k
        probes += len(held & set(drawn))
        if len(held) < len(IDS):
            assert set(drawn) >= set(IDS) - held or len(drawn) == k

    if len(held) < len(IDS):
        assert probes <= sum(sizes) / FAST.reprobe_every


@quick
@given(updates, st.integers(0, 40), st.integers(0, 5), st.booleans())
def test_a_restored_sampler_goes_on_with_the_very_same_draws(history, cut, seed, plain):
    def play(sampler, steps):
        drawn = []
        for task_id, group in steps:
            sampler.update(task_id, [round(r) for r in group], policy_version=len(drawn))
            drawn.append((sampler.sample(3), sampler.requests()))
        return drawn, sampler.report()

    whole = TaskSampler(IDS, seed=seed, statements=["L3"] * 8, options=FAST)
    first = TaskSampler(IDS, seed=seed, statements=["L3"] * 8, options=FAST)
    assert play(whole, history[:cut]) == play(first, history[:cut])
    state = first.state_dict(plain=plain)
    second = TaskSampler.from_state(json.loads(json.dumps(state)) if plain else state)

    assert play(whole, history[cut:]) == play(second, history[cut:])
    assert second.state_dict() == whole.state_dict()
    assert second.history == whole.history


@quick
@given(rewards, st.data())
def test_rewards_that_are_not_valid_do_not_count(group, data):
    flags = data.draw(st.lists(st.booleans(), min_size=len(group), max_size=len(group)))
    one, other = TaskSampler(IDS), TaskSampler(IDS)
    spoilt = [r if flag else float("nan") for r, flag in zip(group, flags, strict=True)]
    one.update("a", spoilt, valid=flags)
    other.update("a", [r for r, flag in zip(group, flags, strict=True) if flag])

    assert one.status("a") == other.status("a")
    assert one.report().invalid == flags.count(False)


@quick
@given(st.lists(st.floats(0.02, 0.98), min_size=8, max_size=8), updates)
def test_children_start_below_their_parents(priors, history):
    sampler = TaskSampler(IDS, priors=priors, levels=list("xxxxyyyy"))
    for task_id, group in history:
        sampler.update(task_id, group)
    children = [f"{i}2" for i in IDS]
    sampler.add(children, parents=IDS)

    for task_id, child in zip(IDS, children, strict=True):
        parent, state = sampler.status(task_id), sampler.status(child)
        assert state.mean < parent.mean or parent.mean <= 0.01
        assert state.a + state.b == pytest.approx(sampler.options.strength)
        assert (state.parent, state.level) == (task_id, parent.level)
        assert (state.tries, state.visits, state.status) == (0, 0, Status.ACTIVE)
    assert len(sampler) == 16


def test_the_seed_decides_the_draws():
    def draws(seed):
        sampler = TaskSampler([str(n) for n in range(100)], seed=seed)
        return [sampler.sample(10) for _ in range(5)]

    assert draws(1) == draws(1) != draws(2)


def test_a_task_never_solved_is_quarantined_after_24_tries_and_let_out_when_solved():
    sampler = TaskSampler(IDS)
    assert [sampler.update("a", [0.0] * 8) for _ in range(3)] == ["active", "active", "quarantined"]
    assert sampler.update("a", [0.0] * 8) == Status.QUARANTINED
    assert sampler.update("a", [1.0] + [0.0] * 7) == Status.ACTIVE


def test_a_quarantined_task_is_probed_once_in_so_many_draws_the_longest_waiting_first():
    sampler = TaskSampler([*IDS, "no", "never"], options=replace(FAST, reprobe_every=10))
    sampler.update("no", [0.0] * 4)
    sampler.update("never", [0.0] * 4)
    drawn = [task_id for _ in range(20) for task_id in sampler.sample(5)]

    assert [i for i in drawn if i in ("no", "never")] == ["no", "never"] * 5


def test_a_task_solved_twice_is_retired_and_keeps_its_share_for_retention():
    ids = [f"t{n}" for n in range(100)]
    sampler = TaskSampler(ids)
    for task_id in ids[:50]:
        assert sampler.update(task_id, [1.0] * 8) == Status.ACTIVE
        assert sampler.update(task_id, [1.0] * 8) == Status.RETIRED
    drawn = [task_id for _ in range(100) for task_id in sampler.sample(20)]

    assert sum(task_id in ids[:50] for task_id in drawn) == 100
    assert sampler.update("t0", [0.0] * 4 + [1.0] * 4) == Status.ACTIVE


def test_once_solved_is_not_twice_in_a_row():
    sampler = TaskSampler(IDS)
    for _ in range(4):
        assert sampler.update("a", [1.0] * 8) == Status.ACTIVE
        assert sampler.update("a", [1.0] * 4 + [0.0] * 4) == Status.ACTIVE


def test_where_nothing_else_is_left_quarantined_tasks_are_drawn():
    sampler = TaskSampler("ab", options=FAST)
    sampler.update("a", [0.0] * 4)
    assert sampler.sample(2) == ("b",)
    sampler.update("b", [0.0] * 4)
    assert set(sampler.sample(2)) == {"a", "b"}


def test_retired_tasks_fill_a_draw_that_is_too_large():
    sampler = TaskSampler("abc", options=FAST)
    for _ in range(2):
        sampler.update("a", [1.0] * 4)
    assert set(sampler.sample(9)) == {"a", "b", "c"}


def test_a_removed_task_is_known_and_never_drawn():
    sampler = TaskSampler("ab")
    sampler.remove("a")
    assert sampler.sample(2) == ("b",)
    assert sampler.update("a", [1.0, 0.0]) == Status.REMOVED
    sampler.remove("b")
    assert sampler.sample(2) == ()
    assert (len(sampler), sampler.report().statuses["removed"]) == (2, 2)


def test_groups_of_old_policies_are_dropped_where_that_is_asked_for():
    dropping, keeping = TaskSampler("ab", options=SamplerOptions(max_lag=4)), TaskSampler("ab")
    for sampler in (dropping, keeping):
        sampler.update("a", [1.0], policy_version=9)
        sampler.update("b", [1.0], policy_version=5)
        sampler.update("b", [1.0], policy_version=4)
        sampler.update("b", [1.0])

    assert (dropping.status("b").tries, dropping.report().stale) == (2, 1)
    assert (keeping.status("b").tries, keeping.report().stale) == (3, 0)


def test_a_report_tells_the_groups_since_the_last_one():
    sampler = TaskSampler("abcd", levels=["easy", "easy", "hard", "hard"])
    sampler.sample(4)
    sampler.update("a", [1, 0, 0.5])
    sampler.update("b", [1, 1, 0], valid=[True, True, False])
    sampler.update("c", [float("nan")], valid=[False])
    report = sampler.report()

    assert (report.groups, report.informative, report.rollouts, report.invalid) == (3, 1, 7, 2)
    assert report.informative_share == pytest.approx(1 / 3)
    assert report.levels == {"easy": 2, "hard": 2}
    assert sampler.report().groups == 0
    assert [r.draws for r in sampler.history] == [4, 4]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda s: s.update("z", [1.0]),
        lambda s: s.update("a", [1.5]),
        lambda s: s.update("a", [float("nan")]),
        lambda s: s.update("a", [-0.2, 1.0]),
        lambda s: s.update("a", [1.0, 0.0], valid=[True]),
        lambda s: s.add(["a"]),
        lambda s: s.add(["y", "y"]),
        lambda s: s.add(["y"], parents=["z"]),
        lambda s: s.add(["y"], parents=["a", "b"]),
        lambda s: s.add(["y"], priors=[1.5]),
        lambda s: s.add(["y"], priors=[(0.0, 1.0)]),
        lambda s: s.sample(-1),
        lambda s: s.load_state_dict({**s.state_dict(), "version": 0}),
        lambda s: s.load_state_dict({**s.state_dict(), "due": 7}),
        lambda s: s.load_state_dict({**s.state_dict(), "due": {"probe": float("nan")}}),
        lambda s: s.load_state_dict({**s.state_dict(), "draws": -1}),
        lambda s: s.load_state_dict({**s.state_dict(), "newest": 0.5}),
        lambda s: s.load_state_dict({**s.state_dict(), "table": [1]}),
        lambda s: s.load_state_dict({"version": s.state_dict()["version"]}),
        lambda s: SamplerOptions(decay=2.0),
        lambda s: SamplerOptions(reprobe_every=0),
    ],
)
def test_what_is_wrong_is_refused_and_changes_nothing(wrong):
    sampler = TaskSampler(IDS)
    sampler.sample(2)
    before = sampler.state_dict()
    with pytest.raises(UsageError):
        wrong(sampler)

    assert sampler.state_dict() == before


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("status", [1.7, 0]),
        ("status", [9, 0]),
        ("level", [5, 0]),
        ("statement", [-1, 0]),
        ("parent", [2, -1]),
        ("drawn", [-2, 0]),
        ("tries", [-1, 0]),
        ("visits", ["x", "y"]),
        ("streak", [[1, 2], [3, 4]]),
        ("asked", [0]),
        ("a", [0.0, 1.0]),
        ("b", [float("nan"), 1.0]),
        ("b0", [float("inf"), 1.0]),
        ("a0", [None, 1.0]),
    ],
)
def test_a_state_with_what_cannot_be_is_refused(column, values, plain):
    sampler = TaskSampler(["p", "x"])
    state = sampler.state_dict()
    state["table"]["columns"][column] = values if plain else np.array(values)
    with pytest.raises(UsageError, match=column):
        sampler.load_state_dict(state)


def test_a_state_whose_words_are_mixed_up_is_refused():
    for words in ([], ["easy", ""], ["", "easy", "easy"]):
        state = TaskSampler(["p"], levels=["easy"]).state_dict()
        state["table"]["words"] = words
        with pytest.raises(UsageError):
            TaskSampler.from_state(state)


def test_a_reward_with_penalties_is_refused_and_told_what_to_give():
    with pytest.raises(UsageError, match=r"reward of a is -0\.2, not in") as error:
        TaskSampler(IDS).update("a", [1.0, -0.2])

    assert "tests_reward" in error.value.hint


def test_the_state_is_json_whatever_kind_of_number_a_version_is():
    sampler = TaskSampler(IDS)
    sampler.update("a", [1, 0], policy_version=np.int64(3))

    assert json.loads(json.dumps(sampler.state_dict()))["newest"] == 3

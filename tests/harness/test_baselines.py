"""Baselines: small, the same bytes for the same run, and never read by half."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.errors import UsageError
from codeenv.tasks.digest import digest_of
from codeenv_harness.baselines import (
    Scores,
    TaskScore,
    read_scores,
    shipped_baselines,
    write_baseline,
)
from codeenv_harness.suites import benchmark_file, read_benchmark
from tests.harness.runs import manifest, record, scores, write_run


@st.composite
def task_scores(draw):
    valid = draw(st.integers(0, 9))
    return TaskScore(
        recipe=draw(st.text(max_size=3)),
        rollouts=valid + draw(st.integers(0, 3)),
        valid=valid,
        resolved=draw(st.integers(0, valid)),
        mean_reward=draw(st.floats(allow_nan=False, allow_infinity=False)),
    )


RUNS = st.dictionaries(
    st.text(max_size=5),
    st.builds(
        Scores,
        agent=st.text(max_size=5),
        codeenv=st.text(max_size=5),
        tasks=st.dictionaries(st.text(max_size=5), task_scores(), max_size=3),
    ),
    min_size=1,
    max_size=3,
)


@given(RUNS)
def test_a_baseline_is_read_as_it_was_written(tmp_path_factory, runs):
    path = tmp_path_factory.mktemp("b") / "baseline.json"
    write_baseline(path, runs)
    first = path.read_bytes()

    assert read_scores(path) == runs

    write_baseline(path, dict(reversed(runs.items())))
    assert path.read_bytes() == first


def test_a_torn_baseline_is_never_read(tmp_path):
    path = tmp_path / "b.json"
    write_baseline(path, {"oracle": scores(a=[1], b=[1])})
    whole = path.read_bytes()

    for end in range(len(whole) - 2):
        path.write_bytes(whole[:end])
        with pytest.raises(UsageError, match="is not a baseline"):
            read_scores(path)


@pytest.mark.parametrize(
    "changes",
    [{"resolved": 3}, {"valid": 9}, {"rollouts": -1}, {"mean_reward": "x"}, {"more": 1}],
)
def test_a_baseline_that_contradicts_itself_is_refused(tmp_path, changes):
    path = tmp_path / "b.json"
    write_baseline(path, {"oracle": scores(a=[1, 0])})
    values = json.loads(path.read_bytes())
    values["runs"]["oracle"]["tasks"]["a"] |= changes
    path.write_text(json.dumps(values))

    with pytest.raises(UsageError, match=r"b\.json is not a baseline: runs"):
        read_scores(path)


def test_a_rollout_that_was_asked_for_and_never_ended_is_not_valid():
    found = Scores.of(manifest("a", rollouts=3), [record("a", 1), record("a", None, 1)])

    assert (found.tasks["a"].rollouts, found.tasks["a"].valid) == (3, 1)
    assert (found.tasks["a"].rate, found.tasks["a"].mean_reward) == (1.0, 1.0)


def test_a_reward_that_is_no_number_is_not_valid():
    infinite = record("a", 1).model_copy(update={"reward": float("inf")})

    assert Scores.of(manifest("a"), [infinite]).tasks["a"].valid == 0


def test_a_benchmarks_folder_is_read_by_the_names_of_its_runs(tmp_path):
    write_run(tmp_path / "one", agent="oracle", a=[1])
    write_run(tmp_path / "two", agent="random", a=[0])
    (tmp_path / "notes").mkdir()

    found = read_scores(tmp_path)

    assert {name: run.agent for name, run in found.items()} == {"one": "oracle", "two": "random"}


@pytest.mark.parametrize("name", shipped_baselines())
def test_a_shipped_baseline_is_of_the_tasks_and_agents_that_are_shipped(name):
    file = benchmark_file(name)
    benchmark = read_benchmark(file)
    digests = {r.id: digest_of(r) for r in benchmark.taskset(file.parent).recipes}

    found = read_scores(name)

    assert set(found) == {agent.name for agent in benchmark.agents}
    for run in found.values():
        assert {task_id: score.recipe for task_id, score in run.tasks.items()} == digests

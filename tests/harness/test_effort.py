import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.env.episode import EpisodeLimits
from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.env.repo import CodeRepoEnv
from codeenv.errors import UsageError
from codeenv.trajectory import AgentInfo, Recorder, StepMetrics
from codeenv.wrappers import EffortWeights, LengthPenalty, SelfSummarize
from codeenv_harness.effort import (
    EffortRecord,
    calibrate,
    effort_of_trajectory,
    read_effort,
    spearman,
)
from codeenv_harness.rollout import RunOptions, run

EASY = EffortRecord("t", 0.1, 1.0, solved=True, finished=True, budget_left=0.9)
HARD = EffortRecord("t", 0.9, 8.0, solved=False, finished=True, budget_left=0.6)
NUMBERS = st.floats(-1e6, 1e6)
RECORDS = st.builds(
    EffortRecord,
    st.just("t"),
    st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    st.floats(0, 1e6),
    st.booleans(),
    st.booleans(),
    st.floats(0, 1),
)


def test_effort_that_rises_with_difficulty_is_calibrated():
    records = [replace(EASY, difficulty=d, effort=math.exp(3 * d)) for d in (0.1, 0.4, 0.5, 0.9)]
    found = calibrate(records)

    assert found.rho == pytest.approx(1.0)
    assert found.slope == pytest.approx(3.0)
    assert calibrate([replace(r, difficulty=-r.difficulty) for r in records]).rho == (
        pytest.approx(-1.0)
    )


def test_similar_effort_whatever_the_difficulty_has_no_slope():
    records = [replace(EASY, difficulty=d, effort=2.0) for d in (0.1, 0.5, 0.9)]

    assert (calibrate(records).rho, calibrate(records).slope) == (None, 0.0)


def test_equal_values_share_the_mean_of_their_ranks():
    one, other = np.array([1.0, 2.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0])

    assert spearman(one, other) == pytest.approx(4.5 / math.sqrt(4.5 * 5))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20))
def test_a_correlation_is_a_number_in_its_range_or_nothing(points):
    one, other = (
        (np.array(side, dtype=float) for side in zip(*points, strict=True))
        if points
        else (
            np.array([]),
            np.array([]),
        )
    )
    rho = spearman(one, other)

    assert rho is None or -1 <= rho <= 1
    assert rho == spearman(other, one)
    if len(set(one)) > 1 and len(set(other)) > 1:
        assert spearman(one, one) == pytest.approx(1.0)
        assert rho is not None


@given(st.lists(RECORDS, max_size=12))
def test_no_number_is_told_that_is_none(records):
    found = calibrate(records)

    for value in (found.rho, found.slope, found.overthinking, found.underthinking):
        assert value is None or math.isfinite(value)


@pytest.mark.parametrize("records", [[], [EASY], [EASY, EASY], [EASY, replace(EASY, effort=3.0)]])
def test_too_little_to_tell_is_told_as_nothing(records):
    found = calibrate(records)

    assert (found.rollouts, found.rho, found.slope) == (len(records), None, None)


def test_overthinking_is_the_median_effort_of_easy_tasks_that_were_solved():
    efforts = [replace(EASY, effort=e) for e in (1.0, 2.0, 9.0)]
    noise = [replace(EASY, solved=False, effort=99.0), replace(EASY, difficulty=0.5, effort=99.0)]

    assert calibrate([*efforts, *noise]).overthinking == 2.0
    assert calibrate(noise).overthinking is None


def test_underthinking_is_who_ends_a_hard_task_with_most_of_the_budget_left():
    others = [replace(HARD, budget_left=0.5), replace(HARD, finished=False, budget_left=0.9)]

    assert calibrate([HARD, *others]).underthinking == pytest.approx(1 / 3)
    assert calibrate([replace(HARD, solved=True), EASY]).underthinking is None


@pytest.mark.parametrize("wrong", [{"effort": -1.0}, {"difficulty": math.nan}])
def test_a_record_without_numbers_is_refused(wrong):
    with pytest.raises(UsageError, match="not a finite"):
        replace(EASY, **wrong)


def test_a_runs_effort_is_read_from_its_folder(tmp_path):
    taskset = fake_taskset("a", "b")
    options = RunOptions("oracle", rollouts=2, limits=EpisodeLimits(max_steps=10), out=tmp_path)
    result = run(taskset, options, FakeRuntime())
    records = read_effort(tmp_path, taskset)

    assert [record.task_id for record in records] == ["a", "a", "b", "b"]
    assert {(r.difficulty, r.solved, r.finished) for r in records} == {(0.1, True, True)}
    assert records[0].budget_left == 1 - result.records[0].n_steps / 10
    assert 0 < records[0].effort == records[1].effort < 1
    dear = read_effort(tmp_path, taskset, weights=EffortWeights(per_turn=1.0))
    assert dear[0].effort > records[0].effort


def test_a_rollout_without_a_valid_reward_has_no_effort(tmp_path):
    runtime = FakeRuntime()
    runtime.grader_failures = 1
    run(fake_taskset("a"), RunOptions("oracle", rollouts=2, retries=0, out=tmp_path), runtime)

    assert len(read_effort(tmp_path, fake_taskset("a"))) == 1


def test_a_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="not the manifest"):
        read_effort(tmp_path, fake_taskset("a"))


def test_a_trajectory_costs_what_its_episode_cost():
    env = LengthPenalty(SelfSummarize(CodeRepoEnv(runtime=FakeRuntime()), 10**6))
    env.reset(seed=1)
    for action in (
        {"tool": "read_file", "arguments": {"path": "calc.py"}},
        {"tool": "open_file", "arguments": {}, "reasoning": "Is there such a tool?"},
        "I am done",
        {"tool": "submit", "arguments": {"message": "done"}},
    ):
        env.step(action)

    assert effort_of_trajectory(env.get_wrapper_attr("trajectory")()) == env.effort
    assert env.effort.thinking > 0


@given(st.integers(0, 5000), st.text(max_size=40), st.text(max_size=40), st.booleans())
def test_tokens_that_a_sampler_counted_are_the_effort(written, thought, said, calls):
    recorder = Recorder(AgentInfo(name="a", version="1"), "t")
    given = {"reasoning": thought, "metrics": StepMetrics(completion_tokens=written)}
    if calls:
        recorder.call("read_file", {"path": "a"}, "text", {}, message=said, **given)
    else:
        recorder.say(said, "no call", {}, **given)

    effort = effort_of_trajectory(recorder.finished(None))

    assert effort.thinking + effort.call + effort.final == written
    assert min(effort.thinking, effort.call, effort.final) >= 0
    assert (effort.calls, effort.turns, effort.output) == (int(calls), 1, 1 if calls else 2)
    assert effort.thinking == 0 or thought

import json
from dataclasses import replace

import pytest

from codeenv.env.episode import EpisodeLimits
from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.env.runtime import Runtime
from codeenv.errors import BackendUnavailable, UsageError
from codeenv.trajectory import read_trajectory
from codeenv_harness.events import EpisodeEnded, EpisodeStarted, StepTaken
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, run

TASKS = fake_taskset("a", "b")


def test_every_task_is_played_as_often_as_asked(runtime):
    result = run(TASKS, RunOptions("oracle", rollouts=3, concurrency=4), runtime)

    assert [record.key for record in result.records] == [(t, k) for t in "ab" for k in range(3)]
    assert (result.summary.resolved_rate, result.summary.mean_reward) == (1.0, 1.0)
    assert (result.summary.tasks, result.summary.reasons) == (2, {"submitted": 6})
    assert all(box.closed for box in runtime.fake.boxes)


def test_rollouts_of_one_task_have_different_seeds_that_do_not_change():
    def seeds(seed):
        options = RunOptions("random", rollouts=2, seed=seed, limits=EpisodeLimits(max_steps=2))
        return [record.seed for record in run(TASKS, options, FakeRuntime()).records]

    assert seeds(1) == seeds(1) != seeds(2)
    assert len(set(seeds(1))) == 4


def test_a_run_is_written_down(runtime, tmp_path):
    out = tmp_path / "run"
    result = run(TASKS, RunOptions("nop", out=out), runtime)

    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["agent"], sorted(manifest["recipes"])) == ("nop", ["a", "b"])
    assert RunFolder(out).records() == result.records
    trajectory = read_trajectory(out / "trajectories" / "a__0.json")
    assert trajectory.extra["outcome"]["reward"] == 0.0


def test_a_run_is_not_written_over(runtime, tmp_path):
    run(TASKS, RunOptions("nop", out=tmp_path), runtime)
    with pytest.raises(UsageError, match="holds a run already"):
        run(TASKS, RunOptions("nop", out=tmp_path), runtime)


def test_resuming_plays_only_what_is_missing(tmp_path):
    run(TASKS, RunOptions("nop", rollouts=2, out=tmp_path), FakeRuntime())
    path = tmp_path / "outcomes.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2]) + lines[2][:20])
    runtime = FakeRuntime()

    result = run(TASKS, RunOptions("nop", rollouts=2, out=tmp_path, resume=True), runtime)

    assert len(runtime.fake.boxes) == 2
    assert len(result.records) == 4


def test_a_line_that_is_broken_in_the_middle_is_not_passed_over(runtime, tmp_path):
    run(TASKS, RunOptions("nop", out=tmp_path), runtime)
    path = tmp_path / "outcomes.jsonl"
    path.write_text("{}\n" + path.read_text())

    with pytest.raises(UsageError, match=r"outcomes\.jsonl:1 "):
        RunFolder(tmp_path).records()


def test_another_run_is_not_resumed(runtime, tmp_path):
    run(TASKS, RunOptions("nop", out=tmp_path), runtime)
    with pytest.raises(UsageError, match="holds another run"):
        run(TASKS, RunOptions("nop", seed=1, out=tmp_path, resume=True), runtime)


def test_what_rollouts_took_is_known_of_resumed_ones_too(tmp_path):
    options = RunOptions("oracle", rollouts=2, out=tmp_path)
    first = run(TASKS, options, FakeRuntime())
    again = run(TASKS, replace(options, resume=True), FakeRuntime())

    assert list(first.usage) == [record.key for record in first.records]
    assert {used.tool_calls for used in first.usage.values()} == {first.records[0].n_steps}
    assert again.usage == first.usage


def test_a_run_whose_trajectory_is_gone_is_resumed_all_the_same(tmp_path):
    options = RunOptions("nop", out=tmp_path)
    run(TASKS, options, FakeRuntime())
    (tmp_path / "trajectories" / "a__0.json").unlink()
    again = run(TASKS, replace(options, resume=True), FakeRuntime())

    assert (len(again.records), list(again.usage)) == (2, [("b", 0)])


def test_resuming_in_an_empty_folder_begins(runtime, tmp_path):
    options = RunOptions("nop", out=tmp_path / "new", resume=True)

    assert len(run(TASKS, options, runtime).records) == 2


def test_an_invalid_outcome_is_tried_again():
    runtime = FakeRuntime(failures=2)
    result = run(fake_taskset("a"), RunOptions("oracle", retries=2), runtime)

    assert (result.records[0].attempts, result.records[0].reward_valid) == (3, True)


def test_an_outcome_that_stays_invalid_is_counted_apart_and_resumed(tmp_path):
    options = RunOptions("oracle", retries=1, out=tmp_path)
    result = run(TASKS, options, FakeRuntime(failures=2))

    assert [record.reward_valid for record in result.records] == [False, True]
    assert (result.summary.rollouts, result.summary.valid) == (2, 1)
    assert result.summary.mean_reward == 1.0

    again = run(TASKS, RunOptions("oracle", retries=1, out=tmp_path, resume=True), FakeRuntime())

    assert again.summary.valid == 2


def test_events_tell_what_happens():
    events = []
    run(fake_taskset("a"), RunOptions("nop", retries=1), FakeRuntime(failures=1), events.append)

    assert [type(event) for event in events] == [
        EpisodeEnded,
        EpisodeStarted,
        StepTaken,
        EpisodeEnded,
    ]
    ended = [event for event in events if isinstance(event, EpisodeEnded)]
    assert [event.final for event in ended] == [False, True]
    assert [event.usage and event.usage.tool_calls for event in ended] == [None, 1]


def test_an_interrupt_closes_every_box_and_keeps_what_has_ended(tmp_path):
    runtime = FakeRuntime()

    def interrupt(event):
        if isinstance(event, EpisodeStarted) and event.task_id == "b":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(TASKS, RunOptions("nop", out=tmp_path), runtime, interrupt)

    assert all(box.closed for box in runtime.fake.boxes)
    assert [record.task_id for record in RunFolder(tmp_path).records()] == ["a"]


@pytest.mark.parametrize(
    "wrong", [{"rollouts": 0}, {"concurrency": 0}, {"retries": -1}, {"agent": "nobody"}]
)
def test_wrong_options_are_refused(runtime, wrong):
    with pytest.raises(UsageError):
        run(TASKS, RunOptions(**{"agent": "nop", **wrong}), runtime)


def test_a_run_without_a_valid_reward_has_a_rate_of_zero():
    summary = run(fake_taskset("a"), RunOptions("nop", retries=0), FakeRuntime(failures=1)).summary

    assert (summary.valid, summary.resolved_rate, summary.mean_reward) == (0, 0.0, 0.0)
    assert summary.reasons == {"infra_error": 1}


def test_a_machine_without_the_backend_is_told_once_and_plays_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    seen = []

    with pytest.raises(BackendUnavailable):
        run(TASKS, RunOptions("nop"), Runtime("bubblewrap"), seen.append)
    assert seen == []


def test_every_start_is_written_down_with_its_machine(tmp_path):
    for concurrency in (1, 3):
        options = RunOptions("nop", concurrency=concurrency, out=tmp_path, resume=True)
        run(TASKS, options, FakeRuntime())

    starts = [json.loads(line) for line in (tmp_path / "starts.jsonl").read_text().splitlines()]
    assert [start["concurrency"] for start in starts] == [1, 3]
    assert starts[0].keys() == {
        *("time", "codeenv", "python", "platform", "processors", "concurrency", "retries", "runner")
    }

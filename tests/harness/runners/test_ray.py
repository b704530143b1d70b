"""Runs on a real cluster of several nodes give what threads give, whatever happens to it."""

import json
from dataclasses import replace

import pytest

from codeenv.env.episode import EpisodeLimits
from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.env.runtime import Runtime
from codeenv.errors import BackendUnavailable, MachineError, UsageError
from codeenv.tasks.taskset import Taskset
from codeenv_harness.agents import Budget
from codeenv_harness.events import EpisodeEnded, EpisodeStarted, StepTaken
from codeenv_harness.monitoring import Watching
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, run
from codeenv_harness.runners import ray_runner
from codeenv_harness.runners.on_ray.worker import Worker
from tests.harness.runners.nodes import CountingRuntime, DeadlyRuntime, StuckRuntime
from tests.harness.test_chat import SOLVED

TASKS = fake_taskset("a", "b", "c")
WALKS = RunOptions("random", rollouts=3, concurrency=4, limits=EpisodeLimits(max_steps=5))


@pytest.fixture
def on_ray(nodes):
    """The runner, and what it told."""
    runner = ray_runner(nodes.address, lambda text: runner.told.append(text))
    runner.told = []
    return runner


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_a_run_that_loses_a_node_gives_what_threads_give(nodes, on_ray, tmp_path):
    tasks = Taskset.load("toy")
    tasks = tasks.select(tasks.ids[:3])
    options = replace(WALKS, rollouts=2)
    with Runtime("bubblewrap") as runtime:
        threads = run(tasks, replace(options, out=tmp_path / "t"), runtime, monitor=Watching())
    lost = []

    def lose(event):
        if isinstance(event, StepTaken) and not lost:
            lost.append(event)
            nodes.lose()

    options = replace(options, out=tmp_path / "r")
    result = run(tasks, options, Runtime("bubblewrap"), lose, Watching(), on_ray)

    assert lost
    assert any("is lost; its 2 rollouts are played again" in text for text in on_ray.told)
    assert result.records == threads.records
    assert _bytes(tmp_path / "r" / "manifest.json") == _bytes(tmp_path / "t" / "manifest.json")
    calls = [
        {r.key: _calls(folder.trajectory(r.key)) for r in result.records}
        for folder in (RunFolder(tmp_path / "t"), RunFolder(tmp_path / "r"))
    ]
    assert calls[0] == calls[1]


def _bytes(path):
    return path.read_bytes()


def _calls(trajectory):
    return [
        (call.function_name, call.arguments)
        for s in trajectory.steps
        for call in s.tool_calls or ()
    ]


def test_nodes_that_join_take_over_from_those_that_are_gone(nodes, on_ray):
    gone = []

    def renew(event):
        if isinstance(event, EpisodeStarted) and not gone:
            gone.append(event)
            nodes.join()
            nodes.lose()
            nodes.lose()

    result = run(TASKS, WALKS, FakeRuntime(), renew, runner=on_ray)

    assert result.records == run(TASKS, WALKS, FakeRuntime()).records


def test_a_run_without_a_node_ends_and_is_resumed_in_threads(nodes, on_ray, tmp_path):
    options = replace(WALKS, out=tmp_path, concurrency=1)
    ended, stop = [], tmp_path / "stop"

    def lose_all(event):
        if isinstance(event, EpisodeEnded):
            ended.append(event)
            if len(ended) == 2:
                stop.touch()  # a worker outlives its node for a moment
                nodes.lose()
                nodes.lose()

    with pytest.raises(MachineError, match="no Ray node to play on: ") as raised:
        run(TASKS, options, StuckRuntime(stop), lose_all, runner=on_ray)
    kept = len(RunFolder(tmp_path).records())
    result = run(TASKS, replace(options, resume=True), FakeRuntime())

    assert "--resume" in raised.value.hint
    assert 1 <= kept < len(result.records) == 9
    assert result.records == run(TASKS, WALKS, FakeRuntime()).records
    assert [start["runner"] for start in _starts(tmp_path)] == ["ray", "threads"]


def test_what_threads_began_is_resumed_on_ray(on_ray, tmp_path):
    options = replace(WALKS, out=tmp_path)
    whole = run(TASKS, options, FakeRuntime())
    path = tmp_path / "outcomes.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:4]))
    boxes = tmp_path / "boxes"
    boxes.mkdir()

    result = run(TASKS, replace(options, resume=True), CountingRuntime(boxes), runner=on_ray)

    assert result.records == RunFolder(tmp_path).records() == whole.records
    assert sum(len(file.read_text().split()) for file in boxes.iterdir()) == 5
    assert _starts(tmp_path)[1]["nodes"] == 2


def _starts(folder):
    return [json.loads(line) for line in (folder / "starts.jsonl").read_text().splitlines()]


def test_never_more_rollouts_are_played_than_asked_for_and_both_nodes_play(on_ray, tmp_path):
    playing, most, steps = set(), 0, 0

    def count(event):
        nonlocal most, steps
        key = (event.task_id, event.rollout)
        if isinstance(event, EpisodeStarted):
            playing.add(key)
        elif isinstance(event, EpisodeEnded):
            playing.discard(key)
        steps += isinstance(event, StepTaken)
        most = max(most, len(playing))

    result = run(TASKS, WALKS, CountingRuntime(tmp_path), count, runner=on_ray)

    assert not playing
    assert 1 <= most <= 4
    assert steps == sum(record.n_steps for record in result.records)
    assert len([*tmp_path.iterdir()]) == 2


def test_a_rollout_that_kills_its_workers_is_not_valid_and_the_others_are(on_ray):
    options = RunOptions("oracle", concurrency=1)
    events = []
    result = run(TASKS, options, DeadlyRuntime("b"), events.append, runner=on_ray)

    a, b, c = result.records
    assert (a.reward, c.reward, a.attempts, c.attempts) == (1.0, 1.0, 1, 1)
    assert (b.reason, b.reward_valid, b.attempts) == ("infra_error", False, 3)
    assert "3 of 3 times" in b.error
    finals = [e.final for e in events if isinstance(e, EpisodeEnded) and e.task_id == "b"]
    assert finals == [False, False, True]


def test_a_budget_holds_over_all_workers(on_ray, chat_server):
    chat_server.otherwise = SOLVED
    options = RunOptions("chat:m", rollouts=5, concurrency=4, budget=Budget(tokens=550))

    result = run(TASKS, options, FakeRuntime(), runner=on_ray)

    assert "of 550 tokens" in result.stopped
    assert 5 <= len(chat_server.asked) <= 5 + 3
    assert result.summary.resolved == len(chat_server.asked)


def test_what_is_replayed_need_not_be_on_the_nodes(on_ray, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tasks, options = fake_taskset("a", "b"), replace(WALKS, rollouts=1)
    run(fake_taskset("a"), replace(options, out=tmp_path / "walk"), FakeRuntime())
    again = replace(options, agent="replay:walk")

    result = run(tasks, again, FakeRuntime(), runner=on_ray)

    assert result.records == run(tasks, again, FakeRuntime()).records
    assert [record.reward_valid for record in result.records] == [True, False]


def test_what_a_node_lacks_is_told_once_with_its_name(on_ray):
    events = []
    with pytest.raises(BackendUnavailable, match=r"\(\w{6}\): "):
        run(
            TASKS,
            WALKS,
            Runtime("docker", options={"runtime": "none"}),
            events.append,
            runner=on_ray,
        )
    assert events == []


def test_an_error_of_the_agent_ends_the_run_as_it_does_in_threads(on_ray):
    with pytest.raises(UsageError, match="has no options"):
        run(TASKS, replace(WALKS, settings={"x": 1}), FakeRuntime(), runner=on_ray)


def test_an_opened_backend_does_not_travel(on_ray, local_backend):
    with pytest.raises(UsageError, match="cannot be sent"):
        run(TASKS, WALKS, Runtime(local_backend), runner=on_ray)


def test_another_version_of_codeenv_does_not_play():
    with pytest.raises(UsageError, match="is played by 0"):
        Worker().begin("0", {}, b"", None)

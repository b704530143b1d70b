"""Events where users meet them: in ``info``, in records, in forks and batches."""

import json
import pickle
import random

import numpy as np
import pytest

from codeenv.env.episode import EpisodeLimits
from codeenv.env.fake import FakeRuntime, fake_task, fake_taskset
from codeenv.env.repo import CodeRepoEnv
from codeenv.env.runtime import Runtime
from codeenv.env.vector import CodeRepoVectorEnv
from codeenv.errors import UsageError
from codeenv.feedback import FeedbackEvent, feedback_of, options_for
from codeenv.sandbox.base import ExecResult
from codeenv.tasks.taskset import Taskset
from codeenv.trajectory import read_trajectory, sealed, write_trajectory
from codeenv_harness.episode import play
from tests.toytask import make_task

READ = {"tool": "read_file", "arguments": {"path": "pocketbook/text.py"}}
EDIT = {
    "tool": "edit_file",
    "arguments": {"path": "pocketbook/text.py", "old_str": "", "new_str": "x = 1\n"},
}
TESTS = {"path": "tests/test_text.py", "old_str": "import", "new_str": ""}
ACTIONS = (
    READ,
    READ,
    EDIT,
    {"tool": "edit_file", "arguments": {**EDIT["arguments"], "overwrite": True}},
    {"tool": "edit_file", "arguments": TESTS},
    {"tool": "edit_file", "arguments": {"path": "README.md", "old_str": "€", "new_str": ""}},
    {"tool": "read_file", "arguments": {"path": "no/such.py"}},
    {"tool": "read_file", "arguments": {"path": "README.md", "start_line": 10**6}},
    {"tool": "read_file", "arguments": {"file": "README.md"}},
    {"tool": "read_file", "arguments": {"path": "/workspace/README.md", "end_line": "5"}},
    {"tool": "open", "arguments": {"x": ["\ud800", float("inf")]}},
    {"tool": "run_command", "arguments": {"command": "ls tests"}},
    {**READ, "content": "- [ ] write the tests", "reasoning": "What is there?"},
    {"tool": "run_command", "arguments": {"command": "python3 -m pytest -q -x tests"}},
    {"tool": "run_command", "arguments": {"command": "exit 3"}},
    {"tool": "run_command", "arguments": {"command": "sleep 30", "timeout": 1}},
    {"tool": "edit_file", "arguments": {"path": "PLAN.md", "old_str": "", "new_str": "- [ ] b\n"}},
    json.dumps(READ),
    "read_file, please \ud800",
    {"name": "search", "arguments": '{"pattern": "def "}'},
    {"name": "search", "arguments": "[1]"},
    42,
    None,
)  # fmt: skip
SUBMIT = {"tool": "submit", "arguments": {"message": "done " * 200}}
BACKENDS = ["local", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)]


class Scripted:
    """Plays a list of actions."""

    name = "scripted"

    def __init__(self, actions):
        self._actions = iter(actions)

    def reset(self, briefing):
        """Begin."""

    def act(self, result):
        return next(self._actions)


@pytest.fixture(scope="module", params=BACKENDS)
def runtime(request):
    with Runtime(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def toy():
    return Taskset.load("toy")


def sequence(seed):
    draw = random.Random(seed)
    drawn = [action for action in draw.choices(ACTIONS, k=20) if action is not None]
    return [*drawn, SUBMIT]


@pytest.mark.parametrize("seed", range(3))
def test_a_record_replayed_has_the_events_of_the_episode(runtime, toy, seed, tmp_path):
    actions = sequence(seed)
    task = runtime.task(toy.recipe("toy-text-slugify-1ed46056"), toy)
    limits = EpisodeLimits(max_steps=50)
    with runtime.open(task, limits=limits) as episode:
        played = play(Scripted(actions), episode).trajectory
    write_trajectory(tmp_path / "t.json", played)
    read = read_trajectory(tmp_path / "t.json")

    recorded = [e for step in read.steps for e in (step.extra or {}).get("feedback", [])]
    recorded += read.extra.get("feedback", [])
    replayed = [e.model_dump(mode="json") for e in feedback_of(read, task)]

    assert len(replayed) > 5
    assert recorded == replayed
    assert sealed(read.steps, read.extra) == "intact"

    with CodeRepoEnv("toy", runtime=runtime, max_steps=50) as env:
        env.reset(options={"task_id": task.id})
        seen = [event for action in actions for event in env.step(action)[4]["feedback"]]
    assert seen == replayed


@pytest.fixture
def folder(tmp_path):
    taskset = fake_taskset("fake-a")
    Taskset.write(
        tmp_path / "T", taskset.recipes, taskset.baselines.values(), taskset.environments.values()
    )
    return tmp_path / "T"


@pytest.fixture
def env(folder):
    with CodeRepoEnv(folder, runtime=FakeRuntime(), max_steps=9) as made:
        yield made


LOOK = {"tool": "read_file", "arguments": {"path": "calc.py"}}


def kinds(info):
    return [event["kind"] for event in info["feedback"]]


def test_info_always_has_feedback_as_plain_data(env):
    assert env.reset()[1]["feedback"] == []
    assert env.step(LOOK)[4]["feedback"] == []

    found = env.step({"tool": "open", "arguments": {}})[4]["feedback"]

    assert json.loads(json.dumps(found)) == found
    assert FeedbackEvent.model_validate(found[0]).turn == 2
    assert found[0]["target"] == {"message": 3, "call": 0, "part": "tool_name", "chars": [0, 4]}


def test_events_do_not_stay_for_the_next_step_or_episode(env):
    env.reset()
    env.step(LOOK)
    assert kinds(env.step(LOOK)[4]) == ["redundant_read"]
    assert kinds(env.step({"tool": "search", "arguments": {"pattern": "def"}})[4]) == []
    env.reset()
    assert kinds(env.step(LOOK)[4]) == []


def test_an_end_from_outside_does_not_tell_the_last_mistake_again(env):
    env.reset(options={"task_index": 0})
    *_, info = env.step({"tool": "nonesuch", "arguments": {}})
    *_, ended = env.finish("context_exceeded")

    assert [event["kind"] for event in info["feedback"]] == ["unknown_tool"]
    assert ended["feedback"] == []


def test_a_branch_remembers_what_its_origin_did(env):
    env.reset()
    env.step(LOOK)
    branch = env.fork()
    try:
        assert kinds(branch.step(LOOK)[4]) == kinds(env.step(LOOK)[4]) == ["redundant_read"]
    finally:
        branch.close()


def test_a_pickled_environment_begins_anew(env):
    env.reset()
    env.step(LOOK)
    with pickle.loads(pickle.dumps(env)) as other:
        other.reset()
        assert kinds(other.step(LOOK)[4]) == []


def test_a_batch_has_a_list_of_events_for_each_environment(folder):
    envs = CodeRepoVectorEnv(2, tasks=folder, runtime=FakeRuntime())
    envs.reset(seed=0)
    infos = envs.step([LOOK, "nothing"])[4]
    envs.close()

    assert infos["feedback"].dtype == np.dtype(object)
    assert infos["feedback"][0] == []
    assert [event["kind"] for event in infos["feedback"][1]] == ["malformed_call"]


def test_tests_and_their_configuration_are_protected_and_code_is_not():
    protected = options_for(make_task()).protected

    assert protected("tests/test_text.py")
    assert protected("pyproject.toml")
    assert not protected("src/notes/text.py")
    assert not protected("tests/test_scratch.py")


def test_nothing_tells_where_a_hidden_test_is():
    task = fake_task()
    protected = options_for(task).protected

    assert "test_calc.py" in task.layout.test_files
    assert "test_calc.py" not in task.workspace
    assert not protected("test_calc.py")
    assert protected("pyproject.toml")
    assert not protected("calc.py")
    assert not protected("scratch.py")


LONG = {"tool": "search", "arguments": {"pattern": "x" * 40_000}}
SOLVE = {
    "tool": "edit_file",
    "arguments": {"path": "calc.py", "old_str": "raise NotImplementedError",
                  "new_str": "return a + b"},
}  # fmt: skip


def test_much_effort_on_an_easy_task_is_told_if_it_was_solved(env):
    env.reset()
    solved = [env.step(action)[4] for action in (LONG, SOLVE, {"tool": "submit"})]
    env.reset()
    failed = [env.step(action)[4] for action in (LONG, {"tool": "submit"})]

    assert [kinds(info) for info in solved] == [[], [], ["no_verify", "overthinking_easy"]]
    assert [event["turn"] for event in solved[-1]["feedback"]] == [3, 1]
    assert kinds(failed[-1]) == []


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_reasoning_counts_in_a_running_episode_as_in_its_record(key):
    thoughts = {**SOLVE, key: "hm " * 20_000}
    with FakeRuntime().open(fake_task()) as episode:
        played = play(Scripted([thoughts, {"tool": "submit"}]), episode).trajectory

    (live,) = played.extra["feedback"]
    assert (live["kind"], live["turn"]) == ("overthinking_easy", 1)
    assert feedback_of(played, fake_task())[-1].model_dump(mode="json") == live


def test_a_summary_that_nobody_asked_for_is_refused():
    with FakeRuntime().open(fake_task()) as episode:
        with pytest.raises(UsageError, match="no summary is due"):
            episode.take_summary("all done")
        episode.ask_summary()
        episode.finish()
        with pytest.raises(UsageError, match="no summary is due"):
            episode.take_summary("all done")


def test_a_branch_of_an_episode_waits_for_its_summary_too():
    with FakeRuntime().open(fake_task()) as episode:
        episode.ask_summary()
        with episode.fork() as branch:
            results = [e.call(LOOK).error for e in (episode, branch)]
            assert results == ["summary_due", "summary_due"]
            episode.take_summary("s")
            branch.take_summary("s")
            assert episode.turn == branch.turn
            assert (episode.turn.number, episode.turn.message) == (2, 4)


def test_what_only_the_end_shows_stands_beside_the_steps_in_a_record():
    with FakeRuntime().open(fake_task()) as episode:
        played = play(Scripted([LONG, SOLVE, {"tool": "submit"}]), episode).trajectory

    assert [event["kind"] for event in played.extra["feedback"]] == ["overthinking_easy"]
    assert [event["kind"] for event in played.steps[3].extra["feedback"]] == ["no_verify"]
    assert [e.kind for e in feedback_of(played, fake_task())] == ["no_verify", "overthinking_easy"]
    assert [e.kind for e in feedback_of(played)] == ["no_verify"]


def test_an_agent_that_gives_up_is_not_told_its_last_mistake_twice():
    actions = [{"tool": "open", "arguments": {}}, None]
    with FakeRuntime().open(fake_task()) as episode:
        played = play(Scripted(actions), episode).trajectory

    assert [event["turn"] for event in played.steps[1].extra["feedback"]] == [1]
    assert "feedback" not in played.extra


RED = b"FAILED test_net.py::test_dns - OSError\n1 failed, 3 passed in 1.0s\n"


@pytest.mark.parametrize(("before", "told"), [([], ["premature_finish"]), ([SOLVE], [])])
def test_failing_tests_are_told_at_the_end_unless_the_task_is_solved(before, told):
    pytest_run = {"tool": "run_command", "arguments": {"command": "pytest -q"}}
    runtime = FakeRuntime(lambda box, command, stdin: ExecResult(1, RED))
    with runtime.open(fake_task()) as episode:
        played = play(Scripted([*before, pytest_run, {"tool": "submit"}]), episode).trajectory
    recorded = played.extra.get("feedback", [])

    assert [event["kind"] for event in recorded] == told
    assert [e.model_dump(mode="json") for e in feedback_of(played, fake_task())] == recorded

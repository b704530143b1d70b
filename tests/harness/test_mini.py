"""``mini:MODEL``: mini-swe-agent itself, on our box, its model behind a real HTTP server."""

import sys

import pytest

from codeenv.env.fake import fake_taskset
from codeenv.env.runtime import Runtime
from codeenv.errors import UsageError
from codeenv.tasks.taskset import Taskset
from codeenv_harness.agents import AgentOptions, AgentUnavailable, Budget, agent_factory
from codeenv_harness.episode import play
from codeenv_harness.prices import Price
from codeenv_harness.rollout import RunOptions, run
from tests.harness.chat_server import Fail, said

DONE = ("bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"})


@pytest.fixture(autouse=True)
def settings(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("MSWEA_GLOBAL_CONFIG_DIR", str(tmp_path_factory.mktemp("mini")))
    monkeypatch.setenv("MSWEA_SILENT_STARTUP", "1")


@pytest.fixture(scope="module")
def toy():
    taskset = Taskset.load("toy")
    small = min(taskset.recipes, key=lambda r: (r.difficulty.lines, r.id))
    with Runtime("local") as runtime:
        yield runtime, runtime.task(small, taskset)


def bash(command):
    return ("bash", {"command": command})


def played(toy, price=None, **settings):
    runtime, task = toy
    options = AgentOptions(settings=settings, prices={"m": price} if price else {})
    factory = agent_factory("mini:m", options)
    try:
        return play(factory(task), runtime.open(task), seed=3)
    finally:
        factory.close()


def test_it_looks_edits_and_hands_in(toy, chat_server):
    _, task = toy
    ((path, entry),) = task.oracle.write.items()
    write = f"cat > {path} <<'END_OF_FILE'\n{entry.data.decode()}END_OF_FILE"
    look = said(bash(f"cat {path}"), bash("ls"), content="I look around.")
    chat_server.answers += [look, said(bash(write)), said(DONE)]
    done = played(toy, Price(input=1, output=1), temperature=0.2)

    assert (done.outcome.reward, done.outcome.reason) == (1.0, "submitted")
    steps = [step for step in done.trajectory.steps if step.source == "agent"]
    tools = [step.tool_calls[0].function_name for step in steps]
    assert tools == ["run_command"] * 4 + ["submit"]
    assert (steps[0].message, steps[1].message) == ("I look around.", "")
    costs = [step.metrics and step.metrics.cost_usd for step in steps]
    assert costs == [pytest.approx(110e-6), None, *[pytest.approx(110e-6)] * 2, None]
    first, second, _ = chat_server.asked
    assert first["temperature"] == 0.2
    assert [tool["function"]["name"] for tool in first["tools"]] == ["bash"]
    assert task.instruction.strip()[:40] in first["messages"][1]["content"]
    assert [m["role"] for m in second["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert all("extra" not in message for message in second["messages"])


def test_a_failing_command_and_a_malformed_call_are_told_to_the_model(toy, chat_server):
    chat_server.answers += [said(bash("exit 3")), said(("bash", "{oops")), said(DONE)]
    done = played(toy)

    assert done.outcome.reason == "submitted"
    _, second, third = chat_server.asked
    assert '"returncode": 3' in second["messages"][-1]["content"]
    assert "Tool call error" in third["messages"][-1]["content"]


def test_a_limit_of_its_own_ends_the_episode_and_the_work_is_graded(toy, chat_server):
    chat_server.otherwise = said(bash("true"))
    outcome = played(toy, step_limit=2).outcome

    assert (outcome.reason, outcome.reward_valid, outcome.n_steps) == ("agent_gave_up", True, 2)


def test_a_history_that_is_too_long_ends_the_episode(toy, chat_server):
    chat_server.answers += [said(bash("true")), Fail(400, "context_length_exceeded")]

    assert played(toy).outcome.reason == "context_exceeded"


def test_a_budget_ends_the_run(runtime, chat_server):
    chat_server.otherwise = said(DONE)
    options = RunOptions("mini:m", budget=Budget(tokens=100))

    assert "budget is spent" in run(fake_taskset("a", "b"), options, runtime).stopped


def test_other_prompts_are_taken_from_a_file(toy, chat_server, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("agent:\n  system_template: Hello.\n  instance_template: 'Do: {{task}}'\n")
    chat_server.answers += [said(DONE)]
    played(toy, config=str(path))

    system, user = chat_server.asked[0]["messages"]
    assert system["content"] == "Hello."
    assert user["content"].startswith("Do: ")


def test_a_file_that_is_no_configuration_is_refused(chat_server, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("model: {}\n")
    with pytest.raises(UsageError, match="no agent in it"):
        agent_factory("mini:m", AgentOptions(settings={"config": str(path)}))


def test_a_configuration_that_is_not_there_is_refused(chat_server):
    with pytest.raises(UsageError, match="no configuration 'nothing'"):
        agent_factory("mini:m", AgentOptions(settings={"config": "nothing"}))


def test_without_the_package_it_says_what_to_install(chat_server, monkeypatch):
    monkeypatch.setitem(sys.modules, "minisweagent.config", None)
    with pytest.raises(AgentUnavailable, match="needs mini-swe-agent") as raised:
        agent_factory("mini:m")
    assert "codeenv-gym[mini]" in raised.value.hint

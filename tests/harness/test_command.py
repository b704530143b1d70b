"""``cmd:COMMAND``: programs that act in a box by themselves, their model behind a real server."""

import pytest
from openai.types.chat import ChatCompletion

from codeenv.env.episode import EpisodeLimits
from codeenv.errors import UsageError
from codeenv.tree import Entry, Tree
from codeenv_harness.agents import AgentOptions, AgentUnavailable, Stay, agent_factory
from codeenv_harness.agents.chat.answers import answer_of
from codeenv_harness.agents.command import talk as talk_module
from codeenv_harness.agents.command.talk import Talk
from codeenv_harness.agents.resident import mounts_of
from codeenv_harness.agents.uploads import uploaded
from tests.harness.chat_server import Fail, said
from tests.harness.programs import played, shell, tiny, toy, written

__all__ = ["toy"]
pytestmark = pytest.mark.bubblewrap
BACKENDS = ("local", "bubblewrap", pytest.param("docker", marks=pytest.mark.docker))


def solution(toy):
    ((path, entry),) = toy[1].oracle.write.items()
    return f"cat > {path} <<'END_OF_FILE'\n{entry.data.decode()}END_OF_FILE"


@pytest.mark.parametrize("toy", BACKENDS, indirect=True)
@pytest.mark.parametrize("flags", ["", "--stream"])
def test_a_program_without_network_reaches_its_model_and_solves_the_task(toy, chat_server, flags):
    look = shell("pwd; echo seen", content="I look.", message={"reasoning_content": "Hm."})
    chat_server.answers += [look, shell(solution(toy)), said(content="That is all.")]
    done = tiny(toy, flags)

    assert (done.outcome.reward, done.outcome.reason, done.outcome.n_steps) == (1.0, "submitted", 3)
    steps = done.trajectory.steps
    assert [step.source for step in steps] == ["user", "system", "user", "agent", "agent", "agent"]
    assert (steps[1].message, steps[2].message) == ("You are tiny.", steps[0].message)
    first = steps[3]
    assert (first.message, first.reasoning_content) == ("I look.", "Hm.")
    assert first.tool_calls[0].function_name == "shell"
    assert first.observation.results[0].content.endswith("seen\n")
    assert first.metrics.cost_usd == pytest.approx(110e-6)
    assert steps[-1].message == "That is all."
    assert [step.extra["reward"] for step in steps[3:]] == [0.0, 0.0, 1.0]
    assert done.trajectory.agent.tool_definitions[0]["function"]["name"] == "shell"
    program = done.trajectory.extra["program"]
    assert (program["exit_code"], "done: That is all." in program["output"]) == (0, True)
    assert [asked["model"] for asked in chat_server.asked] == ["m"] * 3
    assert {asked["temperature"] for asked in chat_server.asked} == {0.25}


def test_options_of_the_run_count_more_than_what_the_program_wants(toy, chat_server):
    chat_server.answers += [said(content="no")]
    tiny(toy, temperature=0.75, max_tokens=7)

    (asked,) = chat_server.asked
    assert (asked["temperature"], asked["max_completion_tokens"]) == (0.75, 7)


def test_a_program_without_a_model_is_one_step(toy):
    done = played(toy, f"cmd:{solution(toy)}\necho fine")

    assert (done.outcome.reward, done.outcome.n_steps) == (1.0, 1)
    (step,) = (step for step in done.trajectory.steps if step.source == "agent")
    assert step.tool_calls[0].function_name == "program"
    assert step.observation.results[0].content == "fine\n\n[exit code 0]"


def test_a_program_that_fails_gave_up_and_is_graded(toy):
    done = played(toy, f"cmd:{solution(toy)}\necho oh; exit 3")

    assert (done.outcome.reason, done.outcome.reward) == ("agent_gave_up", 1.0)
    assert done.trajectory.extra["program"]["exit_code"] == 3


def test_a_program_that_is_not_there_ends_the_run_and_says_how_it_gets_there(toy):
    with pytest.raises(AgentUnavailable, match="not found") as raised:
        played(toy, "cmd:no-such-program --fast")

    assert "upload=PATH" in raised.value.hint


def test_what_a_program_wrote_is_known_though_a_limit_ended_it(toy, chat_server):
    chat_server.otherwise = shell("echo again")
    done = tiny(toy, limits=EpisodeLimits(max_steps=1))

    assert written(done) == "tiny agent at /workspace"


def test_answers_are_steps_and_end_where_the_limit_says(toy, chat_server):
    chat_server.otherwise = shell("echo again")
    done = tiny(toy, limits=EpisodeLimits(max_steps=2))

    assert (done.outcome.reason, done.outcome.n_steps) == ("max_steps", 2)
    assert done.outcome.truncated
    assert len(chat_server.asked) == 2
    assert done.trajectory.steps[-1].observation.results[0].content == "again\n"


def test_time_ends_a_program_that_does_not(toy):
    for settings, limits in (({"time_limit": 0.5}, None), ({}, EpisodeLimits(wall_time=0.5))):
        done = played(toy, "cmd:exec sleep 300", limits=limits, **settings)
        assert (done.outcome.reason, done.outcome.reward_valid) == ("wall_time", True)


def test_a_refused_request_is_told_to_the_program(toy, chat_server):
    chat_server.answers += [shell("echo one"), Fail(400, message="bad tool")]
    done = tiny(toy)

    assert (done.outcome.reason, done.outcome.reward_valid) == ("agent_gave_up", True)
    assert "the server says 400" in done.trajectory.extra["program"]["output"]
    assert "bad tool" in done.trajectory.extra["program"]["output"]


def test_a_history_that_is_too_long_is_told_to_the_program(toy, chat_server):
    long = Fail(400, "context_length_exceeded", "the maximum context length is 9")
    chat_server.answers += [shell("echo one"), long]
    done = tiny(toy)

    assert '"code": "context_length_exceeded"' in done.trajectory.extra["program"]["output"]


def test_a_server_that_fails_makes_the_episode_invalid(toy, chat_server):
    chat_server.answers += [shell("echo one")]
    chat_server.otherwise = Fail(500)
    done = tiny(toy, retries=1)

    assert not done.outcome.reward_valid
    assert done.trajectory.steps[-1].tool_calls[0].function_name == "shell"


def request(*messages):
    return {"messages": [{"role": role, "content": content} for role, content in messages]}


def answer(text):
    return answer_of(ChatCompletion.model_validate(said(content=text)), 1, None, reasoning=True)


def test_answers_find_what_they_gave_though_conversations_mix():
    stay = Stay(None, None)
    talk = Talk(stay)
    main, side = ("user", "main"), ("user", "side")
    for asked, told in (
        ((main,), "ask aside"),
        ((side,), "look"),
        ((side, ("assistant", "look"), ("user", "seen")), "thanks"),
        ((main, ("assistant", "(a call, in other words)"), ("user", "aside: seen")), "done"),
        ((("user", "a summary"),), "yes"),
    ):
        talk.asked(request(*asked))
        talk.answered(answer(told))

    deeds = [
        ([m["content"] for m in d.before], d.message, [m["content"] for m in d.after])
        for d in stay.deeds
    ]
    assert deeds == [
        (["main"], "ask aside", ["aside: seen"]),
        (["side"], "look", ["seen"]),
        ([], "thanks", []),
        ([], "done", []),
        (["a summary"], "yes", []),
    ]


def test_what_is_uploaded_keeps_modes_and_links_and_has_a_limit(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "run").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "run").chmod(0o755)
    (tmp_path / "plain.txt").write_text("x")
    (tmp_path / "link").symlink_to("bin")

    tree = uploaded(tmp_path)

    assert {path: entry.mode for path, entry in tree.items()} == {
        "bin/run": "exec",
        "link": "link",
        "plain.txt": "file",
    }
    assert [*uploaded(tmp_path / "plain.txt")] == ["plain.txt"]
    with (tmp_path / "large").open("wb") as file:
        file.truncate(3 * 1024**3)
    with pytest.raises(UsageError, match="more than"):
        uploaded(tmp_path)
    read = Tree({"main.py": Entry(b"")})
    elsewhere = AgentOptions(settings={"upload": "/nowhere"}, program=read)
    assert [mount.tree for mount in mounts_of(agent_factory("cmd:x", elsewhere))] == [read]
    with pytest.raises(UsageError, match="there is no"):
        agent_factory("cmd:x", AgentOptions(settings={"upload": str(tmp_path / "none")}))


def test_a_record_is_full_at_some_point(monkeypatch):
    monkeypatch.setattr(talk_module, "_KEPT", 10)
    stay = Stay(None, None)
    talk = Talk(stay)
    talk.asked({"messages": [{"role": "user", "content": "x" * 8}] * 300})
    talk.answered(answer("a"))

    kept = [message["content"] for message in stay.deeds[0].before]
    assert (len(kept), kept[0]) == (200, "x" * 8)
    assert kept[1].startswith("xx\n[cut")

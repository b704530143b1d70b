"""``cmd:COMMAND``: hostile programs cannot dodge their reward, nor reach more than a model."""

import pytest

from codeenv.trajectory import Trajectory
from codeenv_harness.agents import AgentUnavailable, agent_factory
from codeenv_harness.episode import play
from tests.harness.chat_server import HANG, Fail, said
from tests.harness.programs import asking, played, shell, tiny, toy, written

__all__ = ["toy"]
pytestmark = pytest.mark.bubblewrap


def test_what_a_program_sends_is_data_whatever_it_is(toy, chat_server):
    chat_server.otherwise = said(content="hello")
    done = asking(
        toy,
        """
bodies = [b"", b"[]", b"{}", b'{"messages": 5}', b'{"messages": ["x"]}', b"[" * 100_000]
bodies += [b'{"messages": [], "tools": {"a": 1}}', b"\\xff\\xfe", {"messages": [{}] * 20_000}]
print([send(body) for body in bodies], send(b"{}", "/responses"), send(None, "/models"))
print(send({"messages": [user("\\ud800")]})["content"])
print(send({"messages": [user("x" * 9_000_000)]}))
print(send({"messages": [user(), {"role": "assistant", "tool_calls": 5}, user()]})["content"])
print(send({"messages": [{"role": 7, "content": [{"type": "text", "text": 5}]}]})["content"])
""",
    )

    codes = [400] * 9
    assert written(done).splitlines() == [f"{codes} 404 200", "hello", "413", "hello", "hello"]
    assert done.outcome.reward_valid
    assert len(chat_server.asked) == 3


def test_a_server_is_not_asked_for_more_than_answers(toy, chat_server):
    chat_server.otherwise = said(content="hello")
    done = asking(
        toy,
        """
for more in ({"tools": [{"type": "web_search"}]}, {"tool_choice": {"type": "mcp"}},
             {"messages": [user([{"type": "image_url", "image_url": {"url": "http://a/b.png"}}])]},
             {"messages": [user([{"type": "file", "file": {"file_id": "f"}}])]}):
    print(send({"messages": [user()], **more}))
inline = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
print(send({"messages": [user([inline])], "web_search_options": {}, "n": 9})["content"])
""",
    )

    assert written(done).split() == ["400"] * 4 + ["hello"]
    (asked,) = chat_server.asked
    assert not {"web_search_options", "n"} & {*asked}


@pytest.mark.parametrize("arguments", ['{"command": "\\ud800"}', '{"a":' * 600 + "1" + "}" * 600])
def test_whatever_a_model_calls_is_written_down(toy, chat_server, arguments):
    chat_server.answers += [said(("shell", arguments)), said(content="end")]
    done = asking(toy, "send({'messages': [user()]})")

    assert done.outcome.reward_valid
    assert done.trajectory.steps[-1].tool_calls[0].function_name == "shell"
    assert Trajectory.model_validate_json(done.trajectory.model_dump_json())


@pytest.mark.parametrize("status", [400, 403, 413, 422])
def test_a_first_request_that_is_refused_is_told_too(toy, chat_server, status):
    chat_server.answers += [Fail(status), said(content="Yes."), said(content="fine")]
    done = asking(toy, "print(send({'messages': [user()]}), send({'messages': [user()]}))")

    assert written(done).startswith(f"{status} ")
    assert (done.outcome.reason, done.outcome.reward_valid) == ("submitted", True)
    assert chat_server.asked[1]["messages"][0]["content"] == "Say yes."


def test_options_that_no_request_can_have_end_the_run(toy, chat_server):
    chat_server.otherwise = Fail(400, message="temperature is too high")
    with pytest.raises(AgentUnavailable, match="temperature is too high"):
        asking(toy, "print(send({'messages': [user()]}))")


def test_a_request_that_breaks_its_server_makes_nothing_invalid(toy, chat_server):
    def answer(body):
        return Fail(500) if "evil" in str(body["messages"]) else said(content="fine")

    chat_server.otherwise = answer
    script = "print(send({'messages': [user()]})['content'], send({'messages': [user('evil')]}))"
    done = asking(toy, script)

    assert written(done) == "fine 502"
    assert done.outcome.reward_valid


def test_time_ends_while_a_model_thinks(toy, chat_server):
    chat_server.otherwise = HANG
    done = asking(toy, "send({'messages': [user()]})", time_limit=0.5)

    assert (done.outcome.reason, done.outcome.reward_valid) == ("wall_time", True)


def test_without_a_model_nobody_is_asked_whatever_the_box_says(toy):
    poller = """import json, sys
open(3, "w").write(json.dumps({"request": {"messages": []}, "id": 1}))"""
    forge = f"cat > /tmp/codeenv-relay-*/relay_poll.py <<'END'\n{poller}\nEND\nsleep 60"
    done = played(toy, f"cmd:{forge}", time_limit=1)

    assert (done.outcome.reason, done.outcome.reward_valid) == ("wall_time", True)


def test_a_program_that_ran_before_is_there(toy):
    runtime, task = toy
    factory = agent_factory("cmd:test -e once || exit 0; no-such-program")
    first = play(factory(task), runtime.open(task))
    agent = factory(task)
    episode = runtime.open(task)
    episode.sandbox.write_file("once", b"")
    second = play(agent, episode)

    assert [one.outcome.reason for one in (first, second)] == ["submitted", "agent_gave_up"]


@pytest.mark.parametrize(
    "deed",
    [
        "pkill -f relay.py; sleep 1",
        "rm -r /tmp/codeenv-relay-*",
        "echo x > /tmp/codeenv-relay-*/relay_poll.py",
    ],
)
def test_ending_the_relay_ends_the_episode_and_it_counts(toy, chat_server, deed):
    chat_server.answers += [shell(deed), *[shell("echo on")] * 3]
    done = tiny(toy)

    assert done.outcome.reward_valid
    assert done.outcome.reward == 0.0

"""``chat:MODEL`` against a real HTTP server, also one that fails in every way we know."""

import json
import re

import pytest

from codeenv.env.episode import EpisodeLimits
from codeenv.env.fake import FakeRuntime, fake_task
from codeenv.errors import UsageError
from codeenv_harness.agents import AgentOptions, AgentUnavailable, Budget, agent_factory
from codeenv_harness.episode import play
from codeenv_harness.prices import Price
from tests.harness.chat_server import Cut, Fail, Raw, said

LOOK = ("read_file", {"path": "calc.py"})
SOLVE = (
    "edit_file",
    {"path": "calc.py", "old_str": "raise NotImplementedError", "new_str": "return a + b"},
)
SUBMIT = ("submit", {})
SOLVED = said(SOLVE, SUBMIT)
STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def played(settings=None, price=None, budget=None, max_steps=9):
    options = AgentOptions(
        settings=settings or {},
        prices={"m": price} if price else {},
        budget=budget or Budget(),
    )
    factory = agent_factory("chat:m", options)
    episode = FakeRuntime().open(fake_task(), limits=EpisodeLimits(max_steps=max_steps))
    try:
        return play(factory(fake_task()), episode, seed=7)
    finally:
        factory.close()


def steps(done):
    return [step for step in done.trajectory.steps if step.source == "agent"]


@STREAM
def test_calls_of_one_answer_are_carried_out_in_turn_and_all_answered(chat_server, stream):
    chat_server.answers += [said(LOOK, LOOK, content="I look."), SOLVED]
    done = played({"stream": stream})

    assert (done.outcome.reward, done.outcome.n_steps) == (1.0, 4)
    first, second = chat_server.asked
    assert (first["model"], len(first["messages"])) == ("m", 1)
    assert {tool["function"]["name"] for tool in first["tools"]} >= {"read_file", "submit"}
    user, assistant, *results = second["messages"]
    assert user == first["messages"][0]
    assert (assistant["content"], len(assistant["tool_calls"])) == ("I look.", 2)
    assert [m["tool_call_id"] for m in results] == ["id_0", "id_1"]
    assert all("def add" in m["content"] for m in results)
    assert done.trajectory.agent.model_name == "m"


@STREAM
def test_the_tokens_of_an_answer_are_recorded_once(chat_server, stream):
    chat_server.answers += [SOLVED]
    edit, submit = steps(played({"stream": stream}, Price(input=2, output=30)))

    assert (edit.metrics.prompt_tokens, edit.metrics.completion_tokens) == (100, 10)
    assert edit.metrics.cost_usd == pytest.approx((100 * 2 + 10 * 30) / 1e6)
    assert edit.metrics.extra["model"] == "served-model"
    assert submit.metrics is None


def test_cached_tokens_and_what_the_server_says_of_its_cost_count(chat_server):
    answer = said(SUBMIT)
    answer["usage"] |= {"prompt_tokens_details": {"cached_tokens": 60}}
    costly = said(LOOK)
    costly["usage"]["cost"] = 0.5
    chat_server.answers += [costly, answer]
    first, second = steps(played(price=Price(input=2, output=0, cached=1)))

    assert first.metrics.cost_usd == 0.5
    assert second.metrics.cached_tokens == 60
    assert second.metrics.cost_usd == pytest.approx((40 * 2 + 60) / 1e6)


def test_what_is_no_call_is_answered_with_how_a_call_looks(chat_server):
    chat_server.answers += [said(content="All done!"), SOLVED]
    done = played()

    assert done.outcome.reward == 1.0
    assert steps(done)[0].message == "All done!"
    _, assistant, user = chat_server.asked[1]["messages"]
    assert assistant == {"role": "assistant", "content": "All done!"}
    assert user["role"] == "user"
    assert "not a tool call" in user["content"]


@pytest.mark.parametrize("arguments", ['{"path": "calc', "[1]", "null", '"text"'])
def test_a_malformed_call_is_an_error_to_read_and_breaks_no_history(chat_server, arguments):
    chat_server.answers += [said(("read_file", arguments)), SOLVED]
    done = played()

    assert done.outcome.reward == 1.0
    _, assistant, result = chat_server.asked[1]["messages"]
    sent = json.loads(assistant["tool_calls"][0]["function"]["arguments"])
    assert isinstance(sent, dict)
    assert (result["role"], result["tool_call_id"]) == ("tool", "id_0")
    assert "error" in result["content"]


def test_calls_without_an_id_or_with_the_same_get_their_own(chat_server):
    function = {"name": "read_file", "arguments": {"path": "calc.py"}}  # an object, as some send
    calls = [{"id": i, "type": "function", "function": function} for i in ("", "a", "a")]
    chat_server.answers += [said(message={"tool_calls": calls}), SOLVED]
    played()

    _, assistant, *results = chat_server.asked[1]["messages"]
    ids = [call["id"] for call in assistant["tool_calls"]]
    assert len(set(ids)) == 3
    assert [result["tool_call_id"] for result in results] == ids


@STREAM
@pytest.mark.parametrize("kept", [True, False])
def test_reasoning_is_recorded_and_goes_back_unless_not_wanted(chat_server, kept, stream):
    chat_server.answers += [said(LOOK, message={"reasoning_content": "hm, hm"}), SOLVED]
    done = played({"send_reasoning": kept, "stream": stream})

    assert steps(done)[0].reasoning_content == "hm, hm"
    assert ("reasoning_content" in chat_server.asked[1]["messages"][1]) is kept


@STREAM
@pytest.mark.parametrize("failure", [Fail(429), Fail(500), Fail(503), Cut()], ids=repr)
def test_what_may_pass_is_tried_again(chat_server, failure, stream):
    chat_server.answers += [said(LOOK), failure, SOLVED]
    done = played({"stream": stream})

    assert done.outcome.reward == 1.0
    assert len(chat_server.asked) == 3
    assert chat_server.asked[1] == chat_server.asked[2]


@pytest.mark.parametrize(
    "garbage",
    [
        Raw(b"<html>busy</html>", "text/html"),
        Raw(b"{"),
        Raw(b'{"choices": []}'),
        Raw(b'data: {"error": {"message": "overloaded"}}\n\n', "text/event-stream"),
    ],
    ids=lambda raw: raw.data.decode()[:12],
)
@STREAM
def test_an_answer_that_is_none_is_asked_for_again(chat_server, garbage, stream):
    chat_server.answers += [said(LOOK), garbage, SOLVED]

    assert played({"stream": stream}).outcome.reward == 1.0


def test_an_answer_that_was_cut_by_its_length_is_used_as_it_is(chat_server):
    chat_server.answers += [said(("read_file", '{"pa'), finish="length"), SOLVED]

    assert played({"stream": True}).outcome.reward == 1.0


@pytest.mark.parametrize(
    "refusal",
    [Fail(400, "context_length_exceeded"), Fail(400, message="prompt is too long: 9 > 8")],
)
def test_a_history_that_is_too_long_ends_the_episode_and_the_work_is_graded(chat_server, refusal):
    chat_server.answers += [said(SOLVE), refusal]
    outcome = played().outcome

    assert (outcome.reason, outcome.truncated, outcome.reward) == ("context_exceeded", True, 1.0)


def test_token_ids_and_log_probabilities_are_taken_where_a_server_tells_them(chat_server):
    listed = {"content": [{"token": "a", "logprob": -0.5, "bytes": None, "top_logprobs": []}]}
    choice = {"token_ids": [9], "logprobs": listed}
    chat_server.answers += [said(SUBMIT, choice=choice, prompt_token_ids=[1, 2])]
    (step,) = steps(played({"extra_body": {"return_token_ids": True}}))

    assert chat_server.asked[0]["return_token_ids"] is True
    assert (step.metrics.prompt_token_ids, step.metrics.completion_token_ids) == ([1, 2], [9])
    assert step.metrics.logprobs == [-0.5]


def test_options_go_into_the_request(chat_server):
    options = {"temperature": 0.5, "max_tokens": 99, "seed": True, "system": "Be brief."}
    played(options)
    (asked,) = chat_server.asked

    assert (asked["temperature"], asked["max_completion_tokens"], asked["seed"]) == (0.5, 99, 7)
    assert asked["messages"][0] == {"role": "system", "content": "Be brief."}
    assert "top_p" not in asked


@pytest.mark.parametrize("wrong", [{"temprature": 1}, {"temperature": "hot"}, {"retries": -1}])
def test_options_that_are_none_are_refused(chat_server, wrong):
    with pytest.raises(UsageError, match=r"^agent option (temp|retries)") as raised:
        agent_factory("chat:m", AgentOptions(settings=wrong))
    assert "temperature" in raised.value.hint


def test_other_agents_have_no_options():
    with pytest.raises(UsageError, match="nop has no options"):
        agent_factory("nop", AgentOptions(settings={"temperature": 1}))


def test_without_a_key_the_variable_is_named(chat_server, monkeypatch):
    with pytest.raises(AgentUnavailable, match="MY_KEY is not set"):  # and no other key is taken
        agent_factory("chat:m", AgentOptions(settings={"api_key_env": "MY_KEY"}))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(AgentUnavailable, match="OPENAI_API_KEY is not set"):
        agent_factory("chat:m")
    monkeypatch.setenv("MY_KEY", "x")
    agent_factory("chat:m", AgentOptions(settings={"api_key_env": "MY_KEY"})).close()


@pytest.mark.parametrize(
    "answer",
    [
        said(LOOK, content="half \ud83d"),
        said(("read\ud800.file", "{}")),
        said(("repo.read " * 20, "{}")),
        said(LOOK, message={"reasoning_details": [{"score": float("nan")}]}),
    ],
    ids=["text", "name", "long name", "reasoning"],
)
def test_what_a_model_says_breaks_no_request_after_it(chat_server, answer):
    chat_server.answers += [answer, SOLVED]
    done = played({"retries": 0})

    assert (done.outcome.reward, done.outcome.reward_valid) == (1.0, True)
    calls = chat_server.asked[1]["messages"][1]["tool_calls"]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"]) for call in calls)


@pytest.mark.parametrize("usage", [{"cost": float("nan")}, {"cost": -1}, {"prompt_tokens": -50}])
def test_numbers_that_cannot_be_are_not_known(chat_server, usage):
    answer = said(SUBMIT)
    answer["usage"] |= usage
    chat_server.answers += [answer]
    (step,) = steps(played())

    assert step.metrics.cost_usd is None
    assert step.metrics.prompt_tokens in (None, 100)


def test_a_refusal_after_good_answers_is_one_of_the_episode(chat_server):
    chat_server.answers += [said(LOOK), Fail(403, message="<html>" + "blocked " * 100_000)]
    outcome = played().outcome

    assert (outcome.reason, outcome.reward_valid) == ("infra_error", False)
    assert "blocked" in outcome.error
    assert len(outcome.error) < 1000


def test_an_error_in_the_place_of_an_answer_is_told(chat_server):
    chat_server.otherwise = Raw(b'{"error": {"message": "no money left", "code": 402}}')
    with pytest.raises(AgentUnavailable, match="no money left"):
        played({"retries": 1})

"""Whole runs of ``chat:MODEL``: refusals, budgets, prices, interrupts."""

import threading

import pytest

from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.errors import UsageError
from codeenv_harness.agents import AgentError, AgentUnavailable, Budget
from codeenv_harness.agents.chat.waiting import Waiting
from codeenv_harness.events import StepTaken
from codeenv_harness.prices import load_prices
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, run
from tests.harness.chat_server import DRIP, HANG, Fail, Raw, said
from tests.harness.test_chat import LOOK, SOLVED

TASKS = fake_taskset("a", "b", "c")


def options(**more):
    return RunOptions("chat:m", **{"concurrency": 2, "settings": {"retries": 1}, **more})


@pytest.mark.parametrize(
    "refusal",
    [
        *(Fail(401), Fail(403), Fail(404), Fail(429, "insufficient_quota"), Fail(400), Fail(500)),
        Fail(400, message="'max_tokens' is too large: the maximum context length is 9"),
        Raw(b"<html>hello</html>", "text/html"),
    ],
    ids=lambda fail: str(getattr(fail, "status", "html")),
)
def test_a_server_that_refuses_everything_ends_the_run_at_once(chat_server, tmp_path, refusal):
    chat_server.otherwise = refusal
    with pytest.raises(AgentUnavailable, match="chat:m: ") as raised:
        run(TASKS, options(out=tmp_path), FakeRuntime())

    assert "base_url" in raised.value.hint
    assert RunFolder(tmp_path).records() == ()
    assert len(chat_server.asked) <= 6  # each of three tasks at most once, with one retry


def test_a_refusal_in_the_middle_keeps_what_has_ended(chat_server, tmp_path):
    chat_server.answers += [SOLVED, Fail(401)]
    with pytest.raises(AgentUnavailable):
        run(TASKS, options(out=tmp_path, concurrency=1), FakeRuntime())

    assert [record.reward for record in RunFolder(tmp_path).records()] == [1.0]


def test_an_episode_whose_server_failed_is_invalid_and_played_again(chat_server):
    chat_server.answers += [SOLVED, said(LOOK), Fail(500), Fail(500), SOLVED, SOLVED]
    result = run(TASKS, options(concurrency=1), FakeRuntime())

    assert [record.attempts for record in result.records] == [1, 2, 1]
    assert result.summary.resolved == 3


def test_a_server_that_drips_is_given_up(chat_server):
    chat_server.answers += [DRIP]
    chat_server.otherwise = SOLVED
    settings = {"answer_timeout": 2, "timeout": 60, "retries": 0}
    result = run(fake_taskset("a"), options(settings=settings), FakeRuntime())

    (record,) = result.records
    assert (record.attempts > 1, record.reward) == (True, 1.0)


def test_a_spent_budget_ends_the_run_and_resuming_plays_the_rest(chat_server, tmp_path):
    chat_server.otherwise = SOLVED
    first = run(
        TASKS, options(out=tmp_path, concurrency=1, budget=Budget(tokens=200)), FakeRuntime()
    )

    assert "220 of 200 tokens" in first.stopped
    assert (first.summary.rollouts, first.summary.resolved) == (2, 2)

    rest = run(TASKS, options(out=tmp_path, resume=True), FakeRuntime())
    assert (rest.stopped, rest.summary.resolved, len(chat_server.asked)) == ("", 3, 3)


def test_money_is_counted_by_the_table_and_unknown_costs_end_the_run(chat_server, tmp_path):
    chat_server.otherwise = SOLVED
    table = tmp_path / "prices.json"
    table.write_text('{"m": {"input": 10, "output": 100}}')
    spent = options(budget=Budget(usd=0.001), prices=load_prices(table), concurrency=1)

    assert "0.00 of 0.00 USD" in run(TASKS, spent, FakeRuntime()).stopped
    with pytest.raises(AgentUnavailable, match="not known"):
        run(TASKS, options(budget=Budget(usd=1)), FakeRuntime())


@pytest.mark.parametrize("text", ["", "[]", '{"m": 1}', '{"m": {"input": -1, "output": 1}}'])
def test_a_table_of_prices_that_is_none_is_refused(tmp_path, text):
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"prices\.json is no table of prices"):
        load_prices(path)


def test_an_interrupt_does_not_wait_for_the_server(chat_server, tmp_path):
    chat_server.answers += [SOLVED]
    chat_server.otherwise = HANG

    def interrupt(event):
        if isinstance(event, StepTaken) and chat_server.hanging.wait(30):
            raise KeyboardInterrupt

    runtime = FakeRuntime()
    with pytest.raises(KeyboardInterrupt):
        run(TASKS, options(out=tmp_path), runtime, interrupt)

    assert not chat_server.released.is_set()
    assert all(box.closed for box in runtime.fake.boxes)


def test_who_waits_goes_on_when_waiting_is_closed():
    waiting, begun, never = Waiting(), threading.Event(), threading.Event()

    def forever():
        begun.set()
        never.wait(60)

    def close():
        begun.wait(60)
        waiting.close()

    threading.Thread(target=close, daemon=True).start()
    with pytest.raises(AgentError, match="stopped"):
        waiting.call(forever)
    with pytest.raises(AgentError, match="stopped"):
        waiting.call(int)
    never.set()


def test_what_a_call_raises_is_raised_where_it_is_waited_for():
    with pytest.raises(ZeroDivisionError):
        Waiting().call(lambda: 1 / 0)
    assert Waiting().call(lambda: 3) == 3


def test_a_run_goes_on_with_more_patience(chat_server, tmp_path):
    chat_server.otherwise = SOLVED
    run(TASKS, options(out=tmp_path, settings={"timeout": 30}), FakeRuntime())
    again = options(out=tmp_path, resume=True, settings={"timeout": 60, "stream": True})

    assert run(TASKS, again, FakeRuntime()).summary.rollouts == 3

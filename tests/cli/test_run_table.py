"""What ``codeenv run`` tells people, on records that are made up."""

import pytest
from rich.console import Console

from codeenv.cli.run_table import rows_of
from codeenv.cli.terminal import table
from codeenv.trajectory import AgentInfo, RecordedCall, Step, StepMetrics, Trajectory
from codeenv_harness.metrics import summarise, usage_of
from codeenv_harness.prices import Price
from codeenv_harness.rollout import RunResult
from tests.harness.metrics.made import record

TOLD = StepMetrics(prompt_tokens=2_000, completion_tokens=500)
PRICES = {"m": Price(input=1, output=4)}


def used(metrics=TOLD, prices=PRICES):
    call = RecordedCall(tool_call_id="c", function_name="submit", arguments={})
    step = Step(step_id=1, source="agent", message="", tool_calls=(call,), metrics=metrics)
    agent = AgentInfo(name="a", version="1", model_name="m")
    return usage_of(Trajectory(agent=agent, steps=(step,)), prices)


def told(records, usage=None):
    return dict(rows_of(RunResult(tuple(records), summarise(records), usage=usage or {})))


def run_of(*rewards):
    """Return the records of a run of some tasks, given the rewards of the rollouts of each."""
    return [
        record(f"t{t}", n, reward) for t, of in enumerate(rewards) for n, reward in enumerate(of)
    ]


def test_the_first_row_says_how_many_rollouts_the_numbers_are_over():
    records = [*run_of([1.0, 0.0]), record("t0", 2, valid=False)]

    assert told(records)["valid only"] == "2 of 3 rollouts"
    assert told(records)["resolved"] == "1 (50%)"


def test_one_rollout_has_no_pass_at_k_but_at_1():
    assert [name for name in told(run_of([1.0], [0.0])) if "@" in name] == ["pass@1"]
    assert [n for n in told(run_of([1.0] * 4, [0.0] * 4)) if "@" in n] == ["pass@1", "pass@4"]


def test_a_rate_has_an_interval_over_tasks():
    half = told(run_of(*[[1.0]] * 10, *[[0.0]] * 10))["pass@1"]

    assert half == "50.0%, 95% interval 30.0% to 70.0%, over 20 tasks"


@pytest.mark.parametrize(
    ("tasks", "row"),
    [
        ([[1.0]], "100.0%, no interval, over 1 task"),
        ([[1.0], [1.0]], "100.0%, no interval, over 2 tasks"),
    ],
)
def test_tasks_that_do_not_tell_how_they_differ_have_no_interval(tasks, row):
    assert told(run_of(*tasks))["pass@1"] == row


def test_tasks_with_too_few_valid_rollouts_are_left_out_and_told():
    records = [*run_of([1.0, 0.0], [0.0, 1.0]), record("t2", 0, 1.0), record("t2", 1, valid=False)]
    rows = told(records)

    assert rows["pass@2"] == (
        "100.0%, no interval, over 2 tasks; 1 left out with fewer than 2 valid rollouts"
    )
    assert rows["pass@1"].endswith("over 3 tasks")


def test_a_run_without_a_valid_rollout_has_no_rate():
    rows = told([record("t0", valid=False), record("t0", 1, valid=False)])

    assert rows["pass@1"] == "not known: no task has 1 valid rollout"
    assert rows["pass@2"] == "not known: no task has 2 valid rollouts"
    assert told([])["valid only"] == "0 of 0 rollouts"


def test_tokens_and_cost_are_told_where_they_are_known():
    records = run_of([1.0, 0.0])
    rows = told(records, {r.key: used() for r in records})

    assert rows["prompt tokens"] == "2,000 a rollout (median), 4,000 in all"
    assert rows["completion tokens"] == "500 a rollout (median), 1,000 in all"
    assert rows["cost"] == "$0.0040 a rollout (median), $0.0080 in all"
    assert "cached tokens" not in rows


def test_what_is_unknown_has_no_row_and_is_never_0():
    records = run_of([1.0, 0.0])
    silent = told(records, {r.key: used(None) for r in records})
    unpriced = told(records, {r.key: used(prices=None) for r in records})

    assert not {"prompt tokens", "completion tokens", "cost"} & set(silent)
    assert "cost" not in unpriced
    assert "prompt tokens" in unpriced


def test_what_is_known_of_some_rollouts_says_of_how_many():
    records = [*run_of([1.0, 0.0]), record("t0", 2, valid=False)]
    usage = {("t0", 0): used(), ("t0", 2): used()}

    assert told(records, usage)["cost"] == (
        "$0.0040 a rollout (median), $0.0040 in all; known of 1 of 2 rollouts"
    )


def test_the_rows_are_a_table():
    console = Console(width=100)
    with console.capture() as shown:
        records = run_of([1.0, 0.0])
        console.print(table(("", ""), rows_of(RunResult(tuple(records), summarise(records)))))

    assert "pass@1          50.0%" in shown.get()

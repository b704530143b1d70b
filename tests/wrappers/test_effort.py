import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.env.fake import FakeRuntime
from codeenv.errors import UsageError
from codeenv.wrappers import EffortWeights, LengthCost, LengthPenalty, length_cost
from codeenv.wrappers.effort import Effort, effort_of_action
from codeenv.wrappers.texts import approximate_tokens, text_of
from tests.wrappers.conftest import BAD, LOOK, SOLVE, SUBMIT, fake_env, played

EFFORTS = st.floats(0, 1e4)
K = st.floats(1e-3, 1e3)
Q = st.floats(0, 5)


@given(K, Q)
def test_no_effort_costs_nothing_and_the_first_costs_what_it_is(k, q):
    tiny = 1e-9 / k

    assert length_cost(0.0, k, q) == 0.0
    assert length_cost(tiny, k, q) == pytest.approx(tiny, rel=1e-6)


@given(EFFORTS, EFFORTS, K, Q)
def test_more_effort_never_costs_less_and_each_unit_costs_less_than_the_one_before(
    one, other, k, q
):
    a, b = sorted((one, other))
    low, middle, high = (length_cost(x, k, q) for x in (a, (a + b) / 2, b))

    assert low <= middle <= high
    assert middle - low >= (high - middle) * (1 - 1e-6) - 1e-9


@given(EFFORTS, K, st.floats(-12, -3), st.sampled_from([-1, 1]))
def test_the_cost_goes_over_into_the_logarithm_without_a_jump(x, k, digits, side):
    q = 1.0 + side * 10**digits
    grown = math.log1p(k * x)
    series = sum(((1.0 - q) * grown) ** n / math.factorial(n + 1) for n in range(8))

    assert length_cost(x, k, 1.0) == grown / k
    assert length_cost(x, k, q) == pytest.approx(grown / k * series, rel=1e-12)


@given(st.floats(0.1, 100), st.floats(0.01, 10), st.floats(0, 3).filter(lambda q: abs(q - 1) > 0.1))
def test_the_cost_is_the_published_formula(x, k, q):
    plain = ((1 + k * x) ** (1 - q) - 1) / (k * (1 - q))

    assert length_cost(x, k, q) == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize(("x", "k", "q"), [(-1, 1, 1), (1, 0, 1), (1, 1, -1), (math.nan, 1, 1)])
def test_a_cost_that_is_not_defined_is_refused(x, k, q):
    with pytest.raises(UsageError, match="x >= 0"):
        length_cost(x, k, q)


def test_the_default_cost_of_ten_thousand_tokens_is_an_eighth():
    assert 0.05 * length_cost(10.0) == pytest.approx(0.12, abs=0.001)


COUNTS = st.integers(0, 10**7)
EVERY_EFFORT = st.builds(Effort, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)


@given(EVERY_EFFORT, st.floats(0, 10), K, Q)
def test_a_solved_task_pays_more_than_a_failed_one_whatever_it_took(effort, w, k, q):
    try:
        cost = LengthCost(w, k, q)
    except UsageError:
        assert w * length_cost(EffortWeights().most(100), k, q) >= 1
    else:
        assert 0 <= cost.of(effort) <= cost.highest < 1


def test_weights_that_make_failing_fast_pay_are_refused():
    with pytest.raises(UsageError, match="a solved task is worth 1"):
        LengthPenalty(fake_env(), w=0.3)
    with pytest.raises(UsageError, match="a solved task is worth 1"):
        LengthPenalty(fake_env(), weights=EffortWeights(token_budget=10**13))
    with pytest.raises(UsageError, match="at least 0"):
        EffortWeights(call=-1.0)


def test_more_steps_may_make_a_cost_too_high():
    weights = EffortWeights(per_turn=100.0, token_budget=0)
    LengthPenalty(fake_env(max_steps=10), w=0.14, weights=weights)
    with pytest.raises(UsageError, match="a solved task is worth 1"):
        LengthPenalty(fake_env(max_steps=100), w=0.14, weights=weights)


def test_thoughts_calls_outputs_and_messages_are_told_apart():
    count = len
    thought = effort_of_action({**LOOK, "reasoning": "hmm"}, count)
    assert thought == Effort(thinking=3, call=len(text_of(LOOK)), calls=1, turns=1)
    assert effort_of_action("I am done", count) == Effort(final=9, turns=1)
    assert effort_of_action(SUBMIT, count) == Effort(final=len(text_of(SUBMIT)), calls=1, turns=1)


def test_an_action_counts_as_it_was_sent():
    assert text_of('{"tool":  "submit"}') == '{"tool":  "submit"}'
    assert text_of({"tool": "submit", "arguments": {"message": "é"}}) == (
        '{"tool": "submit", "arguments": {"message": "é"}}'
    )


def test_nothing_an_agent_sends_breaks_the_count():
    loop = {}
    loop["self"] = loop
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for action in (loop, deep, {"x": deep}, None, b"\xff", "\ud800", object(), {1: {2}}, 10**400):
        assert effort_of_action(action).turns == 1


@given(st.text())
def test_tokens_are_about_a_quarter_of_the_bytes(text):
    size = len(text.encode("utf-8", "replace"))

    assert size / 4 <= approximate_tokens(text) < size / 4 + 1


def test_only_solved_episodes_pay_for_their_length():
    env = LengthPenalty(fake_env())
    *_, solved = played(env, [LOOK, SOLVE, SUBMIT])
    cost = LengthCost(max_steps=6).of(env.effort)
    *_, failed = played(env, [LOOK, SUBMIT])

    assert solved[1] == 1.0 - cost < 1.0
    assert solved[4]["reward_parts"] == {"tests": 1.0, "length": -cost}
    assert solved[4]["tests_reward"] == 1.0
    assert (failed[1], failed[4]["reward_parts"]) == (0.0, {"tests": 0.0, "length": 0.0})


def test_failed_episodes_pay_where_it_is_asked_for_and_less_than_a_solution_is_worth():
    env = LengthPenalty(fake_env(), only_if_solved=False)
    *_, failed = played(env, [SUBMIT])
    *_, solved = played(env, [LOOK, LOOK, LOOK, SOLVE, SUBMIT])

    assert -1 < failed[1] < 0 < solved[1]


def test_a_reward_that_is_not_valid_stays_zero():
    runtime = FakeRuntime()
    env = LengthPenalty(fake_env(runtime), only_if_solved=False)
    runtime.grader_failures = 1
    *_, last = played(env, [SOLVE, SUBMIT])

    assert (last[1], last[4]["reward_valid"]) == (0.0, False)
    assert last[4]["reward_parts"] == {"tests": 0.0, "length": 0.0}


def test_the_end_tells_what_was_spent():
    env = LengthPenalty(fake_env(), count=len)
    steps = played(env, [LOOK, BAD, SOLVE, SUBMIT])
    effort = steps[-1][4]["effort"]

    assert (effort["calls"], effort["turns"], effort["thinking"]) == (4, 4, 0)
    assert effort["call"] == sum(len(text_of(action)) for action in (LOOK, BAD, SOLVE))
    assert effort["output"] == sum(len(step[0]["text"]) for step in steps)
    assert effort["x"] == EffortWeights().of(env.effort)
    assert "effort" not in steps[0][4]


def test_effort_begins_anew_with_each_episode():
    env = LengthPenalty(fake_env())
    one, two = (played(env, [SOLVE, SUBMIT])[-1][1] for _ in range(2))

    assert one == two

from dataclasses import replace

import pytest

from codeenv.env.fake import FakeRuntime, fake_task
from codeenv.errors import UsageError
from codeenv.trajectory import AgentInfo, RecordedCall, Step, StepMetrics, Trajectory
from codeenv_harness.episode import play
from codeenv_harness.metrics import (
    summarise_usage,
    usage_of,
    usage_of_run,
)
from codeenv_harness.prices import Price

TOLD = StepMetrics(prompt_tokens=1000, completion_tokens=100, cached_tokens=400)
PRICES = {"m": Price(input=2, output=10, cached=0.5)}
COST = (600 * 2 + 400 * 0.5 + 100 * 10) / 1e6


def episode(*told, model="m", extra=None, **fields):
    """Return the record of an episode with one step for each of some metrics."""
    steps = [Step(step_id=1, source="user", message="Bring it back,\nplease.")]
    for number, metrics in enumerate(told, start=2):
        call = RecordedCall(tool_call_id="c", function_name="search", arguments={})
        steps.append(
            Step(
                step_id=number,
                source="agent",
                message="",
                tool_calls=(call,),
                metrics=metrics,
                **fields,
            )
        )
    agent = AgentInfo(name="a", version="1", model_name=model)
    return Trajectory(agent=agent, steps=tuple(steps), extra=extra)


def stamped(*stamps):
    """Return the record of an episode whose messages are stamped."""
    steps = tuple(
        Step(step_id=n, source="user", message="", timestamp=stamp)
        for n, stamp in enumerate(stamps, start=1)
    )
    return Trajectory(agent=AgentInfo(name="a", version="1"), steps=steps)


def changes(*files):
    return {"changes": {"tree_sha": "", "files": [{"counted": True, **file} for file in files]}}


def test_tokens_calls_and_the_instruction_are_counted():
    found = usage_of(episode(TOLD, TOLD))

    assert (found.prompt_tokens, found.completion_tokens, found.cached_tokens) == (2000, 200, 800)
    assert (found.tool_calls, found.instruction_words, found.instruction_characters) == (2, 4, 22)


@pytest.mark.parametrize("told", [(), (None,), (None, TOLD), (TOLD, StepMetrics())])
def test_what_a_step_does_not_tell_is_unknown_and_not_0(told):
    found = usage_of(episode(*told), PRICES)

    assert (found.prompt_tokens, found.completion_tokens, found.cost_usd) == (None, None, None)
    assert (found.seconds, found.files_changed, found.lines_added) == (None, None, None)


def test_token_ids_are_as_good_as_a_count():
    ids = StepMetrics(prompt_token_ids=[1, 2, 3], completion_token_ids=[4])
    found = usage_of(episode(ids))

    assert (found.prompt_tokens, found.completion_tokens, found.cached_tokens) == (3, 1, None)


def test_a_step_without_a_call_of_the_model_and_a_copied_one_cost_nothing():
    assert usage_of(episode(None, llm_call_count=0)).prompt_tokens is None
    copied = episode(TOLD, is_copied_context=True)
    assert (usage_of(copied).prompt_tokens, usage_of(copied).tool_calls) == (None, 0)
    first, *steps = episode(TOLD, None).steps
    silent = [steps[0], steps[1].model_copy(update={"llm_call_count": 0})]
    mixed = episode(TOLD).model_copy(update={"steps": (first, *silent)})
    assert usage_of(mixed, PRICES).cost_usd == pytest.approx(COST)


def test_a_cost_comes_from_the_record_else_from_the_table():
    dear = TOLD.model_copy(update={"cost_usd": 3.0})

    assert usage_of(episode(TOLD, TOLD), PRICES).cost_usd == pytest.approx(2 * COST)
    assert usage_of(episode(TOLD, dear), PRICES).cost_usd == pytest.approx(COST + 3)
    assert usage_of(episode(dear)).cost_usd == 3.0
    assert usage_of(episode(TOLD, model_name="m", model="x"), PRICES).cost_usd is not None


@pytest.mark.parametrize("model", ["unheard-of", None, ""])
def test_a_model_that_is_not_in_the_table_has_no_cost(model):
    assert usage_of(episode(TOLD, model=model), PRICES).cost_usd is None
    assert usage_of(episode(TOLD)).cost_usd is None


def test_further_calls_of_one_answer_are_not_asked_for_tokens():
    found = usage_of(episode(TOLD, None, None, TOLD), PRICES)

    assert (found.prompt_tokens, found.tool_calls) == (2000, 4)
    assert found.cost_usd == pytest.approx(2 * COST)
    first, told, later = episode(TOLD, None).steps
    spoke = later.model_copy(update={"message": "Let me look."})
    another = episode(TOLD).model_copy(update={"steps": (first, told, spoke)})
    assert usage_of(another).prompt_tokens is None


@pytest.mark.parametrize(
    ("stamps", "seconds"),
    [
        (("2026-01-01T00:00:00.500+00:00", "2026-01-01T00:00:02Z"), 1.5),
        (("2026-01-01T00:00:00+00:00", None, "2026-01-01T02:00:00+01:00"), 3600),
        (("2026-01-01T00:00:00", "2026-01-01T00:00:01Z"), 1),
        (("2026-01-01T00:00:00Z",), None),
        (("2026-01-01T00:00:00Z", None), None),
        ((None, "2026-01-01T00:00:00Z"), None),
        (("yesterday", "2026-01-01T00:00:00Z"), None),
        (("2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z"), None),
    ],
)
def test_time_is_known_where_the_first_and_the_last_message_are_stamped(stamps, seconds):
    assert usage_of(stamped(*stamps)).seconds == seconds


def test_lines_are_those_that_were_not_there_and_those_that_are_gone():
    found = usage_of(
        episode(
            extra=changes(
                {"path": "a", "kind": "changed", "before": "1\n2\n3\n", "after": "3\n2\n2\nx\n"},
                {"path": "b", "kind": "added", "after": "1\n2\n"},
                {"path": "c", "kind": "deleted", "before": "1"},
                {"path": "d", "kind": "added", "after": ""},
                {"path": "e", "kind": "added", "after": "1\n", "counted": False},
            )
        )
    )

    assert (found.lines_added, found.lines_removed, found.files_changed) == (4, 2, 4)


def test_lines_of_a_file_without_a_text_are_unknown():
    found = usage_of(episode(extra=changes({"path": "a", "kind": "changed", "before": "1"})))

    assert (found.lines_added, found.lines_removed, found.files_changed) == (None, None, 1)
    with pytest.raises(UsageError, match="what changed"):
        usage_of(episode(extra={"changes": {"files": 3}}))


def test_a_summary_says_of_how_many_each_figure_is_known():
    dear = StepMetrics(prompt_tokens=1, completion_tokens=300)
    found = summarise_usage(map(usage_of, (episode(TOLD), episode(dear), episode(None))))

    assert found.rollouts == 3
    words = found.known["completion_tokens"]
    assert (words.rollouts, words.total, words.median) == (2, 400, 200)
    assert found.known["cached_tokens"].rollouts == 1
    assert found.known["tool_calls"].rollouts == 3
    assert not {"cost_usd", "seconds", "lines_added"} & set(found.known)


def test_what_an_agent_tells_of_its_tokens_is_counted_in_its_episode():
    class Counting:
        name = "counting"

        def reset(self, briefing):
            self.actions = iter([{"tool": "search", "arguments": {"pattern": "a"}}, "done"])

        def act(self, observation):
            return next(self.actions, None)

        def metrics(self):
            return TOLD

    with FakeRuntime().open(fake_task()) as opened:
        found = usage_of(play(Counting(), opened).trajectory)

    assert (found.prompt_tokens, found.completion_tokens, found.tool_calls) == (2000, 200, 1)


def test_a_recorded_run_tells_what_it_changed_and_nothing_of_tokens(toy_tasks, toy_runs):
    lines = {r.id: r.difficulty.lines for r in toy_tasks.recipes}
    for rollout in toy_runs["oracle"].rollouts():
        found = usage_of(rollout.trajectory)
        assert found.lines_added >= lines[rollout.task_id] / 2
        assert found.files_changed >= 1
        assert found.seconds > 0
        assert (found.prompt_tokens, found.cost_usd) == (None, None)
    nothing = usage_of_run(toy_runs["nop"].rollouts())
    assert (nothing.rollouts, nothing.known["files_changed"].total) == (6, 0)
    assert nothing.known["instruction_words"].median > 20


def test_rollouts_without_a_valid_reward_are_no_part_of_what_a_run_took(toy_runs):
    rollouts = list(toy_runs["oracle"].rollouts())
    broken = [replace(r, reward_valid=False) for r in toy_runs["random"].rollouts()]

    assert usage_of_run([*rollouts, *broken]) == usage_of_run(rollouts)

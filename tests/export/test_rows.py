import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.export import FORMATS, Rollout, TurnRecord, rollout_rows, samples_of, turn_records
from codeenv.trajectory import AgentInfo, Recorder, Step, StepMetrics, Trajectory
from codeenv_harness.agents import Metered
from codeenv_harness.episode import play
from codeenv_harness.records import RunFolder
from codeenv_harness.rollout import RunOptions, run

AGENT = AgentInfo(name="a", version="1", tool_definitions=[{"type": "function"}])


def sampled(prompt, output, version=7, logprobs=True):
    return StepMetrics(
        prompt_token_ids=prompt,
        completion_token_ids=output,
        logprobs=[-0.5] * len(output) if logprobs else None,
        extra={"policy_version": version},
    )


@pytest.fixture
def trajectory():
    recorder = Recorder(AGENT, "t__0", now=lambda: "2026-01-01T00:00:00+00:00")
    recorder.instruct("Do it.")
    recorder.call("read_file", {"path": "a"}, "text", {}, metrics=sampled([1, 2], [3, 4]))
    recorder.say("hm", "error", {}, metrics=sampled([1, 2, 3, 4, 5], [6], 8))
    return recorder.finished(None)


def rows(rollout, format="messages"):
    return list(rollout_rows([rollout], format))


def test_a_mask_is_on_what_the_model_wrote(trajectory):
    (row,) = rows(Rollout("t", 0, 1.0, True, {"f": 1.0}, trajectory=trajectory))

    assert [m["role"] for m in row["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert row["mask"] == [0, 1, 0, 1, 0]
    assert (row["reward"], row["reward_valid"], row["graded_components"]) == (1.0, True, {"f": 1.0})
    assert row["tools"] == AGENT.tool_definitions


def test_a_group_is_a_task_under_one_policy(trajectory):
    (row,) = rows(Rollout("t", 3, 1.0, True, trajectory=trajectory))
    assert (row["group_id"], row["rollout"], row["policy_version"]) == ("t@7", 3, 7)
    assert [turn["policy_version"] for turn in row["turns"]] == [7, 8]

    silent = Trajectory(agent=AGENT, steps=trajectory.steps[:1])
    (row,) = rows(Rollout("t", 3, 1.0, True, trajectory=silent))
    assert (row["group_id"], row["policy_version"], row["turns"]) == ("t", None, [])


def test_a_turn_is_what_the_sampler_said(trajectory):
    (row,) = rows(Rollout("t", 0, 1.0, True, trajectory=trajectory))

    assert row["turns"][0] == {
        "turn": 1,
        "prompt_ids": [1, 2],
        "output_ids": [3, 4],
        "output_log_probs": [-0.5, -0.5],
        "output_mask": [1, 1],
        "policy_version": 7,
    }


@pytest.mark.parametrize("format", FORMATS)
def test_a_rollout_that_was_not_graded_is_a_row_without_a_reward(format, trajectory):
    for played in (trajectory, None):
        lost = Rollout("t", 0, 0.0, False, error="the sandbox died", trajectory=played)
        (row,) = rows(lost, format)
        facts = row["extra_info"] if format == "verl" else row

        assert (facts["reward"], facts["reward_valid"]) == (None, False)
        assert facts["error"] == "the sandbox died"
        assert "0.0" not in json.dumps({**facts, "samples": None, "turns": None})


def test_trl_rows_are_prompt_and_completion_and_what_a_rollout_function_returns(trajectory):
    (row,) = rows(Rollout("t", 0, 1.0, True, trajectory=trajectory), "trl")

    assert [m["role"] for m in row["prompt"]] == ["user"]
    assert [m["role"] for m in row["completion"]] == ["assistant", "tool", "assistant", "user"]
    assert row["samples"] == [
        {
            "prompt_ids": [1, 2],
            "completion_ids": [3, 4, 5, 6],
            "logprobs": [-0.5, -0.5, 0.0, -0.5],
            "env_mask": [1, 1, 0, 1],
        }
    ]


def test_verl_rows_have_the_columns_of_its_parquet_files(trajectory):
    (row,) = rows(Rollout("t", 2, 1.0, True, trajectory=trajectory), "verl")

    assert {"data_source", "prompt", "ability", "reward_model", "extra_info"} <= set(row)
    assert row["reward_model"] == {"style": "rule", "ground_truth": "t"}
    assert row["extra_info"]["index"] == 2
    (sample,) = row["samples"]
    assert sample["response_mask"] == [1, 1, 0, 1]
    assert len(sample["response_ids"]) == len(sample["response_logprobs"]) == 4
    assert (sample["reward_score"], sample["num_turns"]) == (1.0, 2)


def test_prime_rl_rows_have_training_samples_and_the_rewards_of_a_trace(trajectory):
    (row,) = rows(Rollout("t", 0, 0.5, True, trajectory=trajectory), "prime-rl")

    assert row["rewards"] == {"codeenv": {"score": 0.5, "weight": 1.0}}
    (sample,) = row["samples"]
    assert sample["token_ids"] == [1, 2, 3, 4, 5, 6]
    assert sample["mask"] == [False, False, True, True, False, True]
    assert sample["logprobs"] == [0.0, 0.0, -0.5, -0.5, 0.0, -0.5]


@pytest.mark.parametrize("logprobs", [True, False])
def test_every_array_of_a_prime_rl_sample_is_as_long_as_its_tokens_or_not_there(logprobs):
    steps = [
        Step(step_id=1, source="agent", message="a", metrics=sampled([1], [2, 3], 7, logprobs))
    ]
    played = Trajectory(agent=AGENT, steps=tuple(steps))

    (row,) = rows(Rollout("t", 0, 0.5, True, trajectory=played), "prime-rl")

    (sample,) = row["samples"]
    assert {len(array) for array in sample.values() if isinstance(array, list)} == {3}
    assert None not in sample.values()
    assert ("logprobs" in sample) == logprobs


@pytest.mark.parametrize(("action", "ok"), [("pass", True), ("mask", False), ("quarantine", False)])
def test_a_rollout_that_a_monitor_took_out_is_not_ok(action, ok, trajectory):
    reward = 0.0 if action == "mask" else 1.0
    watched = Rollout("t", 0, reward, True, {"f": 1.0}, monitor=action, trajectory=trajectory)

    (row,) = rows(watched, "prime-rl")

    assert (row["ok"], row["reward"], row["monitor"]) == (ok, reward, action)
    assert row["rewards"]["codeenv"]["score"] == reward
    assert row["graded_components"] == {"f": 1.0}
    assert row["metrics"] == {"graded_f": 1.0}


def test_a_context_that_was_cut_is_a_row_of_its_own_with_the_same_reward():
    mark = {"segment": {"segment_id": 1, "parent_segment": 0, "trigger": "tokens"}}
    copied = {"source": "user", "message": "Do it. So far: read.", "is_copied_context": True}
    copied["extra"] = mark
    steps = [
        {"source": "user", "message": "Do it."},
        {"source": "agent", "message": "read", "metrics": sampled([1], [2])},
        {"source": "agent", "message": "a summary", "metrics": sampled([1, 2], [3])},
        copied,
        {"source": "agent", "message": "done", "metrics": sampled([9], [4])},
    ]
    made = tuple(Step(step_id=i, **step) for i, step in enumerate(steps, start=1))
    rollout = Rollout("t", 0, 1.0, True, trajectory=Trajectory(agent=AGENT, steps=made))

    first, second = rows(rollout)

    assert (first["mask"], second["mask"]) == ([0, 1, 1], [0, 1])
    assert second["messages"][0]["content"] == copied["message"]
    assert (first["segment"], second["segment"]) == (0, 1)
    assert [row["turns"][-1]["turn"] for row in (first, second)] == [2, 3]
    assert (
        len({(row["rollout_id"], row["group_id"], row["reward"]) for row in (first, second)}) == 1
    )


IDS = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@given(st.lists(st.tuples(st.booleans(), IDS, IDS), max_size=6))
def test_every_sampled_token_is_in_one_sequence_once(turns):
    made, held = [], []
    for number, (goes_on, prompt, output) in enumerate(turns, start=1):
        seen = [*held, *prompt] if goes_on else prompt
        made.append(TurnRecord(number, seen, output, [-1.0] * len(output), [1] * len(output)))
        held = [*seen, *output]

    samples = samples_of(made)

    chosen = [i for s in samples for i, on in zip(s.ids, s.mask, strict=True) if on]
    assert chosen == [i for turn in made for i in turn.output_ids]
    assert sum(sample.turns for sample in samples) == len(made)
    for sample in samples:
        assert [p == -1.0 for p in sample.logprobs] == [bit == 1 for bit in sample.mask]
        assert not any(sample.mask[: sample.prompt])


def test_missing_log_probs_are_told_not_made_up():
    steps = [
        Step(step_id=1, source="agent", message="a", metrics=sampled([1], [2])),
        Step(step_id=2, source="agent", message="b", metrics=sampled([1, 2], [3], logprobs=False)),
    ]

    (sample,) = samples_of(turn_records(steps))

    assert sample.logprobs is None


@pytest.mark.parametrize("chances", [[-0.5], [-0.5, float("-inf")], [float("nan"), -1.0]])
def test_log_probs_that_do_not_fit_are_refused(chances):
    with pytest.raises(ValueError, match="log-probability"):
        StepMetrics(completion_token_ids=[1, 2], logprobs=chances)


class Sampler:
    """An agent that hands its tokens over."""

    name = "sampler"

    def reset(self, briefing):
        self.turn = 0

    def act(self, observation):
        self.turn += 1
        return [{"tool": "submit", "arguments": {}}, "gibberish"][self.turn % 2]

    def metrics(self):
        return sampled([self.turn], [9])


def test_what_a_sampled_agent_tells_of_its_tokens_is_recorded():
    agent = Sampler()
    assert isinstance(agent, Metered)
    runtime = FakeRuntime()
    recipe = fake_taskset("a").recipes[0]

    played = play(agent, runtime.open(runtime.task(recipe, fake_taskset("a"))))

    turns = turn_records(played.trajectory.steps)
    assert [(turn.turn, turn.prompt_ids) for turn in turns] == [(1, [1]), (2, [2])]


def test_a_run_gives_its_rollouts_those_that_never_began_too(tmp_path):
    options = RunOptions("nop", rollouts=2, retries=0, out=tmp_path)
    run(fake_taskset("a", "b"), options, FakeRuntime(failures=1))

    found = list(RunFolder(tmp_path).rollouts())

    assert [(r.task_id, r.rollout) for r in found] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert [r.trajectory is None for r in found] == [True, False, False, False]
    assert [r.reward_valid for r in found] == [False, True, True, True]
    assert len({row["group_id"] for row in rollout_rows(found)}) == 2

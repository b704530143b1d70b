"""An episode that a trainer samples: from tokens to a record, and from that to pairs and rows."""

import pytest

from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.export import samples_of, turn_records
from codeenv.feedback import build_teacher_pair
from codeenv.trajectory import messages_of
from codeenv_harness.agents import Sampled, SampledAgent
from codeenv_harness.episode import play
from tests.feedback.talks import check, event_at
from tests.feedback.templates import CHATML, FORGETFUL, HEADERS, tokenizer_with

SAID = [
    'I look.<tool_call>\n{"name": "read_fil",  "arguments": {"path": "calc.py"}}\n</tool_call>',
    "I do not know.",
    '{"tool": "submit", "arguments": {}}',
]


def played(tokenizer, said=SAID, end=True):
    """Play what a model says, one token of a character at a time where it has letters."""
    seen = []

    def sample(ids):
        text = said[len(seen)]
        seen.append(ids)
        parts = [i for c in text for i in tokenizer(c, add_special_tokens=False)["input_ids"]]
        parts += [tokenizer.eos_token_id] if end else []
        return Sampled(parts, [-1.0] * len(parts), policy_version=5)

    runtime, tasks = FakeRuntime(), fake_taskset("a")
    episode = runtime.open(runtime.task(tasks.recipes[0], tasks))
    done = play(SampledAgent(tokenizer, sample), episode)
    assert done.outcome.reward_valid, done.outcome.error
    return done.trajectory, seen


@pytest.mark.parametrize("end", [True, False])
@pytest.mark.parametrize(("template", "stop"), [(CHATML, "<|im_end|>"), (HEADERS, "<|eot|>")])
def test_what_was_sampled_stays_as_it_was_and_is_one_sequence(template, stop, end):
    tokenizer = tokenizer_with(template, stop)

    trajectory, seen = played(tokenizer, end=end)

    turns = turn_records(trajectory.steps)
    assert [turn.prompt_ids for turn in turns] == seen
    (sample,) = samples_of(turns)
    assert sample.turns == 3
    assert sum(sample.mask) == sum(len(turn.output_ids) for turn in turns)
    assert sample.logprobs is not None
    assert {turn.policy_version for turn in turns} == {5}


def test_the_prompts_are_those_the_record_renders():
    tokenizer = tokenizer_with(HEADERS, "<|eot|>")
    said = ["I do not know.", '{"tool": "submit", "arguments": {}}']

    trajectory, seen = played(tokenizer, said)

    assert tokenizer.decode(seen[1]) == tokenizer.apply_chat_template(
        messages_of(trajectory)[:3],
        tools=trajectory.agent.tool_definitions,
        add_generation_prompt=True,
        tokenize=False,
    )


@pytest.mark.parametrize("placement", ["before_target", "append_last"])
@pytest.mark.parametrize("turn", [1, 2, 3])
def test_pairs_are_made_of_the_sampled_tokens(turn, placement):
    tokenizer = tokenizer_with(CHATML)
    trajectory, seen = played(tokenizer)

    pair = build_teacher_pair(
        trajectory, event_at(trajectory, turn, "tool_name"), tokenizer, placement=placement
    )

    check(pair)
    assert list(pair.student_ids[: len(seen[turn - 1])]) == seen[turn - 1]
    assert pair.logprobs == (-1.0,) * len(pair.span_mask)
    assert pair.granularity == ("message" if turn == 2 else "span")


def test_a_template_that_rewrites_begins_a_sequence_anew():
    tokenizer = tokenizer_with(FORGETFUL)
    said = ["<think>so</think>first", "<think>now</think>second", *SAID[2:]]

    trajectory, _ = played(tokenizer, said)

    samples = samples_of(turn_records(trajectory.steps))
    assert [sample.turns for sample in samples] == [1, 1, 1]

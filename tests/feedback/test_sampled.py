"""An episode that a trainer samples: from tokens to a record, and from that to pairs and rows."""

import json

import pytest

from codeenv.env.fake import FakeRuntime, fake_taskset
from codeenv.export import Rollout, rollout_rows, samples_of, turn_records
from codeenv.feedback import build_teacher_pair
from codeenv.trajectory import messages_of
from codeenv_harness.agents import Sampled, SampledAgent
from codeenv_harness.agents.sampled import action_in
from codeenv_harness.effort import effort_of_trajectory
from codeenv_harness.episode import play
from tests.feedback.talks import check, event_at
from tests.feedback.templates import CHATML, FORGETFUL, HEADERS, tokenizer_with

SAID = [
    'I look.<tool_call>\n{"name": "read_fil",  "arguments": {"path": "calc.py"}}\n</tool_call>',
    "I do not know.",
    '{"tool": "submit", "arguments": {}}',
]
THINKING = FORGETFUL.replace(
    "{%- else %}{{ message.content }}",
    "{%- else %}{% if message.reasoning_content %}<think>{{ message.reasoning_content }}</think>"
    "{% endif %}{{ message.content }}",
)
"""Writes the thoughts of the turns behind the last user message, and no others."""
OPENED = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}").replace(
    "{{ message.role }}\n{{ message.content }}",
    "{{ message.role }}\n{% if message.reasoning_content %}<think>\n"
    "{{ message.reasoning_content }}\n</think>\n{% endif %}{{ message.content }}",
)
"""Opens a turn with its thoughts."""
SUBMIT = '<tool_call>{"name": "submit", "arguments": {}}</tool_call>'
READ = '<tool_call>{"name": "read_file", "arguments": {"path": "calc.py"}}</tool_call>'


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
    tokenizer = tokenizer_with(THINKING)
    said = ["<think>so</think>first", "<think>now</think>second", *SAID[2:]]

    trajectory, _ = played(tokenizer, said)

    samples = samples_of(turn_records(trajectory.steps))
    assert [sample.turns for sample in samples] == [1, 1, 1]


def test_what_is_said_and_thought_around_a_call_is_in_the_record_the_rows_and_the_effort():
    tokenizer = tokenizer_with(CHATML)
    thought = "I wonder. " * 200
    long = [f"<think>{thought}</think>\nI look.\n{READ}\nSo.", SUBMIT]

    trajectory, seen = played(tokenizer, long)
    short, _ = played(tokenizer, [READ, SUBMIT])

    step = trajectory.steps[1]
    assert (step.message, step.reasoning_content) == ("I look.\nSo.", thought.strip())
    assert step.tool_calls[0].arguments == {"path": "calc.py"}
    (row,) = rollout_rows([Rollout("a", 0, 0.0, True, trajectory=trajectory)])
    assert row["messages"][1]["content"] == "I look.\nSo."
    assert row["messages"][1]["reasoning_content"] == thought.strip()
    effort, less = effort_of_trajectory(trajectory), effort_of_trajectory(short)
    written = sum(len(turn.output_ids) for turn in turn_records(trajectory.steps))
    assert effort.thinking + effort.call + effort.final == written
    assert effort.thinking > 1000 > less.thinking == 0
    (sample,) = samples_of(turn_records(trajectory.steps))
    assert tokenizer.decode(sample.ids).count(long[0]) == 1
    assert [turn.prompt_ids for turn in turn_records(trajectory.steps)] == seen


@pytest.mark.parametrize("end", [True, False])
def test_thoughts_that_the_prompt_opened_are_thoughts(end):
    said = [f"so\n</think>\n{READ}", "I never get to", f"done</think>{SUBMIT}"]

    trajectory, _ = played(tokenizer_with(OPENED), said, end)

    found = [(s.reasoning_content, s.message, bool(s.tool_calls)) for s in trajectory.steps[1:]]
    assert found == [("so", "", True), ("I never get to", "", False), ("done", "", True)]


def test_of_two_calls_the_first_is_carried_out_and_the_other_is_kept_as_words():
    trajectory, _ = played(tokenizer_with(CHATML), [f"{READ}\n{SUBMIT}", SUBMIT])

    first, last = trajectory.steps[1:]
    assert (first.tool_calls[0].function_name, first.extra["tool"]["error"]) == ("read_file", "")
    assert first.message == SUBMIT
    assert (last.tool_calls[0].function_name, last.message) == ("submit", "")


TAGS = '<tool_call>{"name": "a", "arguments": {"x": "</tool_call> <think>"}}</tool_call>'


@pytest.mark.parametrize(
    ("text", "action"),
    [
        (TAGS, {"tool": "a", "arguments": {"x": "</tool_call> <think>"}}),
        (f"<tool_call>{{</tool_call>{TAGS}", "<tool_call>{</tool_call>"),
        ('<tool_call>{"name": "a", "arguments": 3}</tool_call>', '{"name": "a", "arguments": 3}'),
        (
            'I call <tool_call>{"name": "a"</tool_call>',
            'I call <tool_call>{"name": "a"</tool_call>',
        ),
        (f"{SUBMIT[:-12]} more", f"{SUBMIT[:-12]} more"),
        (
            '<think>so</think>{"tool": "a"}',
            {"tool": "a", "arguments": {}, "reasoning_content": "so"},
        ),
        ("<think>so</think>Done.", {"content": "Done.", "reasoning_content": "so"}),
        (f"<think>so {SUBMIT}", {"content": "", "reasoning_content": f"so {SUBMIT}"}),
        ("I say <think>", "I say <think>"),
        ("<tool_call>" + " " * 10**6 + "x", "<tool_call>" + " " * 10**6 + "x"),
        ("<tool_call>" + "[" * 100_000, "<tool_call>" + "[" * 100_000),
    ],
)
def test_the_action_in_a_text_is_its_first_whole_call_or_the_text(text, action):
    found = action_in(text)

    if isinstance(found, dict) and isinstance(action, str):
        assert found["content"] == action
    else:
        assert found == action


def test_a_call_of_a_template_is_read_back_as_it_was():
    arguments = {"a": "\u2028 <tool_call>", "b": [1, {"c": None}]}
    text = f"<tool_call>{json.dumps({'name': 'x', 'arguments': arguments})}</tool_call>"

    assert action_in(text) == {"tool": "x", "arguments": arguments}

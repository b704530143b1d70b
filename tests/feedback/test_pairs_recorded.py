"""Pairs from trajectories in which a sampler left its own token ids."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.errors import UsageError
from codeenv.feedback import PlainRenderer, build_teacher_pair
from codeenv.trajectory import Trajectory, messages_of
from codeenv.trajectory.models import StepMetrics
from tests.feedback.talks import HINT, check, event_at, marked, talk
from tests.feedback.templates import ALTERNATING, CHATML, HEADERS, tokenizer_with

READ = ("read_file", {"path": "src/b.py", "ünï": "日本"}, "error: no such file.")
TALK = talk(("I look.", [READ]), ("Again.", [READ, READ]), ("", [READ]))
OWN = (
    'Again.\n<tool_call>\n{"arguments": {"path":"src/b.py","ünï":"\\u65e5本"},'
    ' "name":"read_file"}\n'
)


def sampled(trajectory, tokenizer, cuts=(), own=None, end=True):
    """Return the trajectory as a sampler leaves it: its ids need not be the tokenizer's own."""
    ids, steps = [], []
    messages = messages_of(trajectory)
    at = 0
    for step in trajectory.steps:
        if step.source == "agent":
            prompt = tokenizer.apply_chat_template(
                messages[:at], tokenize=False, add_generation_prompt=True
            )
            rendered = tokenizer.apply_chat_template(messages[: at + 1], tokenize=False)
            shown = tokenizer.decode(ids) if ids else ""
            ids += tokenizer(prompt[len(shown) :], add_special_tokens=False)["input_ids"]
            text = own if own and step.message == "Again." else rendered[len(prompt) :].rstrip()
            text = text.removesuffix(tokenizer.eos_token)
            output = pieces(tokenizer, text, cuts) + ([tokenizer.eos_token_id] if end else [])
            metrics = StepMetrics(prompt_token_ids=[*ids], completion_token_ids=output)
            step = step.model_copy(update={"metrics": metrics})
            ids += output
            if own and step.message == "Again.":
                ids = tokenizer(rendered.rstrip(), add_special_tokens=False)["input_ids"]
        steps.append(step)
        at += 1 + (len(step.observation.results) if step.observation else 0)
    return Trajectory(agent=trajectory.agent, steps=tuple(steps))


def pieces(tokenizer, text, cuts):
    """Tokenise a text in pieces, as no tokenizer would."""
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    parts = [text[a:b] for a, b in pairwise(places)]
    return [i for part in parts for i in tokenizer(part, add_special_tokens=False)["input_ids"]]


@settings(max_examples=60, deadline=None)
@given(
    style=st.sampled_from([(CHATML, "<|im_end|>"), (HEADERS, "<|eot|>"), (ALTERNATING, "</s>")]),
    cuts=st.lists(st.integers(1, 60), max_size=12),
    turn=st.integers(1, 3),
    end=st.booleans(),
)
def test_the_student_is_what_was_sampled_token_by_token(style, cuts, turn, end):
    tokenizer = tokenizer_with(*style)
    trajectory = sampled(TALK, tokenizer, cuts, end=end or turn > 1)
    metrics = [step.metrics for step in trajectory.steps if step.metrics][turn - 1]

    pair = build_teacher_pair(
        trajectory, event_at(trajectory, turn), tokenizer, placement="append_last"
    )

    check(pair)
    assert pair.student_ids == (*metrics.prompt_token_ids, *metrics.completion_token_ids)
    assert (
        tokenizer.decode(pair.teacher_ids).replace(HINT, "", 1).replace("\n\n", "")
        == (tokenizer.decode(pair.student_ids).replace("\n\n", ""))
        or style[0] == HEADERS
    )  # writes the newlines escaped


def test_a_hint_leaves_sampled_tokens_before_it_as_they_are():
    tokenizer = tokenizer_with(CHATML)
    trajectory = sampled(TALK, tokenizer, range(60))
    recorded = [step.metrics for step in trajectory.steps if step.metrics][2].prompt_token_ids

    pair = build_teacher_pair(trajectory, event_at(trajectory, 3), tokenizer)

    start, hint = pair.teacher_span[0], pair.hint_tokens
    before = [i for i in range(start) if list(pair.teacher_ids[:i]) == recorded[:i]][-1]
    assert [*pair.teacher_ids[:before], *pair.teacher_ids[before + hint : start]] == recorded


@pytest.mark.parametrize(
    ("part", "chars", "call", "expected"),
    [
        ("arguments", (29, 31), 0, "日本"),
        ("arguments", (10, 18), 0, "src/b.py"),
        ("tool_name", (0, 0), 0, "read_file"),
        ("content", (0, 5), 0, "Again"),
    ],
)
def test_a_part_is_found_in_tokens_that_no_tokenizer_would_make(part, chars, call, expected):
    tokenizer = tokenizer_with(CHATML)
    once = talk(("Again.", [READ]))
    trajectory = sampled(once, tokenizer, range(0, 90, 2))
    assert '"ünï": "日本"' in tokenizer.apply_chat_template(messages_of(once), tokenize=False)

    pair = build_teacher_pair(trajectory, event_at(trajectory, 1, part, chars, call), tokenizer)

    check(pair)
    assert pair.granularity == "span"
    assert expected in marked(pair, tokenizer)
    assert len(marked(pair, tokenizer)) <= len(expected) + 3


def test_arguments_are_followed_into_the_models_own_spelling():
    tokenizer = tokenizer_with(CHATML)
    trajectory = sampled(talk(("Again.", [READ])), tokenizer, own=OWN)

    pair = build_teacher_pair(trajectory, event_at(trajectory, 1, "arguments", (29, 30)), tokenizer)

    assert pair.granularity == "span"
    assert "\\u65e5" in marked(pair, tokenizer)
    assert "本" not in marked(pair, tokenizer)


def test_ids_of_another_tokenizer_are_refused():
    trajectory = sampled(TALK, tokenizer_with(HEADERS, "<|eot|>"))

    with pytest.raises(UsageError, match="recorded prompt") as raised:
        build_teacher_pair(trajectory, event_at(trajectory, 2), tokenizer_with(CHATML))

    assert "sampler" in raised.value.hint


def test_without_a_way_back_to_text_the_mask_is_the_message():
    def tokenise(text):
        return [ord(c) for c in text], [(i, i + 1) for i in range(len(text))]

    once = talk(("Again.", [READ]))
    metrics = StepMetrics(completion_token_ids=[1, 2, 3])
    steps = (once.steps[0], once.steps[1].model_copy(update={"metrics": metrics}))
    trajectory = Trajectory(agent=once.agent, steps=steps)

    pair = build_teacher_pair(
        trajectory, event_at(trajectory, 1, "content", (0, 2)), PlainRenderer(tokenise)
    )

    check(pair)
    assert pair.granularity == "message"
    assert pair.student_ids[-3:] == (1, 2, 3)

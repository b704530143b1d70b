import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeenv.errors import UsageError
from codeenv.feedback import ChatTemplate, PlainRenderer, build_teacher_pair
from codeenv.trajectory import Step, Trajectory, arguments_text, messages_of
from tests.feedback.talks import HINT, check, event_at, marked, talk
from tests.feedback.templates import (
    ALTERNATING,
    CHATML,
    DEAF,
    HOISTING,
    STYLES,
    TALKATIVE,
    tokenizer_with,
)

READ = ("read_file", {"path": "src/b.py", "start": 3}, "error: no such file")
EDIT = ("edit_file", {"path": "src/a.py", "old": 'x = "ä"\n', "new": "\ty = {}"}, "edited")
TALK = talk(("I look.", [READ, EDIT]), ("", [EDIT]), ("Done?", []), ("", [READ]))
BY_CHARACTER = PlainRenderer(
    lambda text: ([ord(c) for c in text], [(i, i + 1) for i in range(len(text))]),
    lambda ids: "".join(map(chr, ids)),
)


WORDS = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="<|>[]\r"), min_size=1, max_size=20
)
VALUES = st.one_of(WORDS, st.integers(), st.booleans(), st.none(), st.lists(WORDS, max_size=2))
CALLS = st.tuples(
    st.sampled_from(["read_file", "run_command", "x"]),
    st.dictionaries(st.sampled_from(["path", "cmd", "é", '"']), VALUES, max_size=3),
    WORDS,
)
TURNS = st.tuples(WORDS, st.lists(CALLS, max_size=3))


@pytest.fixture(params=[*STYLES, "plain"])
def renderer(request):
    if request.param == "plain":
        return BY_CHARACTER
    return tokenizer_with(*STYLES[request.param])


@pytest.mark.parametrize("turn", [1, 2, 3, 4])
def test_a_pair_is_one_turn_behind_two_contexts(renderer, turn):
    pair = build_teacher_pair(TALK, event_at(TALK, turn), renderer, placement="append_last")

    check(pair)
    assert HINT not in renderer.decode(pair.student_ids)
    shown = renderer.decode(pair.teacher_ids)
    assert HINT in shown
    assert shown.replace(HINT, "", 1).replace("\n\n", "") != shown
    assert pair.granularity == "message"
    assert all(pair.span_mask)


@pytest.mark.parametrize("style", ["chatml", "headers", "plain", "forgetful"])
@pytest.mark.parametrize("role", ["user", "system"])
def test_a_hint_is_a_message_of_its_own_right_before_the_turn(style, role):
    tokenizer = BY_CHARACTER if style == "plain" else tokenizer_with(*STYLES[style])
    pair = build_teacher_pair(TALK, event_at(TALK, 2), tokenizer, hint_role=role)

    check(pair)
    start = pair.teacher_span[0]
    assert (
        pair.teacher_ids[: start - pair.hint_tokens] != pair.teacher_ids[pair.hint_tokens : start]
    )
    context = tokenizer.decode(pair.teacher_ids[:start])
    assert context.rindex(HINT) > context.rindex("edited")
    assert role in context[context.rindex("edited") :]


def test_the_student_is_a_prefix_of_the_whole_conversation():
    tokenizer = tokenizer_with(CHATML)
    whole = tokenizer.apply_chat_template(messages_of(TALK), tokenize=True, return_dict=False)

    for turn in (1, 2, 3, 4):
        pair = build_teacher_pair(TALK, event_at(TALK, turn), tokenizer)

        assert pair.student_ids == tuple(whole[: len(pair.student_ids)])


@pytest.mark.parametrize("style", STYLES)
def test_the_token_that_ends_the_turn_is_the_last_of_the_span(style):
    template, end = STYLES[style]
    tokenizer = tokenizer_with(template, end)

    pair = build_teacher_pair(TALK, event_at(TALK, 2), tokenizer, placement="append_last")

    assert pair.student_ids[-1] == tokenizer.convert_tokens_to_ids(end)


def test_what_a_template_writes_behind_the_end_of_a_turn_must_be_told_apart():
    tokenizer = tokenizer_with(TALKATIVE)
    with pytest.raises(UsageError) as raised:
        build_teacher_pair(TALK, event_at(TALK, 2), tokenizer)
    assert "end_of_turn" in raised.value.hint

    told = ChatTemplate(tokenizer, end_of_turn="<|im_end|>")
    pair = build_teacher_pair(TALK, event_at(TALK, 2), told)

    check(pair)
    assert pair.student_ids[-1] == tokenizer.convert_tokens_to_ids("<|im_end|>")


def test_a_template_that_wants_roles_to_alternate_says_what_to_do():
    tokenizer = tokenizer_with(ALTERNATING, "</s>")

    with pytest.raises(UsageError) as raised:
        build_teacher_pair(TALK, event_at(TALK, 1), tokenizer)

    assert "append_last" in raised.value.hint


def test_a_template_that_forgets_reasoning_for_a_hint_is_refused():
    thoughtful = talk(("<think>so</think>I look.", [READ]), ("", [EDIT]))
    tokenizer = tokenizer_with(*STYLES["forgetful"])

    with pytest.raises(UsageError, match="rewrites") as raised:
        build_teacher_pair(thoughtful, event_at(thoughtful, 2), tokenizer)
    assert "append_last" in raised.value.hint
    pair = build_teacher_pair(
        thoughtful, event_at(thoughtful, 2), tokenizer, placement="append_last"
    )
    check(pair)
    assert "so</think>" in tokenizer.decode(pair.teacher_ids)


def test_a_template_that_moves_the_hint_away_from_the_turn_is_refused():
    tokenizer = tokenizer_with(HOISTING)

    with pytest.raises(UsageError, match="rewrites") as raised:
        build_teacher_pair(TALK, event_at(TALK, 2), tokenizer, hint_role="system")
    assert "hint_role" in raised.value.hint
    check(build_teacher_pair(TALK, event_at(TALK, 2), tokenizer))


def test_a_template_that_hides_calls_or_results_is_refused():
    tokenizer = tokenizer_with(DEAF)
    silent = talk(("", [READ]))

    with pytest.raises(UsageError, match="tool said"):
        build_teacher_pair(TALK, event_at(TALK, 2), tokenizer)
    with pytest.raises(UsageError, match="called"):
        build_teacher_pair(silent, event_at(silent, 1), tokenizer)


def test_an_event_about_what_the_agent_did_not_say_is_refused():
    event = event_at(TALK, 1)
    wrong = event.model_copy(update={"target": event.target.model_copy(update={"message": 0})})

    with pytest.raises(UsageError, match="none of the agent's"):
        build_teacher_pair(TALK, wrong, BY_CHARACTER)


def test_what_was_cut_from_the_context_is_in_neither_prompt():
    first, *rest = talk(("I look.", [READ]), ("A summary.", [])).steps
    again = {"source": "user", "message": "Go on from a summary.", "is_copied_context": True}
    again["extra"] = {"segment": {"segment_id": 1, "parent_segment": 0, "trigger": "tokens"}}
    steps = [first, *rest, Step(step_id=4, **again), rest[0].model_copy(update={"step_id": 5})]
    cut = Trajectory(agent=TALK.agent, steps=tuple(steps))

    pair = build_teacher_pair(cut, event_at(cut, 3), BY_CHARACTER)

    check(pair)
    shown = BY_CHARACTER.decode(pair.student_ids)
    assert shown.startswith("<|user|>\nGo on from a summary.")


def test_a_hint_cannot_end_its_message():
    tokenizer = tokenizer_with(CHATML)
    event = event_at(TALK, 2, hint="No tool <|im_end|> is known.")

    pair = build_teacher_pair(TALK, event, tokenizer)

    ends = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert pair.teacher_ids.count(ends) == pair.student_ids.count(ends) + 1


def test_a_template_that_wants_arguments_as_text_gets_text():
    tokenizer = tokenizer_with(CHATML.replace("arguments | tojson", "arguments + ''"))
    event = event_at(TALK, 2, "arguments", (10, 18))
    with pytest.raises(UsageError) as raised:
        build_teacher_pair(TALK, event, tokenizer)
    assert "arguments='text'" in raised.value.hint

    pair = build_teacher_pair(TALK, event, ChatTemplate(tokenizer, arguments="text"))

    assert marked(pair, tokenizer) == "src/a.py"


PARTS = [
    ("tool_name", (0, 0), 0, "read_file"),
    ("tool_name", (0, 4), 1, "edit"),
    ("content", (2, 6), 0, "look"),
]


@pytest.mark.parametrize(("part", "chars", "call", "expected"), PARTS)
def test_a_mask_is_on_the_part_that_the_event_is_about(renderer, part, chars, call, expected):
    event = event_at(TALK, 1, part, chars, call)

    pair = build_teacher_pair(TALK, event, renderer, placement="append_last")

    check(pair)
    assert pair.granularity == "span"
    assert expected in marked(pair, renderer)
    assert len(marked(pair, renderer)) <= len(expected) + 12  # tokens may overlap the borders


@pytest.mark.parametrize("key", ["path", "old", "new"])
def test_arguments_are_found_however_a_template_spells_them(renderer, key):
    arguments = EDIT[1]
    written = arguments_text(arguments)
    value = json.dumps(arguments[key], ensure_ascii=False)[1:-1]
    start = written.index(value)
    event = event_at(TALK, 1, "arguments", (start, start + len(value)), call=1)

    pair = build_teacher_pair(TALK, event, renderer, placement="append_last")

    check(pair)
    shown = marked(pair, renderer)
    assert pair.granularity == "span"
    assert value in shown or arguments[key] in shown
    assert len(shown) <= len(value) + 12


def test_a_part_that_cannot_be_told_apart_is_the_whole_message():
    twice = talk(("", [("copy", {"a": "same", "b": "same"}, "ok")]))
    start = arguments_text({"a": "same"}).index("same")
    event = event_at(twice, 1, "arguments", (start, start + 4))

    exact = build_teacher_pair(twice, event, tokenizer_with(CHATML))
    vague = build_teacher_pair(twice, event, tokenizer_with(*STYLES["forgetful"]))

    assert (exact.granularity, vague.granularity) == ("span", "message")
    assert all(vague.span_mask)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_mask_has_all_characters_of_the_target_and_no_other_message(data):
    tokenizer = tokenizer_with(CHATML)
    trajectory = talk(*data.draw(st.lists(TURNS, min_size=1, max_size=3)))
    turn = data.draw(st.integers(1, len(trajectory.steps) - 1))
    step = trajectory.steps[turn]
    call = data.draw(st.integers(0, max(0, len(step.tool_calls or ()) - 1)))
    made = step.tool_calls[call] if step.tool_calls else None
    texts = {"content": step.message}
    if made:
        texts["tool_name"] = made.function_name
        texts["arguments"] = arguments_text(made.arguments)
    part = data.draw(st.sampled_from(sorted(texts)))
    start = data.draw(st.integers(0, len(texts[part]) - 1))
    end = data.draw(st.integers(start + 1, len(texts[part])))

    event = event_at(trajectory, turn, part, (start, end), call)
    pair = build_teacher_pair(trajectory, event, tokenizer)

    assert pair.granularity == "span"
    assert texts[part][start:end] in marked(pair, tokenizer)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), style=st.sampled_from([*STYLES, "plain"]))
def test_every_pair_keeps_the_invariants_or_says_why_there_is_none(data, style):
    tokenizer = BY_CHARACTER if style == "plain" else tokenizer_with(*STYLES[style])
    trajectory = talk(*data.draw(st.lists(TURNS, min_size=1, max_size=4)))
    turn = data.draw(st.integers(1, len(trajectory.steps) - 1))
    part = data.draw(st.sampled_from(["message", "tool_name", "arguments", "content"]))
    start, length = data.draw(st.integers(0, 30)), data.draw(st.integers(0, 10))
    event = event_at(trajectory, turn, part, (start, start + length))
    placement = data.draw(st.sampled_from(["before_target", "append_last"]))

    may_refuse = style in ("alternating", "forgetful")
    try:
        pair = build_teacher_pair(trajectory, event, tokenizer, placement=placement)
    except UsageError as error:
        if not may_refuse or not error.hint:
            raise
        return

    check(pair)
    assert HINT not in tokenizer.decode(pair.student_ids)
    assert HINT in tokenizer.decode(pair.teacher_ids)
    if part == "message":
        assert pair.granularity == "message"

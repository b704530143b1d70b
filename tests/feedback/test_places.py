"""Spans lie where they are said to, whatever an agent writes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.feedback import FeedbackEvent, Observer, feedback_of, said, target_text, turn_of
from codeenv.feedback.spans import members
from codeenv.tools import ToolCall, ToolResult
from codeenv.trajectory import AgentInfo, Recorder, arguments_text, messages_of

TEXTS = st.text(max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(TEXTS, SCALARS, max_size=3)
KEYS = st.sampled_from(["path", "old_str", "command", "message", "start_line"]) | TEXTS
TOOLS = st.sampled_from(["read_file", "edit_file", "run_command", "search", "submit"]) | TEXTS
CODES = (
    "invalid_action", "unknown_tool", "bad_arguments", "not_found", "not_unique", "no_match",
    "binary", "outside_repo", "protected_path", "too_large", "timeout", "episode_over", "",
)  # fmt: skip
CALLS = st.builds(
    lambda tool, arguments: {"tool": tool, "arguments": arguments},
    TOOLS,
    st.dictionaries(KEYS, VALUES, max_size=4),
)
ANSWERS = st.sampled_from(CODES).flatmap(
    lambda code: st.builds(
        lambda text, left: ToolResult("x", text, ok=not code, error=code, exit_code=left),
        TEXTS | st.sampled_from(["FAILED a::b - c", "1 failed in 0.1s", "start_line path"]),
        st.none() | st.integers(0, 2),
    )
)
PLAYED = st.lists(st.tuples(CALLS | TEXTS | SCALARS, ANSWERS), max_size=8)


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_every_key_and_value_is_found_exactly(arguments):
    text = arguments_text(arguments)
    where = members(text)

    assert list(where) == list(arguments)
    for name, (key, value) in where.items():
        assert json.loads(text[slice(*key)]) == name
        assert text[slice(*value)] == json.dumps(arguments[name], ensure_ascii=False)


def test_a_value_that_looks_like_a_key_is_not_taken_for_one():
    text = arguments_text({"a": '"path": 1', "b": {"path": 2}, "path": 3})

    assert text[slice(*members(text)["path"][1])] == "3"


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"a"', '{"a": ', '{"a": x}', '"a"', "{a: 1}"])
def test_a_text_that_is_no_object_has_no_places(text):
    assert members(text) == {}


def recorded(played):
    """Return the events of an episode as it is played, and its record."""
    observer, recorder = Observer(), Recorder(AgentInfo(name="a", version="1"), "t")
    recorder.instruct("do")
    seen = []
    for number, (action, result) in enumerate(played, start=1):
        made = said(action)
        seen += observer.observe(turn_of(number, made, result))
        facts = {"tool": {"ok": result.ok, "error": result.error, "exit_code": result.exit_code,
                          "name": result.name}}  # fmt: skip
        if isinstance(made, ToolCall):
            recorder.call(made.tool, made.arguments, result.text, facts)
        else:
            recorder.say(made, result.text, facts)
    return seen, recorder.finished(None)


@given(PLAYED)
def test_every_span_lies_within_its_text(played):
    seen, trajectory = recorded(played)
    messages = messages_of(trajectory)

    for event in seen:
        text = target_text(messages, event.target)
        assert text is not None
        assert 0 <= event.target.chars[0] <= event.target.chars[1] <= len(text)


@given(PLAYED)
def test_a_record_has_the_events_of_its_episode(played):
    seen, trajectory = recorded(played)

    assert feedback_of(trajectory) == tuple(seen) == tuple(recorded(played)[0])


@given(PLAYED)
def test_ids_are_unique_and_events_survive_json(played):
    seen, _ = recorded(played)

    assert len({event.id for event in seen}) == len(seen)
    for event in seen:
        assert FeedbackEvent.model_validate_json(event.model_dump_json()) == event
        plain = json.loads(json.dumps(event.model_dump(mode="json")))
        assert FeedbackEvent.model_validate(plain) == event


@given(PLAYED, st.integers(0, 8))
def test_a_fork_goes_on_like_its_origin(played, at):
    origin = Observer()
    turns = [turn_of(n, said(a), r) for n, (a, r) in enumerate(played, start=1)]
    for turn in turns[:at]:
        origin.observe(turn)
    branch = origin.fork()

    rest = [origin.observe(turn) for turn in turns[at:]]
    assert [branch.observe(turn) for turn in turns[at:]] == rest


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (
            {"tool": "x", "arguments": "{bad", "content": "hm"},
            'hm\n{"tool": "x", "arguments": "{bad"}',
        ),
        ({"tool": 5, "reasoning": "never shown"}, '{"tool": 5}'),
        ({"role": "assistant", "content": "only words"}, "only words"),
        ({}, "{}"),
        (7, "7"),
    ],
)
def test_what_is_no_call_is_written_down_as_it_would_be_said(action, text):
    assert said(action) == text

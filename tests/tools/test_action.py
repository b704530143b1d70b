import json

import pytest
from pydantic import BaseModel

from codeenv.tools import ToolCall, ToolContext, ToolResult, parse_action, perform

CALL = ToolCall(tool="read_file", arguments={"path": "a.py"})
TEXT = json.dumps({"path": "a.py"})


class Function(BaseModel):
    name: str = "read_file"
    arguments: str = TEXT


class ChatToolCall(BaseModel):
    id: str = "call_1"
    type: str = "function"
    function: Function = Function()


@pytest.mark.parametrize(
    "action",
    [
        CALL,
        {"tool": "read_file", "arguments": {"path": "a.py"}},
        {"tool": "read_file", "arguments": TEXT},
        {"name": "read_file", "arguments": {"path": "a.py"}},
        {"id": "x", "type": "function", "function": {"name": "read_file", "arguments": TEXT}},
        {"type": "function_call", "name": "read_file", "arguments": TEXT, "call_id": "x"},
        json.dumps({"tool": "read_file", "arguments": {"path": "a.py"}}),
        json.dumps({"tool": "read_file", "arguments": {"path": "a.py"}}).encode(),
        json.dumps({"function": {"name": "read_file", "arguments": TEXT}}),
        ChatToolCall(),
    ],
)
def test_every_shape_of_a_tool_call_is_the_same_call(action):
    assert parse_action(action) == CALL


@pytest.mark.parametrize("nothing", [None, "", {}, "{}", "null"])
def test_no_arguments_may_be_said_in_many_ways(nothing):
    assert parse_action({"tool": "submit", "arguments": nothing}) == ToolCall(tool="submit")


@pytest.mark.parametrize(
    "action",
    [
        None,
        7,
        "",
        "ls -la",
        "{",
        "[]",
        "[" * 100_000,
        "1" * 10_000,
        {},
        {"tool": 3},
        {"tool": ""},
        {"arguments": {}},
        {"tool": "read_file", "arguments": "{"},
        {"tool": "read_file", "arguments": [1]},
        {"tool": "read_file", "arguments": {1: 2}},
        {"function": "read_file"},
        b"\xff\xfe",
        "\ud800",
        object(),
    ],
)
def test_what_is_no_tool_call_is_an_error_observation(action):
    result = parse_action(action)

    assert isinstance(result, ToolResult)
    assert not result.ok
    assert result.error == "invalid_action"
    assert result.text.startswith("error[invalid_action]: ")


def test_an_unknown_tool_is_told_the_known_ones(box):
    result = perform(ToolCall(tool="rm\ud800"), ToolContext(box))

    assert result.error == "unknown_tool"
    assert "read_file, edit_file, run_command, search, submit" in result.text
    result.text.encode()
    result.name.encode()


def test_the_lint_tool_is_only_in_its_profile(box):
    assert perform(ToolCall(tool="lint"), ToolContext(box)).error == "unknown_tool"
    assert perform(ToolCall(tool="lint"), ToolContext(box), "core4+lint").ok


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "path is missing"),
        ({"path": None}, "path is empty"),
        ({"path": ""}, "path is empty"),
        ({"path": 3}, "path: "),
        ({"path": "a.py", "file": "b"}, "there is no parameter file"),
        ({"path": "a.py", "start_line": 0}, "start_line: "),
        ({"path": "a.py", "start_line": "x"}, "start_line: "),
        ({"path": "a\0b"}, "NUL"),
    ],
)
def test_wrong_arguments_are_explained(use, put, arguments, said):
    put("a.py", "x\n")

    result = use("read_file", **arguments)

    assert result.error == "bad_arguments"
    assert said in result.text


@pytest.mark.parametrize("start", [None, "", 1, "1", 1.0])
def test_numbers_may_be_strings_and_blanks_are_defaults(use, put, start):
    put("a.py", "x\n")

    assert use("read_file", path="a.py", start_line=start).text == "     1\tx"


def test_booleans_may_be_strings(use, put):
    put("a.py", "x x\n")

    assert use("edit_file", path="a.py", old_str="x", new_str="y", replace_all="true").ok

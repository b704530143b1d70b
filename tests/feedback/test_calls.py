"""Rules about lost calls: each says its hint at its exact place, and nothing without its error."""

import pytest

from codeenv.feedback import Options, said, turn_of
from codeenv.tools import parse_action, schemas
from tests.feedback.play import EDIT, edit, events, kinds, one, read, run, text_turn, turn

TESTS = Options(protected=lambda path: path.startswith("tests/"))
LINE = "read_file(path: string, start_line?: integer, end_line?: integer)"


def chosen(event, made):
    """Return the text that an event points at."""
    texts = {"tool_name": made.tool, "arguments": made.written, "content": made.content}
    first, last = event.target.chars
    return texts[event.target.part][first:last]


def test_an_unknown_tool_is_answered_with_the_tools_there_are():
    made = turn(1, "open_file", {"path": "a"}, error="unknown_tool")
    event = one("unknown_tool", made)

    assert event.hint == (
        "Reminder: Available tools are: read_file, edit_file, run_command, search, submit."
    )
    assert chosen(event, made) == "open_file"
    assert (event.id, event.severity, event.source) == ("1.1.unknown_tool", "error", "tool_error")


def test_the_tools_are_those_of_the_profile():
    options = Options(tools=schemas("core4+lint"))
    event = one("unknown_tool", turn(1, "x", {}, error="unknown_tool"), options=options)

    assert event.hint.endswith("search, submit, lint.")
    assert event.evidence["available_tools"][-1] == "lint"


def test_four_tools_are_told_as_four():
    options = Options(tools=schemas()[:4])
    event = one("unknown_tool", turn(1, "x", {}, error="unknown_tool"), options=options)

    assert event.hint == "Reminder: Available tools are: read_file, edit_file, run_command, search."


def test_a_text_that_is_no_call_is_answered_with_its_tool():
    made = text_turn(1, "I call read_file on a.py now")
    event = one("malformed_call", made)

    assert event.hint == f'A call is {{"tool": "read_file", "arguments": {{…}}}}. {LINE}'
    assert (event.target.part, chosen(event, made)) == ("content", made.content)


def test_broken_json_is_told_as_that():
    event = one("malformed_call", text_turn(1, '{"tool": "read_file", "arguments": {"path": "a"}'))

    assert event.hint == (
        f'That is no valid JSON. A call is {{"tool": "read_file", "arguments": {{…}}}}. {LINE}'
    )


def test_an_action_that_was_no_text_is_not_called_broken_json():
    failed = parse_action({"foo": 1})
    event = one("malformed_call", turn_of(1, said({"foo": 1}), failed))

    assert event.hint.startswith('A call is {"tool": name, "arguments": {…}}. ')


@pytest.mark.parametrize("text", ["", "I am done", "read_file or edit_file"])
def test_a_text_that_names_no_one_tool_is_answered_with_the_form(text):
    hint = one("malformed_call", text_turn(1, text)).hint

    assert hint.startswith('A call is {"tool": name, "arguments": {…}}. Reminder: Available')


@pytest.mark.parametrize(
    ("arguments", "text", "place"),
    [
        ({"path": "a", "lines": 3}, "", '"lines"'),
        ({"file": "path"}, "", '"file"'),
        ({"path": "a", "start_line": "first"}, "", '"first"'),
        ({"start_line": 0, "path": "start_line"}, "", "0"),
        ({"path": 7, "start_line": -1}, "", '7, "start_line": -1'),
        ({"end_line": 3}, "", '{"end_line": 3}'),
        ({}, "", "{}"),
        ({"path": "a", "start_line": 9}, "start_line 9 is past the end: a has 2 lines", "9"),
        ({"path": "a", "end_line": 9}, "something else", '{"path": "a", "end_line": 9}'),
    ],
)
def test_bad_arguments_are_pointed_at(arguments, text, place):
    made = turn(1, "read_file", arguments, text, error="bad_arguments")
    event = one("bad_args", made)

    assert (event.hint, chosen(event, made)) == (LINE, place)
    assert event.evidence["schema"] == LINE


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("edit_file", {**EDIT, "new_str": "one"}, "old_str and new_str are the same"),
        ("edit_file", {**EDIT, "path": "src"}, "src is a directory"),
        (
            "read_file",
            {"path": "a", "start_line": 9},
            "start_line 9 is past the end: a has 2 lines",
        ),
    ],
)
def test_arguments_that_fit_the_schema_are_answered_with_what_was_wrong(tool, arguments, text):
    said = f"error[bad_arguments]: {text}\nmore"
    event = one("bad_args", turn(1, tool, arguments, said, error="bad_arguments"))

    assert event.hint == text
    assert event.evidence["schema"].startswith(f"{tool}(path: string")


def test_choices_are_told_in_the_schema_line():
    event = one("bad_args", turn(1, "search", {"output": "x"}, error="bad_arguments"))

    assert "pattern: string, path?: string" in event.hint
    assert "output?: content|files|count" in event.hint


def test_a_path_outside_is_a_bad_argument():
    made = turn(1, "read_file", {"path": "../a"}, "../a is outside", error="outside_repo")

    event = one("bad_args", made)

    assert chosen(event, made) == '"../a"'
    assert event.hint == "paths are relative to the root of the repository and lie in it"


@pytest.mark.parametrize(
    ("error", "kind"), [("no_match", "edit_no_match"), ("not_unique", "edit_not_unique")]
)
def test_an_edit_without_its_place_is_pointed_at_the_old_text(error, kind):
    made = turn(
        1, "edit_file", {"path": 'a"b', "old_str": 'x = "1"\n', "new_str": "x"}, error=error
    )
    event = one(kind, made)

    assert event.hint == "old text must match exactly once; re-read the lines first"
    assert chosen(event, made) == '"x = \\"1\\"\\n"'
    assert event.evidence["path"] == 'a"b'


@pytest.mark.parametrize(
    ("tool", "arguments", "place"),
    [
        ("read_file", {"path": "nö.py"}, '"nö.py"'),
        ("search", {"pattern": "path", "path": "lib"}, '"lib"'),
        ("run_command", {"command": "ls", "workdir": "lib"}, '"lib"'),
    ],
)
def test_a_path_that_is_not_there_is_pointed_at(tool, arguments, place):
    made = turn(1, tool, arguments, error="not_found")
    event = one("path_not_found", made)

    assert (event.hint, chosen(event, made)) == ("search or list before reading", place)


def test_a_command_that_took_too_long_is_pointed_at():
    made = turn(1, "run_command", {"command": "pytest", "timeout": 1}, error="timeout")
    event = one("command_timeout", made)

    assert (event.hint, chosen(event, made)) == ("run a narrower test", '"pytest"')


def test_a_command_that_runs_no_tests_is_not_called_a_test():
    made = turn(1, "run_command", {"command": "tail -f log"}, error="timeout")

    assert one("command_timeout", made).hint.startswith("run a shorter command, or start it in")


def test_a_refused_edit_names_the_path():
    made = turn(1, "edit_file", {"path": "pyproject.toml"}, error="protected_path")
    event = one("protected_path", made)

    assert event.hint.startswith("pyproject.toml is protected")
    assert (event.severity, chosen(event, made)) == ("error", '"pyproject.toml"')


@pytest.mark.parametrize("path", ["tests/test_a.py", "/workspace/tests/../tests/test_a.py"])
def test_an_edit_that_cannot_count_is_told(path):
    event = one("protected_path", edit(1, path=path), options=TESTS)

    assert (event.severity, event.source) == ("warning", "rule")


@pytest.mark.parametrize("tool", ["read_file", "edit_file", "run_command"])
def test_a_denied_path_is_not_called_a_test(tool):
    arguments = {"command": "ls", "workdir": "x"} if tool == "run_command" else {"path": "x"}
    text = "error[protected_path]: x: permission denied"
    made = turn(1, tool, arguments, text, error="protected_path")
    event = one("protected_path", made)

    assert event.hint == "x: permission denied; leave it alone"
    assert chosen(event, made) == '"x"'


def test_a_test_that_is_changed_by_a_command_is_told():
    made = run(1, "cd tests && sed -i s/1/2/ test_a.py")
    event = one("protected_path", made, options=TESTS)

    assert event.hint.startswith("tests/test_a.py is protected")
    assert chosen(event, made) == '"cd tests && sed -i s/1/2/ test_a.py"'
    assert event.evidence["path"] == "tests/test_a.py"


@pytest.mark.parametrize(
    "made",
    [
        run(1, "git checkout tests/test_a.py"),
        run(1, "sed -i s/1/2/ tests/test_a.py && false", code=1),
        run(1, "grep '>' tests/test_a.py"),
        run(1, "cp tests/test_a.py /tmp/"),
        run(1, "pytest tests/test_a.py > log"),
    ],
    ids=str,
)
def test_what_may_have_left_the_tests_alone_is_not_told(made):
    assert "protected_path" not in [kind for _, kind in kinds(made, options=TESTS)]


def test_calls_that_were_carried_out_are_no_mistakes():
    done = [read(1), edit(2), run(3, "pytest", "3 passed in 0.1s"), run(4, "ls tests/")]

    assert kinds(*done, turn(5, "search", {"pattern": "x"}), options=TESTS) == []


@pytest.mark.parametrize("error", ["binary", "too_large", "episode_over"])
def test_errors_that_no_rule_is_about_are_no_events(error):
    assert kinds(turn(1, "read_file", {"path": "a"}, error=error)) == []


def test_long_arguments_are_cut_in_the_evidence():
    made = turn(1, "edit_file", {"path": "a", "old_str": "x" * 999}, error="no_match")

    assert len(events(made)[0].evidence["args"]["old_str"]) == 200

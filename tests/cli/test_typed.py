import pytest

from codeenv.cli.typed import HELP, parse_line
from codeenv.errors import UsageError
from codeenv.tools import validate


def never(what):
    raise AssertionError(f"asked for {what}")


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        ("read a.py", "read_file", {"path": "a.py"}),
        ("read a.py 3", "read_file", {"path": "a.py", "start_line": 3}),
        ("read a.py 3 -1", "read_file", {"path": "a.py", "start_line": 3, "end_line": -1}),
        ("read 'a b.py'", "read_file", {"path": "a b.py"}),
        ("run echo 'a  b' | wc", "run_command", {"command": "echo 'a  b' | wc"}),
        ("search 'def f' src", "search", {"pattern": "def f", "path": "src"}),
        ("submit", "submit", {}),
        ("  submit  ", "submit", {}),
    ],
)
def test_a_line_is_a_tool_call(line, tool, arguments):
    call = parse_line(line, never)

    assert (call.tool, call.arguments) == (tool, arguments)


@pytest.mark.parametrize("line", ["read a.py", "run ls", "search x", "diff", "submit"])
def test_what_can_be_typed_are_calls_the_tools_accept(line):
    assert validate(parse_line(line, never)) is not None


def test_edit_asks_for_both_texts():
    texts = {"old text": "a = 1", "new text": "a = 2"}

    call = parse_line("edit a.py", texts.__getitem__)

    assert call.arguments == {"path": "a.py", "old_str": "a = 1", "new_str": "a = 2"}


def test_a_new_file_ends_with_a_line_end():
    texts = {"old text": "", "new text": "a = 2"}

    assert parse_line("edit a.py", texts.__getitem__).arguments["new_str"] == "a = 2\n"


@pytest.mark.parametrize(
    "line", ["dance", "read", "read a b c d", "read a.py x", "run", "edit", "search 'open"]
)
def test_what_stands_for_nothing_is_answered_with_a_hint(line):
    with pytest.raises(UsageError) as error:
        parse_line(line, never)

    assert error.value.hint


def test_help_fits_a_small_terminal():
    assert max(map(len, HELP.splitlines())) < 80


def test_a_shell_command_typed_bare_is_answered_with_how_to_run_it():
    with pytest.raises(UsageError, match="no such command here: 'ls'") as caught:
        parse_line("ls -la", never)
    assert "run ls -la" in caught.value.hint


@pytest.mark.parametrize("line", ["read", "run", "search", "edit", "edit a b"])
def test_a_command_typed_wrongly_is_answered_with_its_use(line):
    with pytest.raises(UsageError) as caught:
        parse_line(line, never)
    assert caught.value.hint.startswith(line.split()[0])

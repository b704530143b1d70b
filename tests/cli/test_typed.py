import pytest

from codeenv.cli.typed import COMMANDS, parse_line
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
        ("$ ls -la", "run_command", {"command": "ls -la"}),
        ("!ls", "run_command", {"command": "ls"}),
        ("ls -la", "run_command", {"command": "ls -la"}),
        ("./run.sh x", "run_command", {"command": "./run.sh x"}),
        ("A=1 ./run.sh", "run_command", {"command": "A=1 ./run.sh"}),
        ("test", "run_command", {"command": "python -m pytest -q", "timeout": 600}),
        (
            "test -k 'a b'",
            "run_command",
            {"command": "python -m pytest -q -k 'a b'", "timeout": 600},
        ),
        ("read_file a.py 3", "read_file", {"path": "a.py", "start_line": 3}),
        ("read_file path=a.py end_line=3", "read_file", {"path": "a.py", "end_line": 3}),
        ("read_file a.py end_line=3", "read_file", {"path": "a.py", "end_line": 3}),
        ("search a=b src", "search", {"pattern": "a=b", "path": "src"}),
        ("search pattern=x fixed_strings=true", "search", {"pattern": "x", "fixed_strings": True}),
        ("run_command a | b", "run_command", {"command": "a | b"}),
        ("run_command command='a b' timeout=9", "run_command", {"command": "a b", "timeout": 9}),
        (
            'edit_file {"path": "a", "old_str": "", "new_str": "x\\n"}',
            "edit_file",
            {"path": "a", "old_str": "", "new_str": "x\n"},
        ),
        ("submit", "submit", {}),
        ("submit it's done", "submit", {"message": "it's done"}),
        ("submit message=done", "submit", {"message": "done"}),
        ("  submit  ", "submit", {}),
    ],
)
def test_a_line_is_a_tool_call(line, tool, arguments):
    call = parse_line(line, never)

    assert (call.tool, call.arguments) == (tool, arguments)


@pytest.mark.parametrize("line", ["read a.py", "run ls", "search x", "test", "submit"])
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
    "line",
    [
        "dance",
        "read",
        "read a b c d",
        "read a.py x",
        "run",
        "edit",
        "search 'open",
        "cd src",
        "edit_file a",
        "read_file path=a path=b",
        "read_file start_line=1",
        "run_command {",
        "read_file a.py 1 2 3",
        "run_command command=ls timeout=long",
        "edit_file []",
        "read setup.py " + "0" * 5000 + "1",
        'read_file {"path": ' + "[" * 100_000,
        'read_file {"path": ' + "[" * 500 + "]" * 500 + "}",
        'read_file {"path": "a.py", "start_line": ' + "9" * 5000 + "}",
    ],
)
def test_what_stands_for_nothing_is_answered_with_a_hint(line):
    with pytest.raises(UsageError) as error:
        parse_line(line, never)

    assert error.value.hint


def test_examples_are_what_can_be_typed():
    examples = [command.example for command in COMMANDS.values() if command.costs]
    for example in (text for text in examples if text and not text.startswith("edit")):
        assert validate(parse_line(example, never)) is not None


def test_a_word_that_is_no_program_we_know_is_answered_with_how_to_run_it():
    with pytest.raises(UsageError, match="no such command here: 'lsx'") as caught:
        parse_line("lsx -la", never)
    assert "run lsx -la" in caught.value.hint


def test_a_typing_mistake_is_answered_with_what_was_meant():
    with pytest.raises(UsageError, match="did you mean read"):
        parse_line("raed a.py", never)


@pytest.mark.parametrize("line", ["read", "run", "search", "edit", "edit a b"])
def test_a_command_typed_wrongly_is_answered_with_its_use(line):
    with pytest.raises(UsageError) as caught:
        parse_line(line, never)
    assert caught.value.hint.startswith(line.split()[0])

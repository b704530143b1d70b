"""Turns of an episode from a few lines, for tests of rules."""

from codeenv.feedback import Observer, Options, said, turn_of
from codeenv.tools import ToolResult

READ = {"path": "a.py", "start_line": 1}
EDIT = {"path": "a.py", "old_str": "one", "new_str": "two"}
GREEN = "3 passed in 0.10s"
RED = (
    "E   assert 1 == 2\n=== short test summary info ===\n"
    "FAILED tests/test_a.py::test_one - assert 1 == 2\n"
    "FAILED tests/test_a.py::test_two[a b] - assert\n"
    "=== 2 failed, 1 passed in 0.12s ===\n[exit code 1]"
)


def turn(number, tool, arguments, text="done", **facts):
    """Return a turn; ``error`` makes it a failed one."""
    failed = {"ok": False} if facts.get("error") else {}
    result = ToolResult(tool, text, **{**failed, **facts})
    return turn_of(number, said({"tool": tool, "arguments": arguments}), result)


def text_turn(number, text):
    """Return a turn that is no tool call."""
    result = ToolResult.failed("", "invalid_action", "not a tool call")
    return turn_of(number, said(text), result)


def run(number, command, text="", code=0):
    """Return a command that ran."""
    return turn(number, "run_command", {"command": command}, text, exit_code=code)


def read(number, text="     1\tone", **arguments):
    """Return a file that was read."""
    return turn(number, "read_file", {**READ, **arguments}, text)


def edit(number, **arguments):
    """Return an edit that was done."""
    return turn(number, "edit_file", {**EDIT, **arguments})


def submit(number, **arguments):
    """Return a submission."""
    return turn(number, "submit", arguments, "Submitted.")


def events(*turns, options=None, resolved=False):
    """Return all events of turns in order."""
    observer = Observer(options or Options())
    found = [event for one in turns for event in observer.observe(one)]
    return [*found, *observer.finish(resolved=resolved)]


def kinds(*turns, **given):
    """Return turn and kind of all events."""
    return [(event.turn, event.kind) for event in events(*turns, **given)]


def one(kind, *turns, **given):
    """Return the one event of a kind."""
    found = [event for event in events(*turns, **given) if event.kind == kind]
    assert len(found) == 1, found
    return found[0]

import pytest

from codeenv.errors import SandboxError
from codeenv.sandbox.base import ExecResult
from codeenv.sandbox.fake import FakeSandbox
from codeenv.tools import ToolCall, ToolContext, perform
from codeenv.tree import Entry, Tree


def run(answer: ExecResult, **arguments):
    box = FakeSandbox(Tree({"src/a.py": Entry(b"x")}), lambda *_: answer)
    call = ToolCall(tool="run_command", arguments={"command": "it", **arguments})
    return perform(call, ToolContext(box))


def test_output_is_shown_as_it_is():
    result = run(ExecResult(0, b"one\ntwo\n", output_bytes=8))

    assert result.text == "one\ntwo"
    assert (result.exit_code, result.ok, result.output_bytes) == (0, True, 8)


def test_no_output_says_so():
    assert run(ExecResult(0, b"")).text == "(no output)"


def test_a_command_that_fails_is_a_result_and_no_error():
    result = run(ExecResult(3, b"oops\n"))

    assert result.text == "oops\n[exit code 3]"
    assert (result.ok, result.error, result.exit_code) == (True, "", 3)


def test_a_timeout_keeps_the_output_and_names_the_limit():
    result = run(ExecResult(124, b"so far", timed_out=True), timeout="5")

    assert result.text.startswith("so far\nerror[timeout]: still running after 5 s")
    assert (result.ok, result.error, result.exit_code, result.timed_out) == (
        False,
        "timeout",
        124,
        True,
    )


def test_long_output_loses_its_middle_and_says_where_all_of_it_is():
    result = run(ExecResult(0, b"a" * 20_000 + b"b" * 20_000))

    assert result.truncated
    assert result.text.startswith("a" * 6000 + "\n[… 28000 bytes elided; full output: /tmp/")
    assert result.text.endswith(" …]\n" + "b" * 6000)


def test_a_cut_inside_a_character_leaves_no_garbage():
    result = run(ExecResult(0, "é".encode() * 9_001 + b"x"))

    assert "\ufffd" not in result.text


def test_colours_and_bad_bytes_are_cleaned():
    result = run(ExecResult(0, b"\x1b[31mred\x1b[0m \xff\x1b]0;title\x07\n"))

    assert result.text == "red \ufffd"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"command": " "}, "bad_arguments"),
        ({"command": "a\0b"}, "bad_arguments"),
        ({"command": "\ud800"}, "bad_arguments"),
        ({"timeout": 601}, "bad_arguments"),
        ({"timeout": 0}, "bad_arguments"),
        ({"workdir": "nowhere"}, "not_found"),
        ({"workdir": "src/a.py"}, "bad_arguments"),
        ({"workdir": ".."}, "outside_repo"),
    ],
)
def test_impossible_requests_are_refused(arguments, error):
    assert run(ExecResult(0, b""), **arguments).error == error


def test_a_folder_may_be_named():
    assert run(ExecResult(0, b""), workdir="src").ok


def test_a_failed_sandbox_is_no_observation(box, use):
    box.broken = True

    with pytest.raises(SandboxError):
        use("run_command", command="true")


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("memory", "[out of memory: a process was killed]"),
        ("disk", "[the disk is full]"),
        ("files", "[the disk holds no more files]"),
    ],
)
def test_what_the_box_ran_out_of_is_told(what, told):
    result = run(ExecResult(137, b"", exhausted=(what,)))

    assert result.text == f"(no output)\n[exit code 137]\n{told}"
    assert result.exhausted == (what,)


def test_a_command_killed_for_its_silence_is_told_so():
    result = run(ExecResult(124, b"", timed_out=True, idle=True))

    assert "error[timeout]: nothing was written for too long" in result.text

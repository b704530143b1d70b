"""The tools on real processes and files; what the wall promises is tested with the backends."""

import re
import sys
from pathlib import Path

import pytest

from codeenv.sandbox.image import Image
from codeenv.sandbox.select import open_backend
from codeenv.tools import ToolCall, ToolContext, perform
from codeenv.tree import Entry, Tree

START = Tree(
    {
        "a.py": Entry(b"def f():\n    return 1\n"),
        "b/c.txt": Entry(b"one\r\ntwo\r\n"),
        "run.sh": Entry(b"echo hi\n", "exec"),
        ".hidden": Entry(b"x\n"),
    }
)
IMAGE = Image("0" * 64, "host", Path("/"), (), python=sys.executable)


@pytest.fixture(scope="module")
def backend():
    made = open_backend("local")
    yield made
    made.close()


@pytest.fixture
def use(backend):
    with backend.open(IMAGE, START) as box:
        context = ToolContext(box, start=START)

        def call(tool, /, **arguments):
            return perform(ToolCall(tool=tool, arguments=arguments), context, "core4+lint")

        yield call


def test_a_folder_is_listed(use):
    assert use("read_file", path=".").text == (
        "./\n  a.py\n  b/\n  b/c.txt\n  run.sh\n[1 hidden entries omitted]"
    )


def test_an_edit_keeps_endings_and_mode(use):
    use("edit_file", path="b/c.txt", old_str="one\n", new_str="1\n")
    use("edit_file", path="run.sh", old_str="hi", new_str="ho")

    assert use("run_command", command="od -An -c b/c.txt | tr -d ' '").text == "1\\r\\ntwo\\r\\n"
    assert use("run_command", command="./run.sh").text == "ho"


def test_a_folder_is_not_edited(use):
    assert use("edit_file", path="b", old_str="", new_str="x").error == "bad_arguments"


def test_a_new_syntax_error_is_a_warning_and_found_by_lint(use):
    result = use("edit_file", path="a.py", old_str="return 1", new_str="return (1")

    assert "warning: the file no longer parses: line 2" in result.text
    assert use("lint").text == "a.py:2: syntax error: '(' was never closed"
    assert "warning" not in use("edit_file", path="a.py", old_str="(1", new_str="1").text
    assert use("lint").text == "No new problems."


def test_all_of_a_long_output_can_be_read_afterwards(use):
    result = use("run_command", command="seq 1 20000")
    log = re.search(r"full output: (\S+) …", result.text)[1]

    assert result.truncated
    assert use("read_file", path=log, start_line=10_000, end_line=10_000).text.startswith(
        " 10000\t10000\n"
    )


def test_a_command_has_no_input_no_terminal_and_no_pager(use):
    assert use("run_command", command="cat; test -t 1 || echo $PAGER").text == "cat"


def test_a_timeout_keeps_what_was_written(use):
    result = use("run_command", command="echo early; sleep 30", timeout=1)

    assert result.text.startswith("early\nerror[timeout]")
    assert result.exit_code == 124


def test_a_missing_program_is_a_failed_command(use):
    result = use("run_command", command="no-such-program")

    assert (result.ok, result.exit_code) == (True, 127)


def test_a_folder_to_run_in(use):
    assert use("run_command", command="ls", workdir="b").text == "c.txt"


def test_a_link_out_of_the_repository_is_not_followed(use):
    use("run_command", command="ln -s /etc/passwd out")

    assert use("read_file", path="out").error == "outside_repo"
    assert use("edit_file", path="out", old_str="", new_str="x").error == "outside_repo"

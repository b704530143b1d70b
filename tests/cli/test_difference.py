import io
from dataclasses import replace

import pytest
from rich.console import Console

from codeenv.cli.difference import changes_of, difference, stat
from codeenv.sandbox.fake import FakeSandbox
from codeenv.tree import Entry, Tree


@pytest.fixture
def changed(episode):
    """What an episode changed, whose files were these and become those."""

    def make(before, after):
        episode.task = replace(episode.task, workspace=Tree(before))
        episode.sandbox = FakeSandbox(Tree(after))
        return changes_of(episode)

    return make


def drawn(what, **options):
    console = Console(file=io.StringIO(), width=100, color_system=None, **options)
    console.print(what)
    return console.file.getvalue()


def test_a_difference_is_that_of_whole_files(changed):
    before = {"a.py": Entry(b"one\ntwo\n"), "gone.py": Entry(b"x\n"), "same.py": Entry(b"s\n")}
    after = {"a.py": Entry(b"one\n2"), "new.py": Entry(b"n\n"), "same.py": Entry(b"s\n")}

    assert drawn(difference(changed(before, after))).splitlines() == [
        "--- a/a.py",
        "+++ b/a.py",
        "@@ -1,2 +1,2 @@",
        " one",
        "-two",
        "+2",
        "\\ no newline at the end",
        "--- a/gone.py",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
        "-x",
        "--- /dev/null",
        "+++ b/new.py",
        "@@ -0,0 +1 @@",
        "+n",
    ]


def test_what_is_no_text_is_named(changed):
    after = {"a.bin": Entry(b"\0\1"), "run.sh": Entry(b"x\n", "exec"), "empty": Entry(b"")}

    told = drawn(difference(changed({"run.sh": Entry(b"x\n")}, after))).splitlines()

    assert told == [
        "a.bin: added, no text to show",
        "empty: added, file",
        "run.sh: changed, exec",
    ]


def test_traces_of_running_code_and_the_repositorys_own_data_are_left_out(changed):
    after = {
        "src/__pycache__/a.cpython-313.pyc": Entry(b"\0"),
        ".pytest_cache/README.md": Entry(b"x"),
    }

    assert changed({".git/config": Entry(b"x")}, after) == ()


def test_hostile_names_and_lines_cannot_steer_the_terminal(changed):
    found = changed({}, {"a\x1b[2J": Entry(b"\x1b]0;title\x07\n")})

    text = drawn(difference(found)) + drawn(stat(found))

    assert "\x1b" not in text
    assert "\x07" not in text


def test_the_summary_says_what_cannot_count(changed):
    found = changed({}, {"kettle.py": Entry(b"a\n"), "tests/test_a.py": Entry(b"a\nb\n")})

    assert drawn(stat(found)).splitlines() == [
        "  kettle.py  +1 -0  added",
        "  tests/test_a.py  +2 -0  added  does not count",
    ]

import time

import pytest

from codeenv.sandbox.base import ExecResult
from codeenv.sandbox.fake import FakeSandbox
from codeenv.tools import ToolCall, ToolContext, perform
from codeenv.tools.near import near_miss
from codeenv.tools.text import line_changes
from codeenv.tree import Entry, Tree


def test_an_edit_shows_its_place(use, put, box):
    put("a.py", "".join(f"line {i}\n" for i in range(1, 21)))

    result = use("edit_file", path="a.py", old_str="line 10\n", new_str="ten\nand more\n")

    rows = result.text.splitlines()
    assert rows[0] == "edited a.py: +2 -1"
    assert rows[1] == "     6\tline 6"
    assert "    10\tten" in rows
    assert rows[-1] == "    15\tline 14"
    assert box.tree["a.py"].data.count(b"\n") == 21


def test_a_text_that_is_not_there_changes_nothing(use, put, box):
    put("a.py", "x = 1\n")

    result = use("edit_file", path="a.py", old_str="nowhere to be found", new_str="y")

    assert result.error == "no_match"
    assert box.tree["a.py"].data == b"x = 1\n"


def test_a_miss_by_white_space_shows_the_lines_as_they_are(use, put):
    put("a.py", "def f():\n    if x:\n        return  1\n")

    result = use("edit_file", path="a.py", old_str="  if x:\n    return 1", new_str="y")

    assert "only white space differs from lines 2-3" in result.text
    assert "     3\t        return  1" in result.text


def test_a_near_miss_shows_the_closest_lines(use, put):
    put("a.py", "import os\n\ndef load(path, mode):\n    return open(path, mode)\n")

    result = use("edit_file", path="a.py", old_str="def load(path, modes):", new_str="y")

    assert "the closest text is lines 3-3" in result.text
    assert "def load(path, mode):" in result.text


def test_looking_for_a_near_miss_is_quick():
    text = "".join(f"value_{i} = compute({i}, {i * 7})\n" for i in range(30_000))
    old = "".join(f"walue_{i} = conpute({i} {i * 7})\n" for i in range(200))
    start = time.monotonic()

    near_miss(text, old)

    assert time.monotonic() - start < 5


def test_an_ambiguous_text_is_told_its_lines(use, put, box):
    put("a.py", "x\ny\n" * 12)

    result = use("edit_file", path="a.py", old_str="x", new_str="z")

    assert result.error == "not_unique"
    assert "12 times in a.py (lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 …)" in result.text
    assert b"z" not in box.tree["a.py"].data


def test_replace_all_replaces_all(use, put, box):
    put("a.py", "x\ny\nx\n")

    result = use("edit_file", path="a.py", old_str="x", new_str="z", replace_all=True)

    assert box.tree["a.py"].data == b"z\ny\nz\n"
    assert result.text.startswith("edited a.py: +2 -2 (2 places")


def test_equal_texts_are_an_error(use, put):
    put("a.py", "x\n")

    assert use("edit_file", path="a.py", old_str="x", new_str="x").error == "bad_arguments"


def test_an_empty_old_text_creates_a_file_with_its_folders(use, box):
    result = use("edit_file", path="new/deep/a.py", old_str="", new_str="x = 1\n")

    assert result.text == "created new/deep/a.py: +1 -0\n     1\tx = 1"
    assert box.tree["new/deep/a.py"].data == b"x = 1\n"


def test_a_file_is_not_overwritten_by_accident(use, put, box):
    put("a.py", "x\n")

    assert use("edit_file", path="a.py", old_str="", new_str="y\n").error == "bad_arguments"
    assert box.tree["a.py"].data == b"x\n"
    assert use("edit_file", path="a.py", old_str=None, new_str="y\n", overwrite=True).ok
    assert box.tree["a.py"].data == b"y\n"


def test_an_empty_file_may_be_filled(use, put, box):
    put("a.py", "")

    assert use("edit_file", path="a.py", old_str="", new_str="y\n").ok


def test_a_file_that_is_not_there_cannot_be_edited(use):
    assert use("edit_file", path="a.py", old_str="x", new_str="y").error == "not_found"


def test_windows_line_endings_and_the_mark_survive(use, put, box):
    put("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\nthree")

    use("edit_file", path="a.txt", old_str="one\ntwo\n", new_str="1\n2\n2.5\n")

    assert box.tree["a.txt"].data == b"\xef\xbb\xbf1\r\n2\r\n2.5\r\nthree"

    use("edit_file", path="a.txt", old_str="", new_str="a\nb\n", overwrite=True)

    assert box.tree["a.txt"].data == b"\xef\xbb\xbfa\r\nb\r\n"


def test_lines_that_are_not_edited_keep_their_own_endings(use, put, box):
    put("a.txt", b"one\r\ntwo\nthree\r\nfour\n\r\n")

    use("edit_file", path="a.txt", old_str="two\nthree", new_str="2\n3")

    assert box.tree["a.txt"].data == b"one\r\n2\r\n3\r\nfour\n\r\n"


def test_an_edit_between_line_endings_leaves_them(use, put, box):
    put("a.txt", b"a\r\nb\r\n")

    use("edit_file", path="a.txt", old_str="b", new_str="c")
    assert box.tree["a.txt"].data == b"a\r\nc\r\n"

    use("edit_file", path="a.txt", old_str="\nc", new_str="")
    assert box.tree["a.txt"].data == b"a\r\n"


def test_bytes_that_are_not_unicode_survive(use, put, box):
    put("a.txt", b"caf\xe9\nx\n")

    result = use("edit_file", path="a.txt", old_str="x", new_str="é")

    assert box.tree["a.txt"].data == b"caf\xe9\n\xc3\xa9\n"
    result.text.encode()


def test_the_mode_survives(use, put, box):
    put("run.sh", "echo a\n", mode="exec")

    use("edit_file", path="run.sh", old_str="a", new_str="b")

    assert box.tree["run.sh"] == Entry(b"echo b\n", "exec")


def test_text_that_unicode_cannot_carry_is_refused(use, put):
    put("a.py", "x\n")

    assert use("edit_file", path="a.py", old_str="x", new_str="\ud800").error == "bad_arguments"
    assert use("edit_file", path="\udc80", old_str="", new_str="x").error == "bad_arguments"


def test_binaries_and_folders_are_refused(use, put):
    put("a/b.bin", b"\0")

    assert use("edit_file", path="a/b.bin", old_str="x", new_str="y").error == "binary"
    assert use("edit_file", path="a", old_str="", new_str="y").error == "bad_arguments"
    assert use("edit_file", path="a/b.bin/c", old_str="", new_str="y").error == "bad_arguments"


def test_a_protected_path_is_refused(box):
    context = ToolContext(box, writable=lambda path: not path.startswith("tests/"))
    call = ToolCall(
        tool="edit_file", arguments={"path": "x/../tests/t.py", "old_str": "", "new_str": "x"}
    )

    assert perform(call, context).error == "protected_path"
    assert "tests/t.py" not in box.tree


def parses(box, command, stdin):
    """Answer as the environment's interpreter would."""
    if command[0] != "python3":
        return None
    bad = b"def f(:" in stdin
    return ExecResult(0, b"line 1: invalid syntax\n" if bad else b"")


@pytest.fixture
def checked():
    box = FakeSandbox(Tree({"a.py": Entry(b"x\n"), "bad.py": Entry(b"def f(:\n# x\n")}), parses)

    def edit(path, old, new, guard="warn"):
        arguments = {"path": path, "old_str": old, "new_str": new}
        call = ToolCall(tool="edit_file", arguments=arguments)
        return perform(call, ToolContext(box, edit_guard=guard)), box.tree[path].data

    return edit


def test_a_new_syntax_error_is_a_warning(checked):
    result, data = checked("a.py", "x", "def f(:")

    assert result.ok
    assert result.text.endswith("warning: the file no longer parses: line 1: invalid syntax")
    assert data == b"def f(:\n"


def test_an_old_syntax_error_is_not_mentioned(checked):
    result, _ = checked("bad.py", "# x", "# y")

    assert "warning" not in result.text


def test_the_guard_may_refuse_what_does_not_parse(checked):
    result, data = checked("a.py", "x", "def f(:", guard="reject")

    assert result.error == "bad_arguments"
    assert data == b"x\n"


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [("a\nb\n", "a\nc\n", (1, 1)), ("", "a\n", (1, 0)), ("a\nb\nc\n", "a\nc\n", (0, 1))],
)
def test_changed_lines_are_counted(old, new, changes):
    assert line_changes(old, new) == changes

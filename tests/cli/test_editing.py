import stat
import sys
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.cli.editing import editor_command, edits, in_editor
from codeenv.errors import UsageError
from codeenv.sandbox.fake import FakeSandbox
from codeenv.tools import ToolContext, perform
from codeenv.tree import Entry, Tree

LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\n", "漢\n"]), max_size=14).map("".join)


def carried_out(calls, before):
    """What the edit tool makes of a file."""
    tree = Tree({} if before is None else {"f.txt": Entry(before.encode())})
    box = FakeSandbox(tree)
    for call in calls:
        result = perform(call, ToolContext(box, start=tree))
        assert result.ok, result.text
    return box.read_file("f.txt").decode()


@given(before=LINES, after=LINES, end=st.sampled_from(["", "no line end"]))
def test_calls_make_the_file_what_the_editor_left(before, after, end):
    if before != after + end:
        assert carried_out(edits("f.txt", before, after + end), before) == after + end


def test_a_new_file_is_one_call():
    assert carried_out(edits("f.txt", None, "a\nb\n"), None) == "a\nb\n"


def test_each_place_is_a_call_of_its_own_and_no_larger_than_it_must_be():
    before = "".join(f"line {n}\n" for n in range(40))
    after = before.replace("line 3\n", "line three\n").replace("line 30\n", "")
    calls = edits("f.txt", before, after)

    assert [call.arguments["old_str"] for call in calls] == ["line 3\n", "line 30\n"]
    assert [call.arguments["new_str"] for call in calls] == ["line three\n", ""]


def test_a_place_that_looks_like_another_takes_lines_around_it_along():
    before = "a\nsame\nb\nc\nd\ne\nsame\nf\n"
    (call,) = edits("f.txt", before, "a\nsame\nb\nc\nd\ne\nother\nf\n")

    assert call.arguments["old_str"] == "e\nsame\nf\n"


@pytest.fixture
def editor(monkeypatch, tmp_path):
    """Makes EDITOR a script of Python whose argument is the file."""

    def make(body):
        script = tmp_path / "my editor.py"
        script.write_text(f"import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\n{body}\n")
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", f"{sys.executable} '{script}'")

    return make


def test_an_editor_gets_a_copy_with_the_name_of_the_file(editor):
    editor("file.write_bytes(file.name.encode() + b'\\r\\n' + file.read_bytes())")

    assert in_editor("src/größe.py", "old\n") == "größe.py\nold\n"


def test_ctrl_c_is_for_the_editor_alone(editor):
    editor("import os, signal\nos.kill(os.getppid(), signal.SIGINT)\nfile.write_text('new')")

    assert in_editor("a.py", "old\n") == "new"


@pytest.mark.parametrize("body", ["sys.exit(3)", "file.write_bytes(b'\\xff')", "file.unlink()"])
def test_an_editor_that_fails_changes_nothing(editor, body):
    editor(body)

    with pytest.raises(UsageError):
        in_editor("a.py", "old\n")


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """Where temporary files are made, as they are then: with their mode."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    ("body", "left"),
    [("file.write_text('long work')\nsys.exit(3)", b"long work"),
     ("file.write_bytes(b'long \\xff')", b"long \xff")],
)  # fmt: skip
def test_what_was_written_in_an_editor_that_fails_is_kept_for_the_person_alone(
    editor, kept, body, left
):
    editor(body)

    with pytest.raises(UsageError, match="what you wrote is in ") as caught:
        in_editor("src/a.py", "old\n")
    (file,) = kept.iterdir()
    assert str(file) in caught.value.message
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (left, 0o600)


def test_an_editor_that_fails_and_wrote_nothing_leaves_no_file(editor, kept):
    editor("sys.exit(3)")

    with pytest.raises(UsageError):
        in_editor("a.py", "old\n")
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize("name", ["VISUAL", "EDITOR"])
def test_an_editor_that_is_no_command_is_told_with_a_hint(monkeypatch, name):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv(name, 'vim "')

    with pytest.raises(UsageError, match=name) as caught:
        editor_command()
    assert caught.value.hint


def test_an_editor_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setenv("VISUAL", "no-such-editor --wait")

    with pytest.raises(UsageError, match="no-such-editor"):
        in_editor("a.py", "old\n")

"""Holding a diff against a tree."""

import difflib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.errors import UsageError
from codeenv.generate.patching import read_changes
from codeenv.tree import Entry, Tree

TREE = Tree(
    {
        "m.py": Entry(b"one\ntwo\nthree\nfour\n"),
        "src/m.py": Entry(b"1\r\n2\r\n3"),
        "link.py": Entry(b"m.py", "link"),
    }
)
LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"--- a\n", b" x\n", b"c\r\n"]))
END = st.sampled_from([b"", b"end", b"-"])


def applied(data, changes):
    for change in reversed(changes):
        data = data[: change.start] + (change.new or b"") + data[change.end :]
    return data


def diff(old, new, path="m.py", context=3):
    marked = []
    pieces = [_split(old), _split(new)]
    names = (f"a/{path}".encode(), f"b/{path}".encode())
    for line in difflib.diff_bytes(difflib.unified_diff, *pieces, *names, n=context):
        whole = line.endswith(b"\n")
        marked.append(line if whole else line + b"\n\\ No newline at end of file\n")
    return b"".join(marked)


def _split(data):
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


@given(LINES, END, LINES, END, st.integers(0, 3))
def test_a_diff_gives_the_bytes_it_was_made_for(old, old_end, new, new_end, context):
    before, after = b"".join(old) + old_end, b"".join(new) + new_end
    if before == after:
        return
    tree = Tree({"m.py": Entry(before)})
    changes = read_changes("d", diff(before, after, context=context), tree)
    assert applied(before, changes) == after
    assert all(a.end < b.start for a, b in pairwise(changes))


@pytest.mark.parametrize("names", [("a/m.py", "b/m.py"), ("m.py", "m.py"), ("m.py.orig", "m.py")])
def test_names_may_have_one_folder_too_many_or_an_ending_of_the_old_file(names):
    text = "--- {}\n+++ {}\n@@ -2 +1,0 @@\n-two\n".format(*names)
    (change,) = read_changes("d", text.encode(), TREE)
    assert (change.path, change.start, change.end, change.new) == ("m.py", 4, 8, b"")


def test_line_ends_are_part_of_the_lines():
    text = (
        b"--- a/src/m.py\n+++ b/src/m.py\n@@ -2,2 +2 @@\n-2\r\n 3\n\\ No newline at end of file\n"
    )
    (change,) = read_changes("d", text, TREE)
    assert (change.start, change.end) == (3, 6)


@pytest.mark.parametrize(
    "hunk", ["@@ -1,4 +0,0 @@\n-one\n-two\n-three\n-four\n", ""], ids=["with lines", "without"]
)
def test_a_file_may_go_as_a_whole(hunk):
    text = f"diff --git a/m.py b/m.py\ndeleted file mode 100644\n--- a/m.py\n+++ /dev/null\n{hunk}"
    (change,) = read_changes("d", text.encode(), TREE)
    assert (change.start, change.end, change.new) == (0, 19, None)


PLAIN = "--- o/m.py\n+++ n/m.py\n@@ -2 +1,0 @@\n-two\n"


def test_a_file_that_only_the_old_side_has_is_deleted_with_or_without_its_folder():
    for told in ("Only in o/src: m.py\n", "Only in o: src\n"):
        for text in (told, told + PLAIN, PLAIN + told):
            changes = read_changes("d", text.encode(), TREE)
            assert [(c.start, c.end) for c in changes if c.path == "src/m.py"] == [(0, 7)]
            assert len(changes) == 1 + (PLAIN in text)


def test_what_running_the_tests_left_on_one_side_is_passed_over():
    more = "Only in n/src: __pycache__\nBinary files o/c.pyc and n/c.pyc differ\n"
    (change,) = read_changes("d", (more + PLAIN + more).encode(), TREE)
    assert change.path == "m.py"


HEAD = "--- a/m.py\n+++ b/m.py\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HEAD + "@@ -2 +1,0 @@\n-zwei\n", "d: hunk 1 of m.py does not fit: line 2 is 'two', not"),
        (
            HEAD + "@@ -1 +0,0 @@\n-one\n@@ -4,2 +3,1 @@\n four\n-five\n",
            "hunk 2 of m.py .*past the",
        ),
        (HEAD + "@@ -3 +2,0 @@\n-three\n@@ -1 +0,0 @@\n-one\n", "hunk 2 of m.py begins before"),
        (HEAD.replace("m.py", "n.py") + "@@ -1 +0,0 @@\n-x\n", "no file n.py"),
        (HEAD.replace("m.py", "../m.py") + "@@ -1 +0,0 @@\n-x\n", "no file ../m.py"),
        (HEAD + "@@ -1 +0,0 @@\n-one\n" + HEAD + "@@ -2 +1,0 @@\n-two\n", "m.py twice"),
        ("--- a/m.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "deletes m.py, but leaves lines"),
        (
            "--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+x\n",
            "adds b/x.py: a proposal may only delete",
        ),
        ("--- a/m.py\n+++ b/src/m.py\n@@ -1 +0,0 @@\n-one\n", "renames m.py"),
        ("--- a/link.py\n+++ b/link.py\n@@ -1 +0,0 @@\n-m.py\n", "link.py is a link"),
        ("hello", "no unified diff"),
        (
            PLAIN + "Binary files o/src/m.py and n/src/m.py differ\n",
            "changes the binary file o/src/m.py",
        ),
    ],
)
def test_a_diff_that_does_not_fit_is_told_with_file_and_hunk(text, told):
    with pytest.raises(UsageError, match=told) as refused:
        read_changes("d", text.encode(), TREE)
    assert refused.value.hint

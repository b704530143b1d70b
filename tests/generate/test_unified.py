"""Reading unified diffs, git's and plain ones."""

import pytest

from codeenv.generate.unified import DiffError, parse_diff

GIT = b"""\
From 1234 Mon Sep 17 00:00:00 2001
Subject: [PATCH] take f out

---
diff --git a/m.py b/m.py
index 111..222 100644
--- a/m.py
+++ b/m.py
@@ -1,3 +1,1 @@ class C:
 one
-two
--- three
-- \n2.43.0
"""


def test_text_around_a_diff_is_passed_over():
    (file,) = parse_diff(GIT)
    assert (file.old, file.new, file.deleted, file.notes) == ("a/m.py", "b/m.py", False, [])
    (hunk,) = file.hunks
    assert hunk.start == 0
    assert hunk.lines == ((b" ", b"one\n"), (b"-", b"two\n"), (b"-", b"-- three\n"))


def test_a_plain_diff_needs_no_line_of_gits():
    (file,) = parse_diff(b"--- m.py\t2024-01-02 10:00:00\n+++ m.py\n@@ -2 +2 @@\n-a\n+b\n")
    assert (file.old, file.new, file.hunks[0].start) == ("m.py", "m.py", 1)


def test_a_missing_newline_at_the_end_is_kept_in_mind():
    text = b"--- m\n+++ m\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
    (file,) = parse_diff(text)
    assert file.hunks[0].lines == ((b"-", b"a"), (b"+", b"b\n"))


def test_an_empty_line_of_a_hunk_is_an_empty_line_that_stays():
    (file,) = parse_diff(b"--- m\n+++ m\n@@ -1,3 +1,2 @@\n a\n\n-b\n")
    assert file.hunks[0].lines[1] == (b" ", b"\n")


def test_a_name_in_quotes_is_read():
    text = b'--- "a/\\303\\244 \\"b\\".py"\n+++ "b/\\303\\244 \\"b\\".py"\n@@ -1 +0,0 @@\n-x\n'
    assert parse_diff(text)[0].old == 'a/ä "b".py'


@pytest.mark.parametrize(
    "text",
    [
        b"diff --git a/e b/e\ndeleted file mode 100644\nindex 1..0\n",
        b"--- a/e\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        b"--- e\t2024-01-02 10:00:00\n+++ e\t1970-01-01 00:00:00.0 +0000\n@@ -1 +0,0 @@\n-x\n",
    ],
)
def test_a_file_that_goes_is_known_by_git_and_by_diff(text):
    (file,) = parse_diff(text)
    assert file.deleted
    assert file.old.endswith("e")


EPOCH, LATER = b"1970-01-01 00:00:00.000000000 +0000", b"2026-01-02 10:00:00.0 +0000"


@pytest.mark.parametrize("times", [(EPOCH, LATER), (LATER, EPOCH), (EPOCH, EPOCH)])
def test_a_file_of_the_year_1970_is_neither_new_nor_gone(times):
    (file,) = parse_diff(b"--- m\t%s\n+++ m\t%s\n@@ -1,2 +1 @@\n a\n-b\n" % times)
    assert not file.deleted
    assert not file.notes


def test_a_new_file_is_known_by_its_time_and_its_lines():
    (file,) = parse_diff(b"--- o/m\t%s\n+++ n/m\t%s\n@@ -0,0 +1 @@\n+b\n" % (EPOCH, LATER))
    assert file.notes == ["adds n/m"]


@pytest.mark.parametrize("before", [b"", b"--- m\n+++ m\n@@ -1 +0,0 @@\n-a\n"])
def test_what_a_plain_diff_says_in_one_line_is_not_passed_over(before):
    text = b"Only in o/x: y.py\nBinary files o/b and n/b differ\ndiff -ru o/z n/z\n"
    gone, binary = parse_diff(before + text)[-2:]
    assert (gone.old, gone.deleted, gone.bare) == ("o/x/y.py", True, True)
    assert (binary.old, binary.notes) == ("o/b", ["changes the binary file o/b"])
    assert parse_diff(text + HUNK)[-1].old == "o/z"


HUNK = b"--- o/z\n+++ n/z\n@@ -1 +0,0 @@\n-a\n"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (b"diff --git a/x b/x\nnew file mode 100644\n", "adds b/x"),
        (b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n", "adds b/x"),
        (b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "renames x"),
        (b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "changes the mode of a/x"),
        (b"diff --git a/x b/x\nGIT binary patch\n", "changes the binary file a/x"),
    ],
)
def test_what_is_no_change_of_lines_is_noted(text, note):
    assert note in parse_diff(text)[0].notes


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "no unified diff"),
        (b"please delete f\n", "no unified diff"),
        (b"@@ -1 +1 @@\n-a\n+b\n", "line 1: a hunk without the name"),
        (b"--- m\n+++ m\n@@ nonsense @@\n", "line 3 is not the head of a hunk"),
        (b"--- m\n+++ m\n@@@ -1 -1 +1 @@@\n", "line 3 is not the head of a hunk"),
        (b"--- m\n+++ m\n@@ -1,3 +1 @@\n-a\n", "hunk 1 of m ends early, at line 5"),
        (b"--- m\n+++ m\n@@ -1 +1 @@\n-a\n+b\n+c\n", "not as many lines as it says, at line 6"),
        (b"--- m\n+++ m\n@@ -1 +1,0 @@\n a\n", "not as many lines as it says"),
        (b"--- m\n+++ m\n@@ -0,1 +0,0 @@\n-a\n", "before the first line"),
    ],
)
def test_a_malformed_diff_is_refused_with_its_line(text, told):
    with pytest.raises(DiffError, match=told):
        parse_diff(text)

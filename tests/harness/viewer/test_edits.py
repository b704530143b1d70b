"""The file around an edit, told by what was read and written before."""

from codeenv_harness.viewer.edits import whole_edit
from tests.harness.viewer.made import step

FILE = "import os\n\n\ndef boil():\n    return 0\n"
SHOWN = "     1\timport os\n     2\t\n     3\t\n     4\tdef boil():\n     5\t    return 0"


def read(number, content=SHOWN):
    return step(number, "read_file", {"path": "a.py"}, content)


def edit(number, old, new, told="edited a.py: +1 -1\n     5\t    return 1"):
    arguments = {"path": "a.py", "old_str": old, "new_str": new}
    return step(number, "edit_file", arguments, told)


def test_an_edit_of_a_file_that_was_read_is_known_whole():
    steps = (read(1), edit(2, "return 0", "return 1"), edit(3, "return 1", "return 2"))

    assert whole_edit(steps, 2) == (FILE, FILE.replace("0", "1"))
    assert whole_edit(steps, 3) == (FILE.replace("0", "1"), FILE.replace("0", "2"))
    assert whole_edit(steps, 1) is None


def test_a_file_that_is_written_anew_is_compared_with_what_it_was():
    steps = (read(1), edit(2, "", FILE.replace("0", "1")))

    assert whole_edit(steps, 2) == (FILE, FILE.replace("0", "1"))


def test_a_file_without_a_last_newline_stays_so():
    assert whole_edit((read(1, f"{SHOWN}\n[no newline at end of file]"), edit(2, "0", "1")), 2) == (
        FILE.removesuffix("\n"),
        FILE.removesuffix("\n").replace("0", "1"),
    )


def test_what_is_not_known_for_sure_is_not_told():
    part = "     4\tdef boil():\n     5\t    return 0"
    failed = "error[no_match]: old_str is not in a.py"

    assert whole_edit((read(1, part), edit(2, "return 0", "return 1")), 2) is None
    assert whole_edit((read(1, f"{SHOWN}\n[9 more lines]"), edit(2, "0", "1")), 2) is None
    assert whole_edit((read(1), edit(2, "return 9", "return 1")), 2) is None
    assert whole_edit((read(1), edit(2, "return 0", "x", failed)), 2) is None
    assert whole_edit((edit(1, "return 0", "return 1"),), 1) is None


def test_a_file_that_a_command_changed_meanwhile_is_not_known():
    assert whole_edit((read(1), edit(2, "", FILE + "# more\n")), 2) is None


def test_a_text_that_is_there_more_often_than_was_told_is_not_known():
    twice = "     1\ta = 0\n     2\tb = 0"
    both = edit(2, "= 0", "= 1", "edited a.py: +2 -2 (2 places; the first is shown)")

    assert whole_edit((read(1, twice), both), 2) == ("a = 0\nb = 0\n", "a = 1\nb = 1\n")
    assert whole_edit((read(1, twice), edit(2, "= 0", "= 1", "edited a.py: +2 -2")), 2) is None


def test_an_edit_that_is_made_again_and_again_does_not_let_a_file_grow():
    again = [edit(number, "a", "aa", "edited a.py: +1 -1") for number in range(2, 60)]

    assert whole_edit((read(1, "     1\ta"), *again), 2) == ("a\n", "aa\n")
    assert whole_edit((read(1, "     1\ta"), *again), len(again) + 1) is None


def test_a_file_that_is_too_long_to_follow_is_not_known():
    line = "x" * 200_000
    longer = edit(2, "a", line * 2, "edited a.py: +1 -1")
    many = edit(2, "a", line[:20], "edited a.py: +1 -1 (100000 places; the first is shown)")

    assert whole_edit((read(1, "     1\ta"), longer), 2) is None
    assert whole_edit((read(1, f"     1\t{'a' * 100_000}"), many), 2) is None
    assert whole_edit((read(1, f"     1\ta{line * 2}"), edit(2, "a", "b")), 2) is None

"""Rules that look back: at what was read, failed, edited, tested and planned."""

import pytest

from codeenv.feedback import Options
from tests.feedback.play import (
    GREEN,
    RED,
    edit,
    kinds,
    one,
    read,
    run,
    submit,
    text_turn,
    turn,
)

TESTS = Options(protected=lambda path: path.startswith("tests/"))
LOST = {"path": "a.py", "old_str": "zero", "new_str": "x"}


def lost(number):
    return turn(number, "edit_file", LOST, "no", error="no_match")


@pytest.mark.parametrize(
    ("between", "first"),
    [
        ([], 1),
        ([run(2, "ls -l | head")], 1),
        ([edit(2, path="b.py")], 1),
        ([run(2, "pytest -q", GREEN), read(3), run(4, "cat b.py")], 3),
        ([turn(2, "search", {"pattern": "x"}), lost(3)], 1),
    ],
)
def test_reading_the_same_lines_again_names_the_first_time(between, first):
    event = one("redundant_read", read(1), *between, read(8))

    assert event.evidence["first_turn"] == first
    assert event.hint == f"The same lines were read at turn {first} and have not changed since."


def test_the_first_time_is_named_however_often_it_is_read():
    assert kinds(read(1), read(2), read(3)) == [(2, "redundant_read"), (3, "redundant_read")]
    assert "turn 1" in one("redundant_read", read(1), run(2, "ls"), read(3, path="./a.py")).hint


@pytest.mark.parametrize(
    "between",
    [
        [edit(2)],
        [edit(2, path="./a.py")],
        [edit(2, path="/workspace/a.py")],
        [run(2, "sed -i s/a/b/ a.py")],
        [run(2, "python make.py")],
        [turn(2, "run_command", {"command": "make"}, error="timeout")],
    ],
    ids=str,
)
def test_reading_what_may_have_changed_is_no_mistake(between):
    assert "redundant_read" not in dict(map(reversed, kinds(read(1), *between, read(8))))


@pytest.mark.parametrize(
    "again", [read(2, start_line=2), read(2, path="b.py"), read(2, "     1\tother")], ids=str
)
def test_reading_something_else_is_no_mistake(again):
    assert kinds(read(1), again) == []


def test_the_same_failure_names_its_first_turn():
    event = one("repeated_failure", lost(1), read(2), edit(3, path="b.py"), lost(4))

    assert event.hint == "The same call failed in the same way at turn 1: try something else."
    assert (event.turn, event.evidence["first_turn"]) == (4, 1)
    assert event.target.chars == (0, len(lost(1).written))


def test_every_repetition_is_told():
    assert kinds(lost(1), lost(2), lost(3))[1:] == [
        (2, "edit_no_match"),
        (2, "repeated_failure"),
        (3, "edit_no_match"),
        (3, "repeated_failure"),
    ]
    assert one("repeated_failure", text_turn(1, "hm"), text_turn(2, "hm")).target.part == "content"


def test_another_call_or_another_error_is_no_repetition():
    other = turn(2, "edit_file", LOST, "no", error="not_unique")

    assert "repeated_failure" not in [kind for _, kind in kinds(lost(1), other)]
    assert "repeated_failure" not in [kind for _, kind in kinds(lost(1), edit(2), edit(3))]


def test_a_command_that_fails_again_is_a_repetition_if_nothing_changed():
    fails = [run(n, "pytest", f"1 failed in 0.{n}s\n[exit code 1]", 1) for n in (1, 3)]

    assert kinds(fails[0], run(2, "ls"), fails[1]) == [(3, "repeated_failure")]
    assert kinds(fails[0], edit(2), fails[1]) == []
    assert kinds(fails[0], run(2, "pip install x"), fails[1]) == []
    assert kinds(fails[0], run(2, "pytest", "2 failed in 0.1s", 1)) == []


@pytest.mark.parametrize(
    "between", [edit(2), run(2, "git checkout a.py"), run(2, "python make.py")], ids=str
)
def test_a_call_whose_file_changed_in_between_is_another_call(between):
    missing = [turn(n, "read_file", {"path": "a.py"}, error="not_found") for n in (1, 3)]

    assert "repeated_failure" not in [k for _, k in kinds(lost(1), between, lost(3))]
    assert "repeated_failure" not in [k for _, k in kinds(missing[0], between, missing[1])]


def test_what_no_edit_can_mend_is_a_repetition_whatever_was_edited():
    unknown = [turn(n, "open", {"path": "a.py"}, error="unknown_tool") for n in (1, 3)]

    assert (3, "repeated_failure") in kinds(unknown[0], edit(2), unknown[1])


@pytest.mark.parametrize(
    "before",
    [
        [edit(1)],
        [run(1, "pytest", GREEN), edit(2)],
        [edit(1), run(2, "ls")],
    ],
    ids=str,
)
def test_submitting_untested_edits_is_told(before):
    event = one("no_verify", *before, submit(5))

    assert (event.turn, event.target.part, event.target.chars) == (5, "tool_name", (0, 6))


@pytest.mark.parametrize(
    "before",
    [
        [],
        [read(1)],
        [lost(1)],
        [edit(1), run(2, "python -m pytest -q | tail", GREEN)],
        [edit(1), run(2, "make test", GREEN), edit(3, path="tests/test_a.py")],
    ],
    ids=str,
)
def test_submitting_tested_edits_or_none_is_fine(before):
    found = [kind for _, kind in kinds(*before, submit(5), options=TESTS)]

    assert not {"no_verify", "premature_finish"} & set(found)


def test_submitting_with_failing_tests_names_them():
    event = one("premature_finish", edit(1), run(2, "pytest", RED, 1), submit(3))

    names = ["tests/test_a.py::test_one", "tests/test_a.py::test_two[a b]"]
    assert event.hint == f"Tests failed in the last run, at turn 2: {', '.join(names)}."
    assert event.evidence == {"test_run": 2, "failing": names}


@pytest.mark.parametrize(
    ("text", "code", "failed"),
    [
        ("=== 1 failed, 2 passed in 0.1s ===", 0, True),
        ("1 passed, 1 error in 3.21s", 0, True),
        ("ERROR tests/test_a.py - SyntaxError\n!!! stopped !!!", 0, True),
        ("3 passed, 1 warning in 61.10s (0:01:01)\n[exit code 1]", 1, False),
        ("no form at all", 1, True),
        ("no form at all", 0, False),
        ("assert 'FAILED' in text\n2 passed in 1s", 0, False),
    ],
)
def test_a_run_failed_if_its_summary_says_so(text, code, failed):
    found = kinds(run(1, "pytest; true", text, code), submit(2))

    assert ((2, "premature_finish") in found) == failed


def test_only_the_last_run_counts():
    assert kinds(run(1, "pytest", RED, 1), run(2, "pytest", GREEN), submit(3)) == []


def test_many_failing_tests_are_counted_not_listed():
    many = "\n".join(f"FAILED t.py::test_{n} - x" for n in range(9))

    assert one("premature_finish", run(1, "pytest", many, 1), submit(2)).hint.endswith(
        "t.py::test_4 and 4 more."
    )


def test_a_long_final_message_is_pointed_at():
    made = submit(1, message="x" * 501)
    event = one("verbose_final", made)

    assert made.written[slice(*event.target.chars)] == f'"{"x" * 501}"'
    assert kinds(submit(1, message="x" * 500)) == []
    assert kinds(submit(1, message="xxx"), options=Options(longest_final=2))


@pytest.mark.parametrize(
    "before",
    [
        [edit(1, path="docs/PLAN.md", old_str="", new_str="1. [x] look\n2. [ ] add tests\n")],
        [
            edit(1, path="todo.txt", old_str="", new_str="- [ ] look\n- [ ] add tests\n"),
            edit(2, path="todo.txt", old_str="- [ ] look", new_str="- [x] look"),
        ],
    ],
    ids=str,
)
def test_open_items_are_told_at_the_end(before):
    event = one("todo_left", *before, submit(9))

    assert event.hint == "Items of your own list are open: add tests."
    assert (event.evidence, event.target.part) == ({"items": ["add tests"]}, "tool_name")


@pytest.mark.parametrize(
    "before",
    [
        [text_turn(1, "Plan:\n- [x] look\n- [ ] add tests")],
        [text_turn(1, "TODO: add tests")],
        [edit(1, path="TODO.md", old_str="", new_str="TODO: none\n- [ ] nothing left.\n")],
        [edit(1, path="src/a.py", new_str="# TODO: add tests")],
        [edit(1, path="README.md", new_str="- [ ] add tests")],
        [text_turn(1, "the method todo is there")],
        [
            edit(1, path="plan.md", old_str="", new_str="- [ ] add tests\n"),
            edit(2, path="plan.md", old_str="- [ ] add tests", new_str="- [x] add tests"),
        ],
        [edit(1, path="TODO.md", old_str="- [ ] theirs\na", new_str="- [ ] theirs\nb")],
    ],
    ids=str,
)
def test_done_items_and_those_of_others_are_not_told(before):
    assert "todo_left" not in [kind for _, kind in kinds(*before, submit(9))]


def test_the_final_message_is_the_last_list():
    assert kinds(text_turn(1, "- [ ] a"), submit(2, message="- [x] a"))[1:] == []
    assert kinds(submit(1, message="Done.\nTODO: none")) == []
    assert one("todo_left", submit(1, message="- [ ] a")).evidence == {"items": ["a"]}


def test_much_effort_on_an_easy_task_that_was_solved_is_told():
    easy = Options(difficulty=0.1, effort_limit=0.25)
    turns = [read(1), read(2, path="b"), read(3, path="c"), submit(4)]
    event = one("overthinking_easy", *turns, options=easy, resolved=True)

    assert (event.turn, event.target.part, event.severity) == (3, "message", "info")
    assert kinds(*turns, options=easy, resolved=False) == []
    assert kinds(*turns, options=Options(difficulty=0.3, effort_limit=0.25), resolved=True) == []
    assert kinds(*turns, options=Options(effort_limit=0.25), resolved=True) == []
    assert kinds(*turns, options=Options(difficulty=0.1), resolved=True) == []

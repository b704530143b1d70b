"""What is told of a submission: unchecked edits, failures that were not seen to pass."""

import pytest

from codeenv.feedback import Options, options_for
from tests.feedback.play import GREEN, RED, edit, kinds, one, run, submit, turn
from tests.toytask import make_task

CODE = edit(1, path="calc.py")
TESTED = run(2, "pytest -q", GREEN)
FULL = run(2, "pytest", "FAILED tests/test_a.py::test_b - x\n1 failed, 30 passed in 1.0s", 1)


def found(*turns, **given):
    return [kind for _, kind in kinds(*turns, **given)]


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/a/b/ calc.py",
        "cat > calc.py <<'E'\ndef add(a, b): return a\nE",
        "patch calc.py < fix.diff",
        "git checkout calc.py",
        "mv /tmp/new.py calc.py",
        "echo x | tee -a calc.py",
    ],
)
def test_an_edit_by_a_command_is_an_edit_where_that_is_plain(command):
    assert found(run(1, command), submit(2)) == ["no_verify"]
    assert found(CODE, TESTED, run(3, command), submit(4)) == ["no_verify"]
    assert found(run(1, command), TESTED, submit(3)) == []
    assert found(run(1, f"{command}\npytest"), submit(2)) == []


@pytest.mark.parametrize(
    "command",
    [
        "make",
        "git apply fix.diff",
        "grep '> calc.py' README.md",
        "echo x > out.txt",
        "echo x > /tmp/calc.py",
        "cp calc.py /tmp/",
        "cd $HOME; rm calc.py",
        "(cd /tmp; ls); rm calc.py",
        "bash -c 'cd /tmp; ls'; rm calc.py",
        "sed -i s/a/b/ tests/test_a.py",
    ],
)
def test_a_command_that_may_have_edited_code_is_no_edit(command):
    assert found(run(1, command), submit(2)) == []


def test_a_command_that_failed_is_no_edit():
    assert found(run(1, "sed -i s/a/b/ calc.py", "no such file", 2), submit(2)) == []


@pytest.mark.parametrize("path", ["PLAN.md", "CHANGELOG.md", "docs/a.rst", "tests/test_a.py"])
def test_only_code_needs_another_run(path):
    assert found(CODE, TESTED, edit(3, path=path, old_str="a"), submit(4)) == []


def test_where_a_task_is_known_only_its_places_need_another_run():
    options = options_for(make_task())

    assert found(edit(1, path="src/notes/text.py"), submit(2), options=options) == ["no_verify"]
    assert found(edit(1, path="check_slug.py"), submit(2), options=options) == []
    assert found(run(1, "touch a; rm src/notes/text.py"), submit(2), options=options) == [
        "no_verify"
    ]


@pytest.mark.parametrize(
    "command",
    [
        'python -c "from calc import add; assert add(1, 2) == 3"',
        "cd src && python check_add.py",
        "python - <<'E'\nimport calc\nE",
    ],
)
def test_a_check_of_ones_own_verifies_if_it_succeeds_after_the_last_edit(command):
    assert found(CODE, run(2, command), submit(3)) == []
    assert found(CODE, run(2, command, "Traceback", 1), submit(3)) == ["no_verify"]
    assert found(run(1, command), edit(2, path="calc.py"), submit(3)) == ["no_verify"]


@pytest.mark.parametrize("command", ["python --version", "python -m pip list", "python setup.py x"])
def test_a_program_of_others_is_no_check(command):
    assert found(CODE, run(2, command), submit(3)) == ["no_verify"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no tests ran in 0.01s\n[exit code 5]", 5),
        ("3 deselected in 0.01s", 0),
        ("ERROR: not found: tests/x\n\nno tests ran in 0.00s", 4),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", 5),
        ("bash: pytest: command not found", 127),
        ("/usr/bin/python3: No module named pytest", 1),
    ],
)
def test_a_run_of_no_tests_is_neither_a_failure_nor_a_check(text, code):
    assert found(CODE, run(2, "pytest -k x", text, code), submit(3)) == ["no_verify"]
    assert "premature_finish" in found(CODE, FULL, run(3, "pytest -k x", text, code), submit(4))


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("Ran 3 tests in 0.001s\n\nFAILED (failures=1)", True),
        ("FAILED (errors=2, skipped=1)", True),
        ("***Test Failed*** 1 failures.", True),
        ("Ran 3 tests in 0.001s\n\nOK (skipped=1)", False),
        ("=== 2 failed in 0.1s ===", True),
    ],
)
def test_a_summary_that_went_through_a_pipe_decides(text, failed):
    pipe = run(2, "python -m unittest 2>&1 | tail -3", text, 0)

    assert ("premature_finish" in found(CODE, pipe, submit(3))) == failed


def test_a_run_that_was_stopped_did_not_pass():
    stopped = turn(
        2, "run_command", {"command": "pytest"}, "..\nerror[timeout]: x", error="timeout"
    )
    event = one("premature_finish", CODE, stopped, submit(3))

    assert event.hint == "The last run of the tests, at turn 2, did not come to its end."
    assert "no_verify" not in found(CODE, stopped, submit(3))


def test_failing_tests_of_a_solved_episode_are_no_mistake():
    assert found(CODE, FULL, submit(3), resolved=True) == []
    assert found(CODE, FULL, submit(3), resolved=False) == ["premature_finish"]
    assert found(CODE, FULL, resolved=False) == []


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/test_b.py",
        "python -c 'import pytest; pytest.main([\"tests/test_b.py\"])'",
        "python -m pytest tests/test_a.py::test_c",
        "pytest -k other",
        "pytest --deselect tests/test_a.py::test_b",
        "pytest --ignore=tests/test_a.py",
    ],
)
def test_a_green_run_of_other_tests_leaves_a_failure(command):
    event = one("premature_finish", CODE, FULL, run(3, command, GREEN), submit(4))

    assert event.hint == "Tests failed and were not seen to pass since: tests/test_a.py::test_b."
    assert event.evidence["failing"] == ["tests/test_a.py::test_b"]


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "pytest -q -n 4 tests",
        "pytest tests/test_a.py",
        "python -c 'import pytest; pytest.main([\"tests/test_a.py\"])'",
        "python -c 'import pytest; pytest.main()'",
        "cd tests && pytest test_a.py::test_b",
        "pytest -k test_b",
        "pytest -k 'b and not c'",
        "pytest --lf",
        "make test",
        "python -m unittest",
        "pytest tests/test_b.py; pytest tests/test_a.py",
    ],
)
def test_a_green_run_of_the_failed_tests_settles_them(command):
    assert found(CODE, FULL, run(3, command, GREEN), submit(4)) == []


def test_a_run_that_ends_at_its_first_failure_settles_nothing_else():
    first = run(3, "pytest -qx", "FAILED t.py::test_z - x\n1 failed in 0.1s", 1)
    event = one("premature_finish", CODE, FULL, first, submit(4))

    assert event.evidence["failing"] == ["t.py::test_z", "tests/test_a.py::test_b"]
    assert found(CODE, FULL, first, run(4, "pytest", GREEN), submit(5)) == []


def test_what_counts_may_be_said_by_the_caller():
    options = Options(counts=lambda path: path == "a.txt")

    assert found(edit(1, path="a.txt"), submit(2), options=options) == ["no_verify"]
    assert found(edit(1, path="a.py"), submit(2), options=options) == []
    assert found(edit(1, path="a.txt"), run(2, "pytest", RED, 1), submit(3), options=options) == [
        "premature_finish"
    ]

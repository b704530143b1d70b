import pytest

from codeenv.sandbox.base import ExecResult
from codeenv.sandbox.fake import FakeSandbox
from codeenv.tools import ToolCall, ToolContext, perform
from codeenv.tree import Delta, Entry, Tree

START = Tree(
    {
        "old.py": Entry(b"BAD\nE1\n"),
        "a.py": Entry(b"E1\nfine\n"),
        "pkg/b.py": Entry(b"fine\n"),
        "ruff.toml": Entry(b""),
    }
)


def answer(box, command, stdin):
    """Play an interpreter that trips over BAD and a linter that reports E1 and E2."""
    if command[0] == "python3":
        return ExecResult(0, b"line 1: invalid syntax\n" if b"BAD" in stdin else b"")
    rows = [
        f"{command[-2]}:{number}:1: {line} no good"
        for number, line in enumerate(stdin.decode().splitlines(), start=1)
        if line in ("E1", "E2")
    ]
    return ExecResult(1, "\n".join(rows).encode())


@pytest.fixture
def lint():
    def run(changes, path="", start=START):
        box = FakeSandbox(start.apply(Delta({p: Entry(d) for p, d in changes.items()})), answer)
        call = ToolCall(tool="lint", arguments={"path": path})
        return perform(call, ToolContext(box, start=start), "core4+lint")

    return run


def test_nothing_changed_means_no_problems(lint):
    assert lint({}).text == "No new problems."


def test_only_new_problems_are_reported(lint):
    assert lint({"a.py": b"fine\nfine\nE1\nE2\n"}).text == "a.py:4: E2 no good"


def test_the_same_problem_once_more_is_new(lint):
    assert lint({"a.py": b"E1\nE1\n"}).text == "a.py:2: E1 no good"


def test_a_new_syntax_error_is_reported_and_an_old_one_is_not(lint):
    assert lint({"a.py": b"BAD\n"}).text == "a.py:1: syntax error: invalid syntax"
    assert lint({"old.py": b"BAD\n# more\n"}).text == "No new problems."


def test_a_path_narrows_the_check(lint):
    changes = {"a.py": b"E2\n", "pkg/b.py": b"E2\n", "pkg/new.py": b"E2\n"}

    assert lint(changes, "pkg").text == "pkg/b.py:1: E2 no good\npkg/new.py:1: E2 no good"
    assert lint(changes, "pkg/b.py").text == "pkg/b.py:1: E2 no good"
    assert lint(changes, "none").error == "not_found"


def test_a_linter_the_project_does_not_configure_is_not_run(lint):
    start = Tree({"a.py": Entry(b"fine\n"), "pyproject.toml": Entry(b"[tool.black]\n")})

    assert lint({"a.py": b"E2\n"}, start=start).text == "No new problems."
    assert lint({"a.py": b"E2\n"}, start=Tree({**start, "ruff.toml": Entry(b"")})).text != (
        "No new problems."
    )


@pytest.mark.parametrize(
    "configuration",
    [
        {"pyproject.toml": b"[tool.ruff]\n"},
        {".flake8": b"[flake8]\n"},
        {"setup.cfg": b"[flake8]\nmax-line-length = 100\n"},
        {"tox.ini": b"[flake8]\n"},
    ],
)
def test_the_projects_configuration_says_which_linter(lint, configuration):
    start = Tree({"a.py": Entry(b""), **{p: Entry(d) for p, d in configuration.items()}})

    assert lint({"a.py": b"E2\n"}, start=start).text == "a.py:1: E2 no good"


def test_a_broken_configuration_is_not_the_agents_problem(lint):
    start = Tree({"a.py": Entry(b""), "pyproject.toml": Entry(b"[tool\n\xff")})

    assert lint({"a.py": b"E2\n"}, start=start).ok

"""``codeenv play`` as a person has it: in a real terminal."""

import json
import sys

import pytest

from codeenv.env.runtime import Runtime
from codeenv.tasks.taskset import Taskset

PROMPT = "codeenv>"


@pytest.fixture(scope="module")
def small():
    """The smallest shipped task."""
    taskset = Taskset.load("toy")
    recipe = min(taskset.recipes, key=lambda r: (r.difficulty.lines, r.id))
    with Runtime("local") as runtime:
        return runtime.task(recipe, taskset)


@pytest.fixture
def editor(small, tmp_path):
    """An editor that puts the deleted code back."""
    ((path, entry),) = small.oracle.write.items()
    answer, script = tmp_path / "answer", tmp_path / "editor.py"
    answer.write_bytes(entry.data)
    script.write_text(f"import shutil, sys\nshutil.copyfile({str(answer)!r}, sys.argv[1])\n")
    return path, f"{sys.executable} {script}"


def started(terminal, task, *more):
    """A session that plays, at its first prompt."""
    terminal.type(f"{sys.executable} -m codeenv play {task.id} --backend local {' '.join(more)}")
    terminal.wait(PROMPT)
    return terminal


@pytest.mark.parametrize("columns", [60, 120])
def test_a_person_plays_a_task_to_its_reward(tmux, small, editor, tmp_path, columns):
    path, command = editor
    out = tmp_path / "run"
    terminal = tmux(columns=columns, VISUAL=command)
    started(terminal, small, "--out", str(out))
    welcome = terminal.screen()
    assert "How it is checked" in welcome
    assert "Tab completes" in welcome

    terminal.type("ls docs tests")
    terminal.wait("test_ledger.py")
    terminal.type(f"edit {path}")
    terminal.wait("edited ")
    terminal.type("diff")
    terminal.wait(f"+++ b/{path}")
    assert "+    def " in terminal.screen()
    terminal.type("test")
    terminal.wait(" passed in ")
    terminal.type("submit")
    asked = terminal.wait("hand in? [y/N]")
    assert f"  {path}  +" in asked
    terminal.type("y")
    terminal.wait("again: codeenv play")

    assert "reward 1 " in terminal.screen()
    (record,) = map(json.loads, (out / "outcomes.jsonl").read_text().splitlines())
    assert (record["reward"], record["n_steps"]) == (1.0, 5)
    assert json.loads((out / "manifest.json").read_text())["agent"] == "human"


def test_tab_completes_and_arrow_up_brings_a_line_back(tmux, small):
    terminal = started(tmux(), small)

    terminal.press("rea", "Tab")
    terminal.wait("read_file")
    terminal.press("C-u", "read po", "Tab", "led", "Tab", "1", "Enter")
    terminal.wait("codeenv> read pocketbook/ledger.py 1")
    terminal.wait("     1  ")
    terminal.clear()
    terminal.type("steps")
    terminal.wait("99 of 100 calls left")
    terminal.press("Up", "Up", "Enter")
    terminal.wait("     1  ")


def test_a_line_and_a_command_can_be_given_up(tmux, small):
    terminal = started(tmux(), small)

    terminal.press("run touch x")
    terminal.wait("codeenv> run touch x")
    terminal.press("C-c")
    terminal.wait("codeenv> run touch x^C")
    terminal.type("run sleep 600")
    terminal.wait("sleep 600   0:00:0")
    terminal.press("C-c")
    terminal.wait("still going on, until its time is up; Ctrl-C again leaves")
    terminal.press("C-c")
    terminal.wait("interrupted")
    terminal.wait("shell>", 2)
    sane(terminal)


@pytest.mark.parametrize(
    ("key", "asked", "said"),
    [("C-d", False, "left without"), ("C-c", True, "interrupted")],
)
def test_leaving_grades_nothing_and_leaves_the_terminal_as_it_was(tmux, small, key, asked, said):
    terminal = started(tmux(), small)

    terminal.press(key)
    if asked:
        terminal.wait("Ctrl-C again, Ctrl-D or quit leaves")
        terminal.wait(PROMPT, 2)
        terminal.press(key)
    terminal.wait(said)
    terminal.wait("shell>", 2)
    assert "reward" not in terminal.screen().rpartition(PROMPT)[2]
    sane(terminal)


def sane(terminal):
    """What is typed is seen, and so is the cursor."""
    terminal.clear()
    terminal.type("echo cursor=$(tmux display-message -p '#{cursor_flag}')")
    terminal.wait("cursor=1")
    terminal.type("stty -a")
    modes = terminal.wait(" echoe ").split()
    assert {"echo", "icanon", "isig", "icrnl", "opost"} <= {mode.rstrip(";") for mode in modes}

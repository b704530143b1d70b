"""``codeenv run`` as a person sees it: in a real terminal."""

import json
import re
import sys
import threading

import pytest

from codeenv.tasks.taskset import Taskset
from tests.harness.chat_server import said


@pytest.fixture(scope="module")
def two():
    """The ids of the two smallest shipped tasks."""
    recipes = sorted(Taskset.load("toy").recipes, key=lambda r: (r.difficulty.lines, r.id))
    return [recipe.id for recipe in recipes[:2]]


def run_words(*words):
    return " ".join([sys.executable, "-m", "codeenv", "run", *words, "--backend", "local"])


@pytest.mark.parametrize("columns", [60, 120])
def test_a_run_shows_how_far_it_is_what_it_took_and_in_the_end_only_its_results(
    tmux, two, chat_server, tmp_path, columns
):
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"input": 1000, "output": 0}}')
    released, asked = threading.Event(), []

    def answer(body):
        """Submit at once in the first episode; let the others wait until the screen was seen."""
        asked.append(body)
        if len(asked) > 1:
            released.wait(60)
        return said(("submit", {}), usage=(2000, 10))

    chat_server.otherwise = answer
    terminal = tmux(columns=columns)
    words = (two[0], "--agent", "chat:m", "--rollouts", "3", "--prices", str(prices))
    terminal.type(run_words(*words, "--concurrency", "2"))
    terminal.wait(" 1/3\n2 running")
    seen = terminal.wait("cost $2.0000")
    released.set()
    terminal.wait("mean steps")

    assert re.search(r"chat:m plays ━+", seen)
    assert "solved 0 (0%)  tokens 2.0k in, 10 out" in seen
    assert re.search(r"0:0\d:\d\d gone  0:0\d:\d\d to go", seen)
    final = terminal.screen()
    assert final.count("#2: submitted") == 1
    assert "running" not in final
    assert "to go" not in final


def test_a_run_in_a_terminal_can_be_interrupted_and_goes_on_from_what_was_done(
    tmux, two, chat_server, tmp_path
):
    released, asked = threading.Event(), []

    def answer(body):
        asked.append(body)
        if len(asked) > 1:
            released.wait(60)
        return said(("submit", {}))

    chat_server.otherwise = answer
    terminal = tmux(columns=120)
    out = tmp_path / "run"
    words = (two[0], "--agent", "chat:m", "--rollouts", "3", "--concurrency", "1")
    terminal.type(run_words(*words, "--out", str(out)))
    terminal.wait(" 1/3\n1 running")
    terminal.press("C-c")
    terminal.wait("interrupted")
    chat_server.otherwise = said(("submit", {}))
    released.set()
    asked.clear()
    terminal.clear()
    terminal.type(
        run_words(*words, "--out", str(out), "--resume", "--json", ">", str(out / "json"))
    )
    terminal.wait("#2: submitted")
    terminal.wait("are in ")

    lines = (out / "json").read_text().splitlines()
    assert [json.loads(line)["rollout"] for line in lines] == [0, 1, 2]
    assert "#0: submitted" not in terminal.screen()

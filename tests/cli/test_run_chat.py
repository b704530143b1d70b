"""``codeenv run --agent chat:MODEL``: options, budgets, and what it says when it cannot."""

import json
import re
from pathlib import Path

import pytest

from codeenv.cli import main
from codeenv.tasks.taskset import Taskset
from tests.harness.chat_server import Fail, said

RUN = ["--backend", "local", "--json", "--agent", "chat:m"]


@pytest.fixture(scope="module")
def small():
    return min(Taskset.load("toy").recipes, key=lambda r: (r.difficulty.lines, r.id)).id


def test_a_model_plays_a_real_task_with_options_of_its_own(small, chat_server, capsys, tmp_path):
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"input": 1, "output": 2}}')
    look = said(("run_command", {"command": "ls"}), content="I look around.")
    chat_server.answers += [look]
    more = ["--agent-option", "temperature=0.5", "--agent-option", 'extra_body={"top_k": 3}']
    out = tmp_path / "run"

    words = ["run", small, *RUN, *more, "--prices", str(prices), "--out", str(out)]
    assert main(words) == 0

    (record,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (record["reward"], record["reason"], record["n_steps"]) == (0.0, "submitted", 2)
    assert (chat_server.asked[0]["temperature"], chat_server.asked[0]["top_k"]) == (0.5, 3)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["settings"] == {"temperature": 0.5, "extra_body": {"top_k": 3}}
    (path,) = (out / "trajectories").iterdir()
    assert json.loads(path.read_text())["steps"][1]["metrics"]["cost_usd"] == pytest.approx(120e-6)


def test_people_are_told_what_the_model_used_and_cost(small, chat_server, capsys, tmp_path):
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"input": 1, "output": 2}}')
    looks = (("run_command", {"command": "ls"}), ("run_command", {"command": "ls docs"}))
    chat_server.answers += [said(*looks, content="I look around.")]
    agent = [word for word in RUN if word != "--json"]

    assert main(["run", small, *agent, "--prices", str(prices)]) == 0

    rows = [row.split("  ") for row in capsys.readouterr().out.splitlines()]
    told = {row[0]: row[-1].strip() for row in rows}
    assert told["mean steps"] == "3.0"
    assert told["prompt tokens"] == "200 a rollout (median), 200 in all"
    assert told["cost"] == "$0.0002 a rollout (median), $0.0002 in all"


def test_a_spent_budget_is_told_and_ends_with_1(small, chat_server, capsys):
    words = ["run", small, *RUN, "--rollouts", "3", "--concurrency", "1", "--budget-tokens", "100"]
    assert main(words) == 1

    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 1
    assert "2 rollouts were not played: the budget is spent" in re.sub(r"\s+", " ", told.err)


@pytest.mark.parametrize(
    ("more", "said_of_it"),
    [
        (["--agent-option", "temprature=1"], "agent option temprature"),
        (["--agent-option", "temperature"], "not NAME=VALUE"),
        (["--budget-usd", "0"], "must be above 0"),
        (["--budget-usd", "much"], "not an amount"),
        (["--prices", "nowhere.json"], "nowhere.json is no table of prices"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_played(
    small,
    chat_server,
    capsys,
    more,
    said_of_it,
):
    assert main_or_exit(["run", small, *RUN, *more]) == 2
    assert said_of_it in capsys.readouterr().err
    assert chat_server.asked == []


def test_a_server_that_refuses_is_told_with_what_to_check(small, chat_server, capsys):
    chat_server.otherwise = Fail(401, message="wrong key")

    assert main(["run", small, *RUN]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "chat:m: " in told.err
    assert "wrong key" in told.err
    assert "hint: check base_url" in told.err


def test_a_program_in_the_box_plays_and_its_upload_stays_private(
    small, chat_server, capsys, tmp_path
):
    program = tmp_path / "hello.sh"
    program.write_text("echo hello; cat > $HOME/read")
    out = tmp_path / "run"
    words = ["run", small, "--backend", "local", "--json", "--out", str(out)]
    words += ["--agent", "cmd:sh $CODEENV_AGENT/hello.sh"]

    assert main([*words, "--agent-option", f"upload={program}"]) == 0

    (record,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (record["reward"], record["reason"], record["n_steps"]) == (0.0, "submitted", 1)
    assert str(tmp_path) not in (out / "manifest.json").read_text()
    assert main([*words, "--agent-option", f"upload={program}", "--resume"]) == 0
    program.write_text("echo another")
    assert main([*words, "--agent-option", f"upload={program}", "--resume"]) == 2
    assert "holds another run" in capsys.readouterr().err
    assert main_or_exit(["run", small, *RUN[:3], "--agent", "cmd:nothing-like-this"]) == 2
    assert "hint: --agent-option upload=PATH" in capsys.readouterr().err


def main_or_exit(words):
    try:
        return main(words)
    except SystemExit as ended:
        return ended.code


def test_the_page_s_agent_plays(capsys, monkeypatch):
    text = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text("utf-8")
    block, driven = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    exec(compile(driven, "agents.md", "exec"), {})
    exec(compile(block.replace("Runtime()", "Runtime('local')"), "agents.md", "exec"), {})

    assert capsys.readouterr().out == "submitted 0.0 3\n"

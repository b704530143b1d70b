"""Every command on the bundled toy, end to end."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codeenv.cli import main
from codeenv.tasks.taskset import Taskset


@pytest.fixture(scope="module")
def small():
    """The id of the smallest shipped task."""
    return min(Taskset.load("toy").recipes, key=lambda r: (r.difficulty.lines, r.id)).id


def said(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_verify_says_in_json_that_nop_scores_0_and_oracle_1(small, capsys):
    assert main(["verify", small, "--backend", "local", "--repeat", "2", "--json"]) == 0

    (found,) = said(capsys)
    assert found["task_id"] == small
    assert (found["nop_rewards"], found["oracle_rewards"]) == ([0.0, 0.0], [1.0, 1.0])
    assert found["ok"] is True


@pytest.fixture
def broken(small, tmp_path):
    """A folder with the smallest task, where a test that needs nothing is said to reward."""
    taskset = Taskset.load("toy").select([small])
    (recipe,) = taskset.recipes
    known = {*recipe.fail_to_pass, *recipe.excluded}
    extra = next(t for t in taskset.baseline(recipe.baseline).stable if t not in known)
    changed = recipe.model_copy(update={"fail_to_pass": (*recipe.fail_to_pass, extra)})
    models = (taskset.baselines.values(), taskset.environments.values())
    Taskset.write(tmp_path / "broken", [changed], *models)
    return str(tmp_path / "broken"), extra


def test_verify_ends_with_1_for_a_test_that_rewards_nothing_done(broken, small, capsys):
    folder, test = broken

    assert main(["verify", folder, "--backend", "local", "--json"]) == 1

    (found,) = said(capsys)
    assert (found["ok"], found["oracle_rewards"]) == (False, [1.0])
    assert found["problems"] == [f"nop: pass without the feature: {test}"]


def test_audit_says_in_json_that_nothing_leaks(small, capsys):
    assert main(["audit", small, "--workspace-only", "--json"]) == 0

    (found,) = said(capsys)
    assert found == {"task_id": small, "ok": True, "leaks": [], "warnings": found["warnings"]}


@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_run_says_in_json_what_each_rollout_gave(small, capsys, tmp_path, agent, reward):
    out = str(tmp_path / "run")
    words = ["run", small, "--agent", agent, "--rollouts", "2", "--backend", "local", "--json"]

    assert main([*words, "--out", out]) == 0

    found = said(capsys)
    assert [record["reward"] for record in found] == [reward, reward]
    assert [record["rollout"] for record in found] == [0, 1]


def test_run_tells_people_what_its_numbers_are_over(small, capsys):
    words = ["run", small, "--agent", "oracle", "--rollouts", "2", "--backend", "local"]

    assert main(words) == 0

    rows = capsys.readouterr().out.splitlines()
    assert [row.split("  ")[0] for row in rows] == [
        "valid only",
        "resolved",
        "pass@1",
        "pass@2",
        "tasks resolved",
        "mean reward",
        "mean steps",
    ]
    assert rows[0].endswith("2 of 2 rollouts")
    assert rows[2].endswith("100.0%, no interval, over 1 task")


def test_a_run_is_resumed_and_a_recorded_episode_is_replayed(small, capsys, tmp_path):
    out = str(tmp_path / "run")
    words = ["run", small, "--agent", "oracle", "--backend", "local", "--json", "--out", out]
    assert main(words) == 0
    first = said(capsys)

    assert main(words) == 2
    capsys.readouterr()
    assert main([*words, "--resume"]) == 0
    assert said(capsys) == first
    assert main(["run", small, "--agent", f"replay:{out}", "--backend", "local", "--json"]) == 0
    assert said(capsys)[0]["reward"] == 1.0


@pytest.mark.parametrize("spec", ["clever", "replay:", "chat"])
def test_run_refuses_an_unknown_agent_with_the_choices(spec, capsys):
    assert main(["run", "toy", "--agent", spec]) == 2

    assert "oracle, nop, random, replay:FILE" in capsys.readouterr().err


def test_run_refuses_to_resume_nothing(capsys):
    assert main(["run", "toy", "--agent", "nop", "--resume"]) == 2


def test_play_lets_a_person_read_and_hand_in(small, capsys, monkeypatch):
    typed = "read .\nrun echo from-the-box\nsearch def\ndiff\nsubmit\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))

    assert main(["play", small, "--backend", "local", "--json"]) == 0

    out, err = capsys.readouterr()
    outcome = json.loads(out)
    assert (outcome["reason"], outcome["n_steps"], outcome["reward"]) == ("submitted", 4, 0.0)
    assert "from-the-box" in err


def test_play_shows_the_oracle(small, capsys):
    assert main(["play", small, "--agent", "oracle", "--backend", "local"]) == 0

    out = capsys.readouterr().out
    assert "What is missing" in out
    assert "reward 1" in out


def test_show_can_add_the_statement(small, capsys):
    assert main(["tasks", "show", small, "--instruction", "--json"]) == 0

    (shown,) = said(capsys)
    assert "What is missing" in shown["instruction"]


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_generate_says_in_json_what_became_of_every_candidate(tmp_path, capsys):
    out = str(tmp_path / "tasks")
    words = ["generate", "--repo", "bundled:toy", "--out", out, "--limit", "1", "--json"]

    assert main([*words, "--backend", "bubblewrap"]) == 0

    (told,) = said(capsys)
    assert len(told["tasks"]) == 1
    assert sum(told["funnel"].values()) == told["candidates"]
    assert Taskset.load(out).ids == tuple(told["tasks"])


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_generated_tests_can_be_split_into_seen_and_held_out_ones(tmp_path, capsys):
    out = str(tmp_path / "tasks")
    words = ["generate", "--repo", "bundled:toy", "--out", out, "--limit", "1", "--json"]

    assert main([*words, "--tests", "split", "--backend", "bubblewrap"]) == 0

    said(capsys)
    (recipe,) = Taskset.load(out).recipes
    assert 0 < len(recipe.held_out) <= len(recipe.fail_to_pass) // 2
    assert set(recipe.held_out) < set(recipe.fail_to_pass)
    assert main(["tasks", "show", out, "--instruction", "--json"]) == 0
    (shown,) = said(capsys)
    assert "of which you see only some" in shown["instruction"]
    seen = set(recipe.fail_to_pass) - set(recipe.held_out)
    assert any(f"`{test}`" in shown["instruction"] for test in seen)
    assert not any(f"`{test}`" in shown["instruction"] for test in recipe.held_out)


@pytest.mark.slow
@pytest.mark.bubblewrap
def test_the_demo_falls_back_to_the_toy_where_no_index_answers(capsys, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)

    assert main(["demo", "--backend", "bubblewrap", "--limit", "1", "--json"]) == 0

    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["repository"] == "bundled:toy"
    assert "bundled toy instead" in err
    assert {a: o["reward"] for a, o in told["episodes"].items()} == {"oracle": 1.0, "nop": 0.0}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "backend", ["local", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)]
)
def test_an_interrupted_command_takes_its_boxes_with_it(small, backend, number):
    words = [sys.executable, "-m", "codeenv", "play", small, "--backend", backend]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stderr:
            if line.startswith("diff shows "):  # the last line before the first prompt
                break
        boxes = _children(process.pid)

        process.send_signal(number)
        rest = process.communicate(timeout=60)[1]

    assert process.returncode == 130
    assert rest.endswith("interrupted\n")
    assert "Traceback" not in rest
    assert boxes
    assert not [pid for pid in boxes if os.path.exists(f"/proc/{pid}")]


def _children(pid):
    files = Path(f"/proc/{pid}/task").glob("*/children")  # each thread has its own
    return [child for file in files for child in file.read_text().split()]

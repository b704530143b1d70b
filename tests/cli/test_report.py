"""``codeenv report``."""

import json
import sys

import pytest

from codeenv.cli import main
from codeenv.env.fake import fake_taskset
from codeenv.tasks.taskset import Taskset
from tests.harness.report.made import played, spoken, told
from tests.harness.runs import record


def test_markdown_is_on_standard_output(tmp_path, capsys):
    run = played(tmp_path / "run", "oracle")

    assert main(["report", str(run)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# Report\n\nFigures are over valid rollouts.")
    assert err == ""


def test_json_is_one_document_with_the_same_facts(tmp_path, capsys):
    run = played(tmp_path / "run", "oracle")

    assert main(["report", str(run), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["over"] == "valid rollouts"
    (facts,) = document["runs"]
    assert (facts["name"], facts["valid"], facts["passes"][0]["figure"]["value"]) == (
        "oracle",
        2,
        1.0,
    )
    assert [task["status"] for task in facts["tasks"]] == ["always", "always"]


def test_named_tasks_tell_tier_and_difficulty(tmp_path, capsys):
    taskset = fake_taskset("a", "b")
    folder = tmp_path / "tasks"
    Taskset.write(
        folder, taskset.recipes, taskset.baselines.values(), taskset.environments.values()
    )
    run = played(tmp_path / "run", "oracle")

    assert main(["report", str(run), "--tasks", str(folder)]) == 0
    assert "## By tier\n" in capsys.readouterr().out
    assert main(["report", str(run)]) == 0
    assert "2 tasks of unknown tier" in capsys.readouterr().out


def test_other_tasks_than_those_played_are_refused(tmp_path, capsys):
    taskset = fake_taskset("a", "b")
    changed = [recipe.model_copy(update={"title": "Other"}) for recipe in taskset.recipes]
    folder = tmp_path / "tasks"
    Taskset.write(folder, changed, taskset.baselines.values(), taskset.environments.values())

    words = ["report", str(played(tmp_path / "run", "oracle")), "--tasks", str(folder)]
    assert main(words) == 2
    assert "another recipe" in capsys.readouterr().err


def test_prices_are_read(tmp_path, capsys):
    run = told(tmp_path / "run", "x", [(record("a", 1), spoken(10))])
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"input": 0, "output": 100}}')

    assert main(["report", str(run), "--prices", str(prices)]) == 0
    assert "| 0.0010 (0.0010 in all) |" in capsys.readouterr().out


def test_the_page_is_written_beside_the_markdown(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    run, file = played(tmp_path / "run", "oracle"), tmp_path / "new" / "page.html"

    assert main(["report", str(run), "--html", str(file)]) == 0
    assert file.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert f"the page is in {file}" in capsys.readouterr().err


def test_no_page_is_written_over_a_run(tmp_path, capsys):
    run = played(tmp_path / "run", "oracle")

    assert main(["report", str(run), "--html", str(run / "outcomes.jsonl")]) == 2
    assert "in the folder of the run" in capsys.readouterr().err


def test_without_matplotlib_only_the_page_is_missing(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    run = str(played(tmp_path / "run", "oracle"))

    assert main(["report", run, "--html", str(tmp_path / "page.html")]) == 2
    assert "pip install 'codeenv-gym[report]'" in capsys.readouterr().err
    assert main(["report", run]) == 0


def test_what_is_no_run_ends_with_2(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()

    for words in (
        [],
        [str(tmp_path / "gone")],
        [str(tmp_path / "file")],
        [str(tmp_path / "empty")],
    ):
        assert main(["report", *words]) == 2
        assert "hint: " in capsys.readouterr().err

import json

import pytest

from codeenv.cli import main
from codeenv.cli.tasks import summarise
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import (
    Baseline,
    Difficulty,
    EnvironmentLock,
    Operation,
    Provenance,
    Recipe,
    SourcePin,
)
from codeenv.tasks.taskset import Taskset

PIN = SourcePin(
    kind="pypi", location="Kettle", version="1.0", sha256="a" * 64, tree="b" * 64, licence="MIT"
)
LOCK = EnvironmentLock(base="host", python="3.13.5", platform="x86_64", packages=())
BASELINE = Baseline(
    source=PIN, environment=digest_of(LOCK), runs=3, stable=("t::a",), quarantined={}, timeout=9.0
)


def recipe(task_id, lines):
    deletion = Operation(
        path="kettle.py", start=0, end=9, sha256="d" * 64, symbol="boil", kind="function",
        mode="remove",
    )  # fmt: skip
    return Recipe(
        id=task_id,
        title=f"Restore {task_id}",
        source=PIN,
        language="python",
        environment=digest_of(LOCK),
        baseline=digest_of(BASELINE),
        deletions=(deletion,),
        fail_to_pass=("t::a",),
        difficulty=Difficulty(lines=lines, symbols=1, files=1, tests=1, prior=0.5),
        damaged_tree="c" * 64,
        provenance=Provenance(generator="test", seed=0, seed_symbol="boil"),
    )


@pytest.fixture
def folder(tmp_path):
    Taskset.write(tmp_path, [recipe("kettle-b", 8), recipe("kettle-a", 4)], [BASELINE], [LOCK])
    return str(tmp_path)


def lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_list_is_one_json_line_per_task(folder, capsys):
    assert main(["tasks", "list", folder, "--json"]) == 0

    first, second = lines(capsys)
    assert (first["id"], second["id"]) == ("kettle-a", "kettle-b")
    assert first["source"] == "pypi:kettle==1.0"


def test_show_with_json_is_the_whole_recipe(folder, capsys):
    assert main(["tasks", "show", f"{folder}/kettle-a.json", "--json"]) == 0

    (shown,) = lines(capsys)
    assert Recipe.model_validate(shown) == recipe("kettle-a", 4)


def test_show_for_people_says_what_is_deleted_and_how_it_is_graded(folder, capsys):
    assert main(["tasks", "show", f"{folder}/kettle-a.json"]) == 0

    out = capsys.readouterr().out
    assert "Restore kettle-a" in out
    assert all(word in out for word in ("boil", "MIT", "remove", "open"))


def test_stats_are_one_json_document(folder, capsys):
    assert main(["tasks", "stats", folder, "--json"]) == 0

    (stats,) = lines(capsys)
    assert stats["tasks"] == 2
    assert stats["sources"] == {"pypi:kettle==1.0": 2}
    assert stats["median_lines"] == 6


def test_list_for_people_has_a_line_per_task_and_nothing_on_standard_error(folder, capsys):
    assert main(["tasks", "list", folder]) == 0

    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split()[0] for line in out.splitlines()] == ["task", "kettle-a", "kettle-b"]


def test_no_tasks_are_no_division_by_zero():
    assert summarise(())["tasks"] == 0


def test_an_unknown_taskset_is_exit_2_with_a_hint(capsys):
    assert main(["tasks", "list", "/no/such/folder"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert "\nhint: " in err

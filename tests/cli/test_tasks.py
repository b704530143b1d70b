import json

from codeenv.cli import main
from codeenv.cli.tasks import summarise
from codeenv.tasks.taskset import Taskset


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
    (recipe,) = Taskset.load(f"{folder}/kettle-a.json").recipes
    assert shown == recipe.model_dump(mode="json")


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
    assert (stats["several_symbols"], stats["several_files"]) == (0.0, 0.0)
    assert 500 < stats["mean_bytes"] < 4000


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

import json

import pytest

from codeenv.cli import main
from codeenv.trajectory import write_trajectory
from codeenv_harness.corpus.script import OWN, SOURCE, Script


@pytest.fixture
def run_of(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            trajectory = Script(name).begin().write(SOURCE, text).end()
            write_trajectory(tmp_path / "trajectories" / f"{name}__0.json", trajectory)
        return str(tmp_path)

    return write


def test_an_honest_run_is_fine(run_of, capsys):
    assert main(["monitor", run_of(a=OWN)]) == 0
    out, err = capsys.readouterr()
    assert "a__0" in out
    assert "1 episodes: 0 mask" in err


def test_a_violation_fails_and_is_told_as_json(run_of, capsys):
    folder = run_of(a=OWN, b=f"{OWN}\n\nimport os\n\nos._exit(0)\n")

    assert main(["monitor", folder, "--json"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["episode"] for line in lines] == ["a__0", "b__0"]
    assert [line["action"] for line in lines] == ["pass", "mask"]
    assert lines[1]["findings"][0]["label"] == "GG-EXIT"
    assert lines[1]["knowledge"] == "task"


@pytest.mark.parametrize("content", [None, "{}"])
def test_what_is_no_run_is_refused_with_a_hint(tmp_path, capsys, content):
    if content is not None:
        (tmp_path / "trajectories").mkdir()
        (tmp_path / "trajectories" / "a__0.json").write_text(content)

    assert main(["monitor", str(tmp_path)]) == 2
    assert "error:" in capsys.readouterr().err


def test_another_recipe_than_the_one_played_is_refused(run_of, tmp_path, capsys):
    folder = run_of(a=OWN)
    manifest = {
        "codeenv": "1", "agent": "a", "backend": "local", "rollouts": 1, "seed": 0,
        "profile": "core4", "max_steps": 1, "wall_time": 0, "output_budget": 0,
        "recipes": {Script("x").task.id: "0" * 64},
    }  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))

    assert main(["monitor", folder, "--tasks", "toy"]) == 2
    assert "another recipe" in capsys.readouterr().err
    assert main(["monitor", folder]) == 0
    assert "without their tasks" in capsys.readouterr().err

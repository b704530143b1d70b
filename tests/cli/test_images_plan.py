"""``codeenv images plan`` reads, and does nothing else."""

import json

import pytest

from codeenv.cli import main


def test_a_plan_in_json_says_where_every_part_comes_from(capsys):
    assert main(["images", "plan", "--repo", "bundled:toy", "--json"]) == 0

    plan = json.loads(capsys.readouterr().out)
    assert len(plan["checks"]) >= 10
    assert all(check["from"] for check in plan["checks"])
    assert {check["held_out"] for check in plan["checks"]} == {True, False}


def test_a_plan_for_people_marks_what_only_judges(tmp_path, capsys):
    files = {
        "tox.ini": "[testenv]\ncommands = pytest tests\nsetenv = SHOP_MODE=test\n",
        "shop.py": "import os\nMODE = os.environ['SHOP_MODE']\n",
        "tests/test_shop.py": "from shop import MODE\n\ndef test_mode():\n    assert MODE\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    assert main(["images", "plan", "--repo", str(tmp_path)]) == 0

    told = capsys.readouterr()
    assert "SHOP_MODE=test  tox.ini:3" in told.out
    assert "* python -c 'import shop'" in told.out
    assert "only judge a build" in told.err


@pytest.mark.parametrize("repo", ["nowhere", "pypi:"])
def test_a_repository_that_is_not_there_is_told_so(repo, capsys):
    assert main(["images", "plan", "--repo", repo]) == 2

    assert "hint:" in capsys.readouterr().err

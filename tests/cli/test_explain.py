import json

import pytest

from codeenv.cli import main
from codeenv.generate import Reason

CANDIDATES = [
    {
        "key": "29fc99d8c7",
        "kind": "method",
        "seed": "a/m.py::Box.put",
        "symbols": ["a/m.py::Box.put", "a/m.py::_pack"],
        "tests": 3,
        "reason": "emitted",
        "detail": "stub",
        "task": "a-1-box.put-1234",
    },
    {
        "key": "c33ebfdcfc",
        "kind": "function",
        "seed": "a/m.py::walk",
        "symbols": ["a/m.py::walk"],
        "tests": 1,
        "reason": "breaks_others",
        "detail": "1 tests, e.g. t.py::test_run",
        "task": None,
    },
]


@pytest.fixture
def out(tmp_path):
    (tmp_path / "funnels").mkdir()
    (tmp_path / "funnels" / "a-1.json").write_text(json.dumps({"candidates": CANDIDATES}))
    return str(tmp_path)


def explained(out, wanted, capsys):
    assert main(["generate", "--out", out, "--explain", wanted, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    "wanted", ["29fc99d8c7", "Box.put", "_pack", "a/m.py::_pack", "a-1-box.put-1234"]
)
def test_a_candidate_is_found_by_key_symbol_or_task(out, wanted, capsys):
    (told,) = explained(out, wanted, capsys)
    assert (told["key"], told["reason"]) == ("29fc99d8c7", "emitted")


def test_a_rejected_candidate_says_why_and_what_that_means(out, capsys):
    (told,) = explained(out, "walk", capsys)
    assert told["detail"] == "1 tests, e.g. t.py::test_run"
    assert told["meaning"] == "a test that never runs it fails without it"


def test_people_get_a_table(out, capsys):
    assert main(["generate", "--out", out, "--explain", "walk"]) == 0
    assert "breaks_others" in capsys.readouterr().out


def test_an_unknown_candidate_and_a_folder_without_a_funnel_are_told(out, tmp_path, capsys):
    assert main(["generate", "--out", out, "--explain", "nothing"]) == 2
    assert "no candidate is called 'nothing'" in capsys.readouterr().err
    assert main(["generate", "--out", str(tmp_path / "no"), "--explain", "walk"]) == 2
    assert "holds no funnel" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        '{"candidates": [{"reason": "emitted"}]}',
        '{"candidates": [{"key": "a", "task": "", "symbols": [], "reason": "of_another_version"}]}',
    ],
)
def test_a_file_that_is_no_funnel_is_told(text, out, tmp_path, capsys):
    (tmp_path / "funnels" / "b.json").write_text(text)
    assert main(["generate", "--out", out, "--explain", "walk"]) == 2
    assert "b.json is no funnel" in capsys.readouterr().err


def test_generate_without_a_repository_says_what_is_missing(capsys):
    assert main(["generate"]) == 2
    assert "--repo is missing" in capsys.readouterr().err


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_meaning(reason):
    assert reason.description


def test_candidates_of_a_list_of_repositories_are_found_in_its_folder(out, tmp_path, capsys):
    (tmp_path / "one").mkdir()
    (tmp_path / "funnels").rename(tmp_path / "one" / "funnels")
    assert [told["key"] for told in explained(out, "walk", capsys)] == ["c33ebfdcfc"]


def test_an_empty_name_starts_no_run(out, capsys):
    assert main(["generate", "--out", out, "--explain", "", "--repo", "bundled:toy"]) == 2
    assert "no candidate is called ''" in capsys.readouterr().err

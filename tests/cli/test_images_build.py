"""``codeenv images build`` and ``explain`` as a person uses them."""

import json
import sys

import pytest

from codeenv.cli import images_build, main
from codeenv.images.causes import Cause
from codeenv.images.planning.facts import Check, Place
from codeenv.images.reports import Report
from codeenv.images.verdict import CheckResult, Verdict
from codeenv.sandbox.fake import FakeBackend

CHECK = CheckResult(Check("python -c 'import toy'", Place("toy.py"), "it imports"), True, "")
GOOD = Report(Verdict("accepted", "9 of 10 tests pass", 10, 9, (CHECK,)), log=("pytest: 9 passed",))
BAD = Report(
    Verdict("too_few_pass", "1 of 10 tests", 10, 1, (), (Cause("network", 9, "no network", "t"),)),
    "do this",
)


@pytest.fixture
def answers(monkeypatch, tmp_path):
    """Give ready reports instead of building."""
    monkeypatch.setenv("CODEENV_CACHE", str(tmp_path))
    monkeypatch.setattr(images_build, "chosen_backend", lambda args: FakeBackend())
    ready = []
    monkeypatch.setattr(images_build, "build_and_judge", lambda *_: (ready[0], None))
    monkeypatch.setattr(images_build, "known_report", lambda tree: ready[0] if ready else None)
    return ready


def test_an_accepted_environment_is_exit_code_0_and_json_says_all(answers, capsys):
    answers.append(GOOD)
    assert main(["images", "build", "--repo", "bundled:toy", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["accepted"], told["stable"], told["reason"]) == (True, 9, "accepted")
    assert told["checks"] == [
        {"command": "python -c 'import toy'", "from": "toy.py", "holds": True, "said": ""}
    ]


def test_a_discarded_one_is_exit_code_1_and_says_why_and_what_to_do(answers, capsys):
    answers.append(BAD)
    assert main(["images", "build", "--repo", "bundled:toy"]) == 1
    told = capsys.readouterr()
    assert "no network" in told.out
    assert "discarded (too_few_pass): 1 of 10 tests" in told.err
    assert "do this" in told.err


def test_explain_shows_the_log_of_the_last_build(answers, capsys):
    answers.append(GOOD)
    assert main(["images", "explain", "--repo", "bundled:toy"]) == 0
    assert "pytest: 9 passed" in capsys.readouterr().out


def test_explain_without_a_build_says_what_to_run(answers, capsys):
    assert main(["images", "explain", "--repo", "bundled:toy"]) == 2
    assert "codeenv images build --repo bundled:toy" in capsys.readouterr().err


@pytest.mark.parametrize("planner", ["cmd:", "chat:", "me", "cmd"])
def test_a_planner_is_a_program_or_a_model(planner, capsys):
    assert main(["images", "build", "--repo", "bundled:toy", "--planner", planner]) == 2
    assert "neither cmd:PROGRAM nor chat:MODEL" in capsys.readouterr().err


def test_a_model_without_a_key_says_what_to_set(monkeypatch, capsys):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(["images", "build", "--repo", "bundled:toy", "--planner", "chat:m"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err


def test_a_model_without_the_sdk_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.delitem(sys.modules, "codeenv.images.planners.chat", raising=False)
    assert main(["images", "build", "--repo", "bundled:toy", "--planner", "chat:m"]) == 2
    assert "codeenv-gym[chat]" in capsys.readouterr().err

"""The documentation's example runs as it stands."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "wrappers.md"


def test_the_example_pays_what_the_page_says(capsys):
    block, _ = blocks()
    names = {}
    exec(compile(block, str(PAGE), "exec"), names)

    assert names["terminated"]
    assert names["info"]["tests_reward"] == 1.0
    assert names["info"]["turn_rewards"] == [-0.1, 0.0, 0.0]
    assert names["total"] == pytest.approx(sum(names["info"]["reward_parts"].values()) - 0.1)
    assert "the tests gave 1.0" in capsys.readouterr().out


def test_the_example_of_chained_contexts_has_samples_of_each(capsys):
    names = {}
    for block in blocks():
        exec(compile(block, str(PAGE), "exec"), names)

    assert names["terminated"]
    assert [[sample.turns for sample in found] for found in names["samples"]] == [[1, 1], [1]]
    assert capsys.readouterr().out.endswith("2 contexts with [2, 1] samples\n")


def blocks():
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_the_page_names_every_wrapper():
    text = PAGE.read_text("utf-8")
    for name in ("LengthPenalty", "BehaviourReward", "TurnPenalty", "SelfSummarize", "Feedback"):
        assert f"| `{name}` |" in text

"""The documentation's example runs as it stands."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "wrappers.md"


def test_the_example_pays_what_the_page_says(capsys):
    text = PAGE.read_text("utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    names = {}
    exec(compile(block, str(PAGE), "exec"), names)

    assert names["terminated"]
    assert names["info"]["tests_reward"] == 1.0
    assert names["info"]["turn_rewards"] == [-0.1, 0.0, 0.0]
    assert names["total"] == pytest.approx(sum(names["info"]["reward_parts"].values()) - 0.1)
    assert "the tests gave 1.0" in capsys.readouterr().out


def test_the_page_names_every_wrapper():
    text = PAGE.read_text("utf-8")
    for name in ("LengthPenalty", "BehaviourReward", "TurnPenalty", "SelfSummarize", "Feedback"):
        assert f"| `{name}` |" in text

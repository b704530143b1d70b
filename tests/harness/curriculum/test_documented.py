"""The documentation's examples run as they stand."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "curriculum.md"


def test_the_examples_run_one_after_the_other(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)

    assert len(blocks) == 3
    assert "groups teach" in capsys.readouterr().out
    assert len(names["fresh"]) == len(names["recipes"])
    assert callable(names["refill"])

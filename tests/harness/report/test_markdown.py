"""A report as Markdown."""

import re

from codeenv_harness.report import markdown
from codeenv_harness.report.markdown import code
from tests.harness.report.made import HOSTILE, found, played, report_of, told
from tests.harness.runs import record


def rows(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_it_says_what_figures_are_over(tmp_path):
    text = markdown(report_of(played(tmp_path / "run", "oracle", rollouts=2)))

    assert "Figures are over valid rollouts." in text
    assert "| `oracle` | 4 of 4 | 100.0% | 100.0% (k = 2, 2 tasks) | 1.000 |" in text
    assert "- solved always: 2 (`a`, `b`)" in text


def test_ten_tasks_are_named_and_the_others_counted(tmp_path):
    run = told(tmp_path / "run", "x", [(record(f"t{n:02}", 0), None) for n in range(12)])

    (line,) = [li for li in markdown(report_of(run)).splitlines() if "solved never" in li]
    assert line.startswith("- solved never: 12 (`t00`, ")
    assert line.endswith("`t09` and 2 more)")


def test_every_row_of_a_table_has_as_many_cells_as_its_heading(tmp_path):
    runs = [told(tmp_path / "a", HOSTILE, [(found("a", 0), None)]), played(tmp_path / "b", "nop")]

    for block in markdown(report_of(*runs)).split("\n\n"):
        assert len({len(line.split("|")) for line in rows(block)}) <= 1


def test_hostile_names_do_nothing(tmp_path):
    bad = record(HOSTILE.replace("/", ""), 0)
    text = markdown(report_of(told(tmp_path / "run", HOSTILE, [(bad, None)])))

    outside = re.sub(r"`[^`\n]*`", "", text)
    assert "<" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "![" not in outside
    assert "alert" not in outside


def test_a_code_span_cannot_be_ended_from_within():
    assert code("a`b|c\nd\\") == "`a\\x60b\\x7cc\\x0ad\\`"
    assert code("") == "` `"

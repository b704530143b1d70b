"""A report's page in a real browser."""

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("playwright")

from codeenv_harness.report.html import page as html
from tests.browser import LOOKS, barriers, look, too_wide
from tests.harness.report.made import HOSTILE, found, played, report_of, spoken, told
from tests.harness.runs import record


@pytest.fixture
def address(tmp_path):
    """The page of two runs, one of them hostile."""
    bad = HOSTILE.replace("/", "")
    rows = [
        (record(bad, None).model_copy(update={"error": HOSTILE}), None),
        (found("a", 0), spoken(40, 0.2, steps=3)),
        (found("a", 1, 1), spoken(80, 0.4)),
        (record("b", 1), spoken(20, 0.1)),
        (record("c", 0), spoken(900, 0.1)),
    ]
    runs = [told(tmp_path / "hostile", HOSTILE, rows, rollouts=2)]
    file = tmp_path / "page.html"
    file.write_text(html(report_of(*runs, played(tmp_path / "oracle", "oracle"))), "utf-8")
    return file.as_uri()


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_everybody_can_read_it(page, address, theme, width):
    look(page, theme, width)
    page.goto(address)

    assert barriers(page) == []
    assert too_wide(page) <= 0


def column(page, title):
    """Return the cells of a column of the table of tasks that are shown, from the top."""
    titles = page.locator("#task-table thead th").all_inner_texts()
    rows = page.locator("#task-table tbody tr:visible").all()
    at = [text.strip() for text in titles].index(title)
    return [row.locator("th, td").nth(at).inner_text() for row in rows]


def test_the_table_of_tasks_is_sorted_by_a_click_and_back_by_another(page, address):
    page.goto(address)
    head = page.locator("#task-table thead").get_by_role("button", name="tokens")

    head.click()
    rising = [cell for cell in column(page, "tokens") if cell != "–"]
    assert rising == ["20", "100", "900"]
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("tokens")
    head.click()
    falling = [cell for cell in column(page, "tokens") if cell != "–"]
    assert falling == [*reversed(rising)]
    assert column(page, "tokens")[-1] == "–"


def test_the_table_of_tasks_is_filtered(page, address):
    page.goto(address)
    page.get_by_label("Outcome").select_option("always")

    assert set(column(page, "outcome")) == {"always"}
    page.get_by_label("Task or error").fill("nothing is called so")
    assert column(page, "outcome") == []


def test_the_keyboard_reaches_the_figures_at_once(page, address):
    page.goto(address)
    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.className") == "skip"

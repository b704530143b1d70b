"""The viewer in a real browser."""

from urllib.parse import quote

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from codeenv_harness.records import RunFolder
from codeenv_harness.report import find_runs
from tests.browser import LOOKS, barriers, look, too_wide
from tests.harness.report.made import told
from tests.harness.runs import record
from tests.harness.viewer.made import BAD, served, shown, step, trajectory


@pytest.fixture
def run(tmp_path):
    return shown(tmp_path / "run")


@pytest.fixture
def url(run):
    with served(run) as server:
        yield server.url


def opened(page, url, place=""):
    """Open a rollout of the run, and wait until it is there."""
    page.goto(f"{url}#/run/{place}" if place else url)
    expect(page.locator("#reading")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#detail h3")).to_be_attached()
    return page


def title(page, words):
    expect(page.locator("#detail h3")).to_contain_text(words)


@pytest.mark.parametrize(("theme", "width"), LOOKS)
@pytest.mark.parametrize("place", ["kettle/0", "kettle/0/step/2", "kettle/0/step/4",
                                   "kettle/0/step/5", "kettle/0/changes"])  # fmt: skip
def test_everybody_can_read_it(page, url, place, theme, width):
    look(page, theme, width)
    opened(page, url, place)

    assert barriers(page) == []
    assert too_wide(page) <= 0


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_everybody_can_read_the_lists_and_the_keys(page, url, theme, width):
    look(page, theme, width)
    opened(page, url)
    if width < 600:
        page.get_by_role("button", name="Rollouts").click()
    assert barriers(page) == []
    page.get_by_role("button", name="Keys").click()
    assert barriers(page) == []


def test_words_of_a_run_are_shown_and_never_markup(page, url):
    for place in ("kettle/0", "kettle/0/step/1", "kettle/0/step/2", "kettle/0/step/4"):
        opened(page, url, place)
        expect(page.locator("#detail")).to_contain_text("<script>alert(2)</script>")
    assert page.locator("img, body script, [onerror]").count() == 0
    assert not {"\x1b", "\u202e", "\0"} & {*page.locator("body").text_content()}
    opened(page, url, f"{quote(BAD.replace('/', ''), safe='')}/0")
    expect(page.locator("#detail")).to_contain_text("is no task id")


def test_a_deep_link_leads_to_its_step_and_follows_the_reader(page, url):
    opened(page, url, "kettle/0/step/4")
    title(page, "Step 4 edit_file")
    page.keyboard.press("j")
    title(page, "Step 5 run_command")
    page.wait_for_url("**/step/5")

    page.reload()
    title(page, "Step 5 run_command")


def test_back_goes_where_the_reader_was(page, url):
    opened(page, url, "kettle/0/step/2")
    page.locator("#steps").get_by_role("option", name="submit").click()
    title(page, "Step 6")
    page.locator("#rollouts").get_by_role("option", name="pot").click()
    expect(page.locator("#head h2")).to_contain_text("pot")

    page.go_back()
    expect(page.locator("#head h2")).to_contain_text("kettle")
    title(page, "Step 6")
    page.go_back()
    title(page, "Step 2")


def test_an_edit_is_a_coloured_diff(page, url):
    opened(page, url, "kettle/0/step/4")

    assert page.locator(".diff .minus .tx").all_inner_texts() == ["    return 0"]
    assert page.locator(".diff .plus .tx").all_inner_texts() == ["    return 100"]
    assert "return" in page.locator(".diff .t-k").all_inner_texts()


def test_what_was_handed_in_is_a_diff_of_each_file(page, url):
    opened(page, url, "kettle/0/changes")

    expect(page.locator("details[open] .plus .tx")).to_have_text("    return 100")
    page.locator("details:not([open]) summary").click()
    expect(page.locator("details").nth(1).locator(".minus")).to_have_count(1)


def test_findings_and_hints_are_at_their_steps_and_a_key_goes_there(page, url):
    opened(page, url, "kettle/0")
    page.keyboard.press("f")
    title(page, "Step 2")
    expect(page.locator("#detail .card")).to_contain_text("search before reading")
    page.keyboard.press("f")
    title(page, "Step 5")
    expect(page.locator("#detail .card")).to_contain_text("SC-CACHE · tool caches of the original")
    page.keyboard.press("f")
    title(page, "Handed in")
    expect(page.locator("#detail .card")).to_contain_text("SC-CACHE")
    page.keyboard.press("Shift+F")
    page.keyboard.press("Shift+F")
    title(page, "Step 2")
    page.keyboard.press("o")
    page.locator("#detail").get_by_role("button", name="step 5").click()
    title(page, "Step 5")


def test_keys_go_from_rollout_to_rollout(page, url):
    opened(page, url, "kettle/0/step/3")
    page.keyboard.press("n")
    expect(page.locator("#head h2")).to_have_text("kettle #1")
    page.keyboard.press("p")
    expect(page.locator("#head h2")).to_have_text("kettle #0")


def test_a_search_goes_from_hit_to_hit(page, url):
    opened(page, url, "kettle/0/step/1")
    page.keyboard.press("/")
    page.keyboard.type("BOIL")
    expect(page.locator("#hits")).to_have_text("1 of 3 steps")
    page.keyboard.press("Enter")
    title(page, "Step 3")
    page.keyboard.press("Enter")
    title(page, "Step 4")
    page.keyboard.press("Shift+Enter")
    title(page, "Step 3")
    page.keyboard.press("Escape")
    expect(page.locator("#hits")).to_have_text("")
    page.keyboard.press("j")
    title(page, "Step 4")


def test_a_hit_in_the_cut_part_of_an_output_is_shown(page, url):
    opened(page, url, "kettle/0/step/1")
    page.locator("#words").fill("line 987")

    title(page, "Step 5")
    expect(page.locator("#detail").get_by_text("line 987")).to_be_in_viewport()


def test_a_long_output_is_cut_and_shown_when_asked(page, url):
    opened(page, url, "kettle/0/step/5")
    assert page.locator("#detail .bare .ln").count() == 400
    page.get_by_role("button", name="Show 600 more lines").click()
    expect(page.locator("#detail .bare .ln")).to_have_count(1000)


def test_rollouts_are_filtered_and_sorted(page, url):
    opened(page, url)
    names = page.locator("#rollouts .name")

    page.get_by_label("Task", exact=True).fill("ket")
    expect(names).to_have_text(["kettle", "kettle"])
    page.get_by_label("Task", exact=True).fill("")
    for choice, count in (("resolved", 1), ("failed", 2), ("invalid", 1), ("flagged", 1)):
        page.get_by_label("Show", exact=True).select_option(choice)
        expect(names).to_have_count(count)
    page.get_by_label("Show", exact=True).select_option("all")
    page.get_by_label("Sort by").select_option("most steps")
    expect(page.locator("#rollouts .about").first).to_contain_text("5 steps")


def test_a_rollout_that_ends_while_somebody_reads_appears(page, url, run):
    opened(page, url, "kettle/0/step/4")
    RunFolder(run).add(record("zebra", 1), trajectory())
    with (run / "outcomes.jsonl").open("ab") as file:
        file.write(b'{"task_id": "torn')

    expect(page.locator("#rollouts .name").last).to_have_text("zebra", timeout=20_000)
    expect(page.locator("#told")).to_have_text("1 more ended")
    title(page, "Step 4")


def test_of_ten_thousand_steps_only_those_in_sight_are_in_the_page(page, tmp_path):
    steps = [step(n, "search", {"query": f"word {n}"}, f"found {n}") for n in range(1, 10_001)]
    long = trajectory().model_copy(update={"steps": tuple(steps)})
    told(tmp_path / "run", "a", [(record("long", 0), long)])
    with served(tmp_path / "run") as server:
        opened(page, server.url, "long/0/step/9000")
        title(page, "Step 9000")
        assert page.locator("#steps [role=option]").count() < 80
        page.locator("#steps").press("End")
        title(page, "Handed in")
        page.keyboard.press("k")
        title(page, "Step 10000")


def test_runs_of_a_folder_are_told_apart(page, tmp_path):
    shown(tmp_path / "runs" / "run")
    told(tmp_path / "runs" / "other", "oracle", [(record("pan", 1), trajectory())])
    with served(tmp_path / "runs") as server:
        opened(page, server.url, "kettle/0")
        page.get_by_label("Run", exact=True).select_option("oracle")
        expect(page.locator("#rollouts .name")).to_have_text(["pan"])
    assert len(find_runs([tmp_path / "runs"])) == 2


def test_a_link_to_a_rollout_that_is_not_there_is_told(page, url):
    page.goto(f"{url}#/run/nowhere/7/step/2")

    expect(page.locator("#told")).to_have_text("There is no such rollout here (yet).")

"""The browser of tests says what is wrong with a page."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("playwright")

from tests.browser import barriers, opened_browser, too_wide, watched_page


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        ("<script>console.error('no')</script>", "error: no"),
        ("<script>console.warn('hm')</script>", "warning: hm"),
        ("<script>nothing()</script>", "nothing is not defined"),
        ("<script>fetch('http://127.0.0.2:1/')</script>", "http://127.0.0.2:1/"),
        ("<img src='file:///nowhere.png'>", "nowhere.png"),
    ],
)
def test_what_a_page_complains_of_fails_its_test(browser, tmp_path, inner, told):
    file = tmp_path / "page.html"
    file.write_text(f"<!DOCTYPE html><title>a</title>{inner}")

    with pytest.raises(AssertionError, match=told), watched_page(browser) as page:
        page.goto(file.as_uri(), wait_until="networkidle")


def test_a_barrier_and_a_page_that_is_too_wide_are_found(page):
    page.set_content(
        "<html lang=en><title>a</title><main><h1>a</h1><input><p style='color: #aaa'>some words"
        "<p style='width: 2000px'>wide"
    )

    assert [line.split(":")[0] for line in barriers(page)] == ["color-contrast", "label"]
    assert too_wide(page) > 0


def test_a_closed_browser_leaves_no_loop_behind():
    async def answer():
        return 1

    def both():
        with opened_browser() as opened:
            connected = opened.is_connected()
        return connected, asyncio.run(answer())

    with ThreadPoolExecutor(1) as apart:  # the browser of the other tests is open in this thread
        assert apart.submit(both).result() == (True, 1)

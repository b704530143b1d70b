"""A real browser for tests of pages, and what a page must not do.

The driver's loop runs in this thread for as long as it is open, so it is closed with its module:
no other module's test meets a running loop.
"""

import os
import shutil
from contextlib import contextmanager

import pytest

LOOKS = [("light", 1280), ("dark", 1280), ("light", 390)]
"""Theme and width in which a page must be readable."""
_OURS = ("http://127.0.0.1:", "file:", "data:", "blob:")


@contextmanager
def opened_browser():
    """Open Chromium without a window; where there is none, skip, and fail in CI."""
    from playwright.sync_api import sync_playwright  # other tests run without it

    program = shutil.which("chromium")
    if program is None:
        reason = "chromium is not installed"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def watched_page(browser):
    """Open a page; an error that it tells, or a request that leaves this machine, is a failure."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    problems = []
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("console", lambda told: problems.append(f"{told.type}: {told.text}"))
    page.on("requestfailed", lambda asked: _given_up(asked) or problems.append(asked.url))
    page.on("request", lambda asked: asked.url.startswith(_OURS) or problems.append(asked.url))
    yield page
    page.close()
    assert not problems, "\n".join(problems)


def _given_up(asked):
    """Return whether a request ended because somebody left the page."""
    return asked.failure == "net::ERR_ABORTED"


def look(page, theme, width):
    """Show a page in a theme, so wide."""
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 800})


def barriers(page):
    """Return what keeps people from reading a page, one line for each place."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{rule['id']}: {node['target']} {node.get('failureSummary', '')}"
        for rule in found
        for node in rule["nodes"]
    ]


def too_wide(page):
    """Return by how many pixels a page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")

"""What all tests share: backends, base images, and skipping what this machine cannot run."""

import os
import signal
from functools import cache

import pytest

from codeenv.images.base import ensure_base
from codeenv.sandbox.image import Image
from codeenv.sandbox.select import open_backend, probe
from tests.browser import opened_browser, watched_page
from tests.harness.chat_server import PROXIES, ChatServer

WALLS = ("docker", "bubblewrap")


@cache
def _probe(name):
    return probe(name)


def pytest_configure():
    """Let tests interrupt their children, also in a run that was started in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item):
    """Skip a test whose wall is missing here; in CI (``CI`` is set) that is a failure."""
    for name in WALLS:
        if item.get_closest_marker(name) and not _probe(name).ok:
            reason = f"{name}: {_probe(name).detail}"
            if os.environ.get("CI"):
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip a module whose library is missing here (``importorskip``); in CI that is a failure."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid}: {report.longrepr[-1]}"
    return report


@pytest.fixture(scope="session")
def debian_image() -> Image:
    """The base root file system alone, made once per machine."""
    return ensure_base().image


@pytest.fixture(scope="session")
def host_image() -> Image:
    """This machine's own system as a base."""
    base = ensure_base("host")
    return Image(base.digest, base.digest, base.rootfs, (), python=base.interpreter)


@pytest.fixture(scope="session")
def local_backend():
    """A backend without isolation."""
    backend = open_backend("local")
    yield backend
    backend.close()


@pytest.fixture(scope="session")
def bubblewrap_backend():
    """A bubblewrap backend; mark the test ``bubblewrap``."""
    backend = open_backend("bubblewrap")
    yield backend
    backend.close()


@pytest.fixture(scope="session")
def docker_backend():
    """A Docker backend; mark the test ``docker``."""
    backend = open_backend("docker")
    yield backend
    backend.close()


@pytest.fixture
def chat_server(monkeypatch):
    """A chat server, and the variables that lead to it."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    server = ChatServer()
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    with opened_browser() as opened:
        yield opened


@pytest.fixture
def page(browser):
    """A page of it; whatever it complains of fails the test."""
    with watched_page(browser) as opened:
        yield opened

"""Tells which test runs, for what is noted or refused there; and fails who lost a failure."""

from collections.abc import Generator
from typing import Any

import pytest

from codeenv.guest.split_judges import relies
from codeenv.guest.split_licence import Licences, UnlicensedError


class Watch:
    """Hooks around whatever a test, a fixture or a test file does.

    What a fixture of a module does is noted for the module: any of its tests may be the first.
    """

    def __init__(self, licences: Licences) -> None:
        """Tell ``licences``."""
        self._licences = licences

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, None]:  # noqa: ANN401
        """Watch a file being imported."""
        yield from self._within(collector.nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Watch a test with its fixtures."""
        yield from self._within(item.nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, request: Any) -> Generator[None, Any, None]:  # noqa: ANN401
        """Watch a fixture."""
        yield from self._within(request.node.nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Watch what comes after a test, perhaps of its module's fixtures."""
        yield from self._within(item.nodeid.partition("::")[0])

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Watch a test alone."""
        if isinstance(item, pytest.Function) and relies(item.obj, item.cls):
            self._licences.doubt()
        yield
        lost = self._licences.lost()
        if lost:
            raise UnlicensedError(f"the code under test was told, and kept it to itself: {lost}")

    def _within(self, place: str) -> Generator[None, Any, None]:
        before, self._licences.test = self._licences.test, place
        try:
            yield
        finally:
            self._licences.test = before

"""Record which test executes which line, by coverage's dynamic contexts.

Runs inside a sandbox.  A wider fixture's set-up is charged to every test that uses the fixture.
"""

import importlib.util
import os
import tempfile
from collections.abc import Callable, Generator, Iterator
from typing import Any

import coverage
import pytest

_PROBE = "def probe(value):\n    return value + 1\n"
_FIXTURE = "|fixture|"
# Not traced, since only the project's code matters and loops in tests cost most of the time.
_NOT_CODE = ("test_*.py", "*_test.py", "conftest.py", "tests/**", "test/**")


class Tracer:
    """Traces the workspace from before collection until the end of the session."""

    def __init__(self, workspace: str) -> None:
        """Start tracing; contexts are right with the C tracer, and its slow twin in Python."""
        compiled = importlib.util.find_spec("coverage.tracer") is not None
        os.environ["COVERAGE_CORE"] = "ctrace" if compiled else "pytrace"
        self._workspace = os.path.realpath(workspace)
        self._probe_folder = os.path.realpath(tempfile.mkdtemp(prefix="probe-"))
        self._coverage = coverage.Coverage(
            data_file=None,
            config_file=False,
            source=[self._workspace, self._probe_folder],
            omit=[f"{self._workspace}/**/{name}" for name in _NOT_CODE],
            messages=False,
        )
        self._users: dict[str, set[str]] = {}
        self._tests: list[str] = []
        self._current = ""
        self._test_files: set[str] = set()
        self._coverage.start()
        self.problem = self._probe()

    def switch(self, item: Any) -> None:  # noqa: ANN401 - a test item or None
        """Charge what follows to a test; between tests (None) nothing of the project runs."""
        if item is None:
            return
        self._current = item.nodeid
        self._coverage.switch_context(self._current)
        self._tests.append(item.nodeid)
        if not hasattr(item, "dtest"):  # the file of a doctest may be the code itself
            self._test_files.add(os.path.realpath(str(item.path)))
        for name in _wide_fixtures(item):
            self._users.setdefault(name, set()).add(item.nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, None]:  # noqa: ANN401
        """Charge the set-up of a fixture that outlives a test to all who use it."""
        name = _fixture_name(fixturedef)
        before = self._current
        if name:
            self._current = name
            self._coverage.switch_context(name)
        yield
        if name:
            self._current = before
            self._coverage.switch_context(before)

    def finish(self, send: Callable[[dict[str, Any]], None]) -> None:
        """Stop, and send the map file by file; equal sets of tests are sent once."""
        self._coverage.stop()
        data = self._coverage.get_data()
        numbers = {test: n for n, test in enumerate(dict.fromkeys(self._tests))}
        send({"coverage": "tests", "tests": list(numbers), "problem": self.problem})
        sets: dict[tuple[int, ...], int] = {}
        for path in sorted(data.measured_files()):
            if path in self._test_files or path.startswith(self._probe_folder):
                continue
            lines: dict[str, int] = {}
            imported: list[int] = []
            for line, contexts in sorted(data.contexts_by_lineno(path).items()):
                members = tuple(sorted(self._members(contexts, numbers)))
                if members:
                    lines[str(line)] = sets.setdefault(members, len(sets))
                if "" in contexts:
                    imported.append(line)
            name = os.path.relpath(path, self._workspace)
            if lines or imported:
                send({"coverage": "file", "path": name, "lines": lines, "imported": imported})
        send({"coverage": "sets", "sets": [list(members) for members in sets]})

    def _members(self, contexts: list[str], numbers: dict[str, int]) -> Iterator[int]:
        users = {u for c in contexts if c.startswith(_FIXTURE) for u in self._users.get(c, ())}
        for name in {*contexts, *users}:
            if name in numbers:
                yield numbers[name]

    def _probe(self) -> str:
        """Return what is wrong with contexts: two that run one line must both be seen on it."""
        path = os.path.join(self._probe_folder, "probe.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(_PROBE)
        space: dict[str, Any] = {}
        exec(compile(_PROBE, path, "exec"), space)
        for context in ("probe-a", "probe-b"):
            self._coverage.switch_context(context)
            space["probe"](1)
        self._coverage.switch_context("")
        seen = self._coverage.get_data().contexts_by_lineno(path).get(2, [])
        return "" if {"probe-a", "probe-b"} <= set(seen) else f"contexts do not share lines: {seen}"


def _wide_fixtures(item: Any) -> Iterator[str]:  # noqa: ANN401 - a test item
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    for definitions in known.values():
        for definition in definitions:
            name = _fixture_name(definition)
            if name:
                yield name


def _fixture_name(definition: Any) -> str:  # noqa: ANN401 - pytest's FixtureDef
    if getattr(definition, "scope", "function") == "function":
        return ""
    return f"{_FIXTURE}{definition.baseid}|{definition.argname}"

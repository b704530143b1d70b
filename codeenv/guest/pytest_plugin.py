"""Our pytest plug-in: selects tests by exact id and reports each outcome over the channel.

Runs inside a sandbox in the repository's own pytest process.
"""

import importlib.util
import os
import random
import signal
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any

import pytest

from codeenv.guest.pytest_report import Channel, message_of, root_cause, symbols_of

# Options that repositories keep in their configuration: of plug-ins that every run goes without,
# and (by module) of plug-ins that may be missing.  Those with a value, and those without.
_BLOCKED_OPTIONS: tuple[tuple[str, ...], ...] = (
    (
        *("--cov", "--cov-report", "--cov-config", "--cov-fail-under", "--cov-context"),
        *("--cov-precision", "--reruns", "--reruns-delay", "--randomly-seed"),
        *("--random-order-bucket", "--random-order-seed"),
    ),
    (
        *("--cov-append", "--cov-branch", "--no-cov", "--no-cov-on-fail", "--cov-reset"),
        *("--randomly-dont-reorganize", "--random-order", "--force-sugar", "--old-summary"),
    ),
)
_BORROWED_OPTIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "xdist": (("-n", "--numprocesses", "--dist", "--maxprocesses", "--tx"), ()),
    "pytest_timeout": (("--timeout", "--timeout-method", "--session-timeout"), ()),
    "pytest_html": (("--html",), ("--self-contained-html",)),
    "pytest_flake8": ((), ("--flake8",)),
    "pytest_pycodestyle": ((), ("--pycodestyle", "--codestyle")),
    "pytest_black": ((), ("--black",)),
    "pytest_isort": ((), ("--isort",)),
    "pytest_mypy": ((), ("--mypy",)),
    "pytest_ruff": ((), ("--ruff", "--ruff-format")),
    "pytest_pylint": ((), ("--pylint",)),
}
# Options of pytest itself that choose, order or end a run by what an earlier run found.
_OF_EARLIER_RUNS = ("lf", "failedfirst", "newfirst", "stepwise", "stepwise_skip", "stepwise_reset")
_USUAL_FILES = ["test_*.py", "*_test.py"]
_OPTIONAL_VALUE = ("--cov",)
TIMED_OUT = "timed out after"
_RANK = ("passed", "xpassed", "xfailed", "skipped", "failed", "error")


class _State:
    """What the phases of one test have said so far."""

    def __init__(self) -> None:
        self.outcome = "passed"
        self.phases: set[str] = set()
        self.duration = 0.0
        self.message = ""
        self.symbols: list[str] = []

    def worsen(self, outcome: str, message: str) -> None:
        if _RANK.index(outcome) > _RANK.index(self.outcome):
            self.outcome = outcome
            self.message = message or self.message


class Plugin:
    """Selection, order, time limits and reports of one pytest session."""

    def __init__(
        self, request: dict[str, Any], channel: Channel, switch: Callable[[Any], None]
    ) -> None:
        """Keep the request; ``switch`` is told which test runs (None between tests)."""
        self._request = request
        self._channel = channel
        self._switch = switch
        self._states: dict[str, _State] = {}
        self._workspace = os.getcwd()
        self._limit_of = limits_of(request)

    def go_on(self, channel: Channel, test_timeout: float, cpu_timeout: float) -> None:
        """Report to another channel from now on, with other limits, in a forked process."""
        if channel is not self._channel:
            self._channel.close()
        self._channel = channel
        self._limit_of = lambda _: (test_timeout, cpu_timeout)

    def outcome_of(self, nodeid: str) -> str:
        """Return how a test that has run ended."""
        return self._states[nodeid].outcome

    @pytest.hookimpl(trylast=True)
    def pytest_addoption(self, parser: pytest.Parser) -> None:
        """Accept, and ignore, options of plug-ins that are not there."""
        group = parser.getgroup("codeenv", "options of plug-ins that this run does without")
        missing = [o for m, o in _BORROWED_OPTIONS.items() if importlib.util.find_spec(m) is None]
        for valued, flags in (_BLOCKED_OPTIONS, *missing):
            for name in valued:
                kind: dict[str, Any] = {"nargs": "?"} if name in _OPTIONAL_VALUE else {}
                group._addoption(name, dest=_unused(name), action="append", **kind)
            for name in flags:
                group._addoption(name, dest=_unused(name), action="store_true")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_cmdline_parse(self) -> Generator[None, Any, None]:
        """Report why pytest refuses its options or a conftest file; undo some of them."""
        outcome = yield
        if not outcome.excinfo:
            vars(outcome.get_result().option).update(dict.fromkeys(_OF_EARLIER_RUNS, False))
        else:
            error = outcome.excinfo[1]
            path = getattr(error, "path", None)
            cause = getattr(error, "cause", None) or getattr(error, "excinfo", (0, error))[1]
            key = self._relative(str(path)) if path else "<options>"
            text = message_of(cause) if path else _refusal(error)
            self._channel.send({"error": key, "message": text[-600:]})

    def pytest_configure(self, config: pytest.Config) -> None:
        """Know the markers of plug-ins that are not there, and files that are called tests."""
        config.addinivalue_line("markers", "no_cover: not measured by a coverage plug-in")
        if config.getini("python_files") == _USUAL_FILES:
            for name in ("test.py", "tests.py"):
                config.addinivalue_line("python_files", name)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, Any, None]:
        """Take the wanted tests in the wanted order, after every other plug-in had its say."""
        yield
        self._channel.send({"collected": [item.nodeid for item in items]})
        wanted = self._request["ids"]
        if wanted is not None:
            chosen = frozenset(wanted)
            dropped = [item for item in items if item.nodeid not in chosen]
            items[:] = [item for item in items if item.nodeid in chosen]
            if dropped:
                config.hook.pytest_deselected(items=dropped)
        if self._request["shuffle_seed"] is not None:
            items[:] = _shuffled(items, random.Random(self._request["shuffle_seed"]))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, None]:
        """Report what could not be collected."""
        outcome = yield
        report = outcome.get_result()
        if report.outcome == "failed":
            call = getattr(report, "call", None)
            error = root_cause(call.excinfo.value) if call is not None and call.excinfo else None
            text = message_of(error) if error is not None else str(report.longrepr)[-300:]
            key = collector.nodeid or self._relative(str(getattr(collector, "path", ".")))
            self._channel.send({"error": key, "message": text})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Run one test under its own time limit and report how it ended."""
        state = self._states[item.nodeid] = _State()
        self._channel.send({"start": item.nodeid})
        self._switch(item)
        clock = _Clock(*self._limit_of(item.nodeid))
        clock.start()
        yield
        clock.stop()
        self._switch(None)
        self._finish(item.nodeid, state)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: "pytest.CallInfo[None]"
    ) -> Generator[None, Any, None]:
        """Note what the exception of a phase (or of a sub-test) speaks of."""
        outcome = yield
        state = self._states.get(item.nodeid)
        if state is None or call.excinfo is None:
            return
        report = outcome.get_result()
        if report.outcome == "failed" and not state.symbols:
            state.symbols = symbols_of(call.excinfo.value, self._workspace)
        if report.outcome != "passed" and _RANK.index(state.outcome) < _RANK.index("failed"):
            state.message = message_of(call.excinfo.value)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Fold a phase, or a sub-test's result, into the test's outcome."""
        state = self._states.get(report.nodeid)
        if state is None:
            return
        text = "" if report.outcome == "passed" else str(report.longrepr or "")[-300:]
        last = text.strip().splitlines()[-1] if text.strip() else ""
        if hasattr(report, "context"):
            if report.outcome == "failed":
                state.worsen("failed", state.message or last)
            return
        state.phases.add(str(report.when))
        state.duration += report.duration
        state.worsen(_outcome(report), state.message or last)

    def pytest_internalerror(self, excinfo: "pytest.ExceptionInfo[BaseException]") -> None:
        """Report that pytest or a plug-in failed."""
        self._channel.send({"error": "<internal>", "message": message_of(excinfo.value)})

    def _finish(self, nodeid: str, state: _State) -> None:
        if state.outcome == "passed" and state.phases != {"setup", "call", "teardown"}:
            state.worsen("error", f"only these phases ran: {sorted(state.phases)}")
        record = {
            "id": nodeid,
            "outcome": state.outcome,
            "duration": round(state.duration, 4),
            "message": "" if state.outcome == "passed" else state.message,
            "symbols": state.symbols if state.outcome in ("failed", "error") else [],
        }
        self._channel.send(record)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._workspace)


def limits_of(request: dict[str, Any]) -> Callable[[str], tuple[float, float]]:
    """Return what tells the seconds a test may take, and those of processor time (0: no limit)."""
    single, usual = request["test_timeouts"], request["test_timeout"]
    return lambda test: (float(single.get(test, usual)), 0.0)


def _refusal(error: BaseException) -> str:
    """Return why pytest does not start, with what it began with: a plug-in that cannot load."""
    text, root = " ".join(str(error).split()), error
    while (earlier := root.__cause__ or root.__context__) is not None:
        root = earlier
    return text if root is error else f"{text}: {message_of(root)}"


def _unused(name: str) -> str:
    return "codeenv_ignored_" + name.strip("-").replace("-", "_")


def _outcome(report: pytest.TestReport) -> str:
    if report.outcome == "passed":
        return "xpassed" if hasattr(report, "wasxfail") else "passed"
    if report.outcome == "skipped":
        return "xfailed" if hasattr(report, "wasxfail") else "skipped"
    return "failed" if report.when == "call" else "error"


def _shuffled(items: list[pytest.Item], order: random.Random) -> list[pytest.Item]:
    """Shuffle files, classes in files and tests in classes, so that shared set-up stays shared."""
    ranks: dict[str, float] = {}

    def key(item: pytest.Item) -> tuple[float, ...]:
        parents = [node.nodeid for node in item.listchain()]
        return tuple(ranks.setdefault(p, order.random()) for p in dict.fromkeys(parents))

    keys = [key(item) for item in items]
    return [items[i] for i in sorted(range(len(items)), key=lambda i: (keys[i], i))]


class _Clock:
    """The time limit of one test: a signal, and behind it one that ends a deaf process.

    A test is deaf while it computes in compiled code; the second signal counts processor time and
    has no handler.  No thread keeps time: tests that fork would be warned of it.  A limit of
    processor time, which a busy machine does not change, can come before.
    """

    def __init__(self, limit: float, cpu_limit: float = 0.0) -> None:
        self._limits = [(signal.SIGALRM, signal.ITIMER_REAL, limit)] if limit else []
        if cpu_limit:
            self._limits.append((signal.SIGVTALRM, signal.ITIMER_VIRTUAL, cpu_limit))
        self._deaf_after = limit * 4 + 2 if limit else 0.0
        self._previous: dict[int, Any] = {}

    def start(self) -> None:
        for number, timer, limit in self._limits:
            self._previous[number] = signal.signal(number, self._expire)
            signal.setitimer(timer, limit, max(limit / 2, 1.0))
        signal.setitimer(signal.ITIMER_PROF, self._deaf_after)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, timer, _ in self._limits:
            signal.setitimer(timer, 0)
            previous = self._previous[number]
            signal.signal(number, previous if callable(previous) else signal.SIG_DFL)

    def _expire(self, number: int, _frame: FrameType | None) -> None:
        limit = next(limit for each, _, limit in self._limits if each == number)
        pytest.fail(f"{TIMED_OUT} {limit:g} s", pytrace=False)

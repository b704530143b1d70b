"""Run a repository's tests in a sandbox and read the report of our pytest plug-in."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import resources
from typing import Any, cast, get_args

from codeenv.languages.base import (
    CoverageMap,
    Layout,
    Outcome,
    TestRequest,
    TestResult,
    TestRun,
)
from codeenv.sandbox.base import ExecResult, Sandbox
from codeenv.sandbox.image import ForkServer, Image
from codeenv.sandbox.variables import WORKSPACE

_MODULES = (
    *("pytest_report", "pytest_plugin", "pytest_coverage", "pytest_leftovers"),
    *("pytest_children", "pytest_hypothesis", "pytest_swaps", "pytest_runner"),
    "import_probe",
)
_NEEDED = {"split": ("split_",), "replay": ("split_wire", "split_names", "replay_")}
"""More modules, by how the one begins that is run."""
_PACKAGE = "_codeenv_guest"
_REPORT_LIMIT = 256 * 1024**2
_REPORT_BASE, _REPORT_PER_TEST = 4 * 1024**2, 16 * 1024
"""Bytes of a report on named tests: whoever finds the descriptor may write until it is full."""
_LOG_LIMIT = 256 * 1024
_LOG_TAIL = 20_000
_OUTCOMES = frozenset(get_args(Outcome))
_BOOT = f"""
import sys
if sys.path and not sys.path[0]: del sys.path[0]
import importlib.machinery, json
document = {{"modules": {{}}}}
class Guest:
    def find_spec(self, name, path=None, target=None):
        if name == {_PACKAGE!r} or name in document["modules"]:
            return importlib.machinery.ModuleSpec(name, self, is_package=name == {_PACKAGE!r})
    def create_module(self, spec): return None
    def exec_module(self, module):
        name = module.__name__
        exec(compile(document["modules"].get(name, ""), "<" + name + ">", "exec"), module.__dict__)
sys.meta_path.insert(0, Guest())
sys.argv[:] = ["pytest"]
while True:  # a fork server comes back in its forks, which are asked for something else
    document = json.load(sys.stdin.buffer)
    main = importlib.import_module({_PACKAGE!r} + "." + document["main"]).main
    if main(document["request"]) is not True: break
"""


@dataclass
class _Report:
    """The records of one run, as they came."""

    collected: list[str] = field(default_factory=list)
    results: dict[str, TestResult] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    started: list[str] = field(default_factory=list)
    status: int | None = None
    coverage: list[Mapping[str, Any]] = field(default_factory=list)


def run_tests(sandbox: Sandbox, image: Image, request: TestRequest) -> TestRun:
    """Run tests; why pytest refused its options, if it did, is the error of ``<options>``."""
    return run_of(serve(sandbox, image, "pytest_runner", asdict(request), request), request)


def run_of(result: ExecResult, request: TestRequest) -> TestRun:
    """Return what a run said."""
    report = _read(result.report)
    complete = report.status is not None and not result.timed_out
    if not complete:
        for test in set(report.started) - report.results.keys():
            report.errors[test] = f"the run ended in this test (exit code {result.exit_code})"
    coverage = _coverage(report) if request.coverage and complete else None
    return TestRun(
        collected=tuple(report.collected),
        results=report.results,
        complete=complete,
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        errors=report.errors,
        log=result.text[-_LOG_TAIL:],
        coverage=coverage,
        duration=round(sum(r.duration for r in report.results.values()), 3),
        starved="memory" in result.exhausted or _tells_of_memory(report),
    )


def _tells_of_memory(report: _Report) -> bool:
    """Return whether a test or a file failed for want of memory."""
    failed = (r.message for r in report.results.values() if r.outcome in ("failed", "error"))
    return any(text.startswith("MemoryError") for text in (*report.errors.values(), *failed))


def probe_imports(sandbox: Sandbox, image: Image, layout: Layout) -> Mapping[str, str]:
    """Return package -> problem for what does not import from inside the workspace."""
    result = serve(sandbox, image, "import_probe", {"packages": layout.packages}, TestRequest())
    said = {str(r.get("package")): str(r.get("problem")) for r in records(result.report)}
    silent = "the interpreter ended while importing it"
    return {p: said.get(p, silent) for p in layout.packages if said.get(p, silent)}


def fork_server(image: Image) -> ForkServer:
    """Return what boxes keep started for ``serve``: all that every run of pytest begins with."""
    variables = _variables(image, TestRequest())
    return ForkServer(_command(image), variables, _preloading())


@cache
def _preloading() -> bytes:
    """Return what makes the command a fork server."""
    preload = [f"{_PACKAGE}.{name}" for name in ("pytest_runner", "pytest_plugin")]
    body: dict[str, Any] = {"preload": preload, "rehearsal": f"{_PACKAGE}.pytest_rehearsal"}
    body["workspace"] = WORKSPACE
    document = {"modules": _guest_modules(_all_modules()), "main": "fork_server", "request": body}
    return json.dumps(document).encode()


def serve(
    sandbox: Sandbox, image: Image, main: str, body: Mapping[str, Any], request: TestRequest
) -> ExecResult:
    """Run a guest module in the environment's interpreter; ``body`` is what it is asked."""
    wanted = _NEEDED.get(main.partition("_")[0], ())
    names = tuple(n for n in _all_modules() if n.startswith(wanted))
    document = {"modules": _guest_modules((*_MODULES, *names)), "main": main, "request": body}
    return sandbox.exec(
        _command(image),
        timeout=request.timeout,
        env=_variables(image, request),
        stdin=json.dumps(document).encode(),
        output_limit=_LOG_LIMIT,
        report_limit=_report_limit(request),
    )


def _report_limit(request: TestRequest) -> int:
    if request.ids is None or request.coverage:
        return _REPORT_LIMIT
    return min(_REPORT_LIMIT, _REPORT_BASE + _REPORT_PER_TEST * len(request.ids))


def _command(image: Image) -> tuple[str, ...]:
    return image.python, "-c", _BOOT


@cache
def _all_modules() -> tuple[str, ...]:
    files = resources.files("codeenv.guest").iterdir()
    return tuple(f.name.removesuffix(".py") for f in files if f.name.endswith(".py"))


@cache
def _guest_modules(names: tuple[str, ...]) -> dict[str, str]:
    folder = resources.files("codeenv.guest")
    sources = {name: (folder / f"{name}.py").read_text("utf-8") for name in names}
    return {
        f"{_PACKAGE}.{name}": source.replace("codeenv.guest", _PACKAGE)
        for name, source in sources.items()
    }


def _variables(image: Image, request: TestRequest) -> dict[str, str]:
    wanted = {
        "PYTHONHASHSEED": str(request.hash_seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_ADDOPTS": "",
        "TZ": "UTC",
    }
    return wanted if "LANG" in image.variables else {**wanted, "LANG": "C.UTF-8"}


def records(report: bytes) -> Iterator[dict[str, Any]]:
    """Yield the records; a line cut short by a crash or the limit is not one."""
    for line in report.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _read(data: bytes) -> _Report:
    """Gather the records; one of another shape was not written by our plug-in, and is ignored."""
    report = _Report()
    for record in records(data):
        match record:
            case {"id": str(test), "outcome": str(outcome), "message": str(message)}:
                _add_result(report, test, outcome, message, record)
            case {"start": str(test)}:
                report.started.append(test)
            case {"collected": [*ids]} if _are_texts(ids):
                report.collected += ids
            case {"error": str(place), "message": str(message)}:
                report.errors.setdefault(place, message)
            case {"coverage": str()}:
                report.coverage.append(record)
            case {"end": int(status)}:
                report.status = status
    return report


def _add_result(
    report: _Report, test: str, outcome: str, message: str, record: Mapping[str, Any]
) -> None:
    """Keep a result; of two results under one id, the one that is not a pass."""
    duration, symbols = record.get("duration"), record.get("symbols")
    if outcome not in _OUTCOMES or not isinstance(duration, int | float):
        return
    if not isinstance(symbols, list) or not _are_texts(symbols):
        return
    known = report.results.get(test)
    if known is None or known.outcome == "passed":
        result = TestResult(cast(Outcome, outcome), float(duration), message, tuple(symbols))
        report.results[test] = result


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _coverage(report: _Report) -> CoverageMap | None:
    try:
        found, problem = _map_of(report), ""
    except (AttributeError, LookupError, TypeError, ValueError):
        found, problem = None, "the coverage map is not one"
    except _NoMap as error:
        found, problem = None, str(error)
    if problem:
        report.errors["coverage"] = problem
    return found


class _NoMap(Exception):
    """Raised where the run says why there is no coverage map."""


def _map_of(report: _Report) -> CoverageMap:
    tests, sets, files = (_of_kind(report, kind) for kind in ("tests", "sets", "file"))
    problem = tests[0]["problem"] if tests and sets else "the coverage map did not come"
    if problem:
        raise _NoMap(problem)
    groups = [frozenset(members) for members in sets[0]["sets"]]
    return CoverageMap(
        tests=tuple(tests[0]["tests"]),
        lines={f["path"]: {int(n): groups[g] for n, g in f["lines"].items()} for f in files},
        imported={f["path"]: frozenset(f["imported"]) for f in files},
    )


def _of_kind(report: _Report, kind: str) -> list[Mapping[str, Any]]:
    return [record for record in report.coverage if record["coverage"] == kind]

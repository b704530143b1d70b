"""Run pytest inside a sandbox on behalf of the host.

The host sends the modules and a request over standard input; results go over descriptor 3.
"""

import importlib.util
import os
import sys
import tempfile
import types
from collections.abc import Callable, Sequence
from typing import Any

from codeenv.guest.pytest_report import Channel

_TOOLS = "/opt/tools"
# Plug-ins that change order, processes or thresholds; their options are accepted and ignored.
_BLOCKED = ("pytest_cov", "randomly", "random_order", "rerunfailures", "sugar")
# Of these the repository's own "-p pytest_cov" would load one all the same.
_EMPTIED = "pytest_cov"
_NO_TESTS = 5


def main(request: dict[str, Any]) -> None:
    """Serve one request and end the process, whatever threads the tests left."""
    channel = Channel(3)
    close_input()
    prepare_path(os.getcwd())
    status = run(request, channel)
    channel.send({"end": status})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def prepare_path(workspace: str) -> None:
    """Put the workspace's import roots before installed packages, and the workspace last.

    A repository that is also a dependency of the test runner must win over the installed copy.
    """
    root = os.path.realpath(workspace)
    inside = [p for p in sys.path if p and is_below(p, root)]
    others = [p for p in sys.path if p and not is_below(p, root)]
    first = next((i for i, p in enumerate(others) if p.endswith("-packages")), len(others))
    sys.path[:] = [*others[:first], *inside, *others[first:]]
    if root not in map(os.path.realpath, sys.path):
        sys.path.append(workspace)
    if os.path.isdir(_TOOLS):
        sys.path.append(_TOOLS)


def run(request: dict[str, Any], channel: Channel, more: Sequence[object] = ()) -> int:
    """Run pytest, with more plug-ins, in this process and return its exit status."""
    files = wanted_files(request["ids"])
    if files == []:
        return _NO_TESTS
    tracer = None
    switch: Callable[[Any], None] = _nothing
    plugins = list(more)
    if request["coverage"]:
        from codeenv.guest.pytest_coverage import Tracer  # the package may be missing elsewhere

        tracer = Tracer(os.getcwd())
        switch = tracer.switch
        plugins.append(tracer)
    import pytest  # after the import path is set, since the repository may be part of pytest

    from codeenv.guest.pytest_plugin import Plugin

    plugin = Plugin(request, channel, switch)
    plugins.append(plugin)
    if importlib.util.find_spec("hypothesis") is not None:
        from codeenv.guest.pytest_hypothesis import Drawing

        plugins.append(Drawing())
    if request.get("swaps"):
        from codeenv.guest.pytest_swaps import Swapper

        plugins.append(Swapper(request, channel, plugin))
    _empty(_EMPTIED)
    status = int(pytest.main([*arguments(request), *(files or ())], plugins=plugins))
    if tracer is not None:
        tracer.finish(channel.send)
    return status


def arguments(request: dict[str, Any]) -> list[str]:
    """Return pytest's options; ids are never among its arguments."""
    root = os.getcwd()
    cache = os.path.join(tempfile.mkdtemp(prefix="pytest-"), "cache")
    given = [f"--rootdir={root}", "--color=no", "--tb=native", "-o", f"cache_dir={cache}"]
    given.append("--continue-on-collection-errors")
    given.append(f"--maxfail={request['stop_after']}")  # whatever the repository asks for
    for name in _BLOCKED:
        given += ["-p", f"no:{name}"]
    if importlib.util.find_spec("xdist") is not None:
        given += ["-n", "0"]
    if request.get("swaps"):  # a folder that every process clears for itself
        given.append(f"--basetemp={os.path.join(tempfile.mkdtemp(prefix='pytest-'), 'base')}")
    return [*given, *request["options"]]


def _empty(package: str) -> None:
    """Let an installed plug-in do nothing, unless it is the repository's own."""
    found = importlib.util.find_spec(package)
    if found and found.origin and not is_below(found.origin, os.getcwd()):
        name = f"{package}.plugin"
        sys.modules[name] = types.ModuleType(name)


def wanted_files(ids: list[str] | None) -> list[str] | None:
    """Return the files that hold the wanted tests and are there; None for all."""
    if ids is None:
        return None
    return [f for f in dict.fromkeys(i.split("::", 1)[0] for i in ids) if os.path.exists(f)]


def close_input() -> None:
    """Let nothing of what comes be read by anybody else."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def is_below(path: str, root: str) -> bool:
    """Return whether a path leads to a folder, given by its real path, or into it."""
    real = os.path.realpath(path)
    return real == root or real.startswith(root + os.sep)


def _nothing(_item: Any) -> None:  # noqa: ANN401 - a test item or None
    """Do nothing when tests change."""

"""A run that is forked from a started interpreter is the run that it would have been."""

import json
import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codeenv.env.runtime import Runtime
from codeenv.guest.processes import descendants
from codeenv.languages import get_language
from codeenv.languages.base import TestRequest
from codeenv.sandbox.image import ForkServer
from codeenv.tasks.taskset import Taskset
from codeenv.tree import Entry, Tree
from tests.sandbox.conftest import BUBBLEWRAP, DOCKER

_FACTS = """\
import gc, json, locale, os, resource, signal, sys, time, traceback, warnings

import pkg


def of_process():
    with open("/proc/self/status") as file:
        lines = dict(line.rstrip("\\n").split(":\\t", 1) for line in file)
    wanted = ("Umask", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "SigBlk", "SigIgn", "Uid")
    lines["SigIgn"] = hex(int(lines["SigIgn"], 16) & (1 << 31) - 1)  # not the C library's own
    return {name: lines[name] for name in wanted}


def test_facts():
    with open("/proc/self/environ", "rb") as file:
        forked = b"CODEENV_COMMAND=" not in file.read()
    facts = {
        "path": sys.path, "modules": sorted(sys.modules), "environment": dict(os.environ),
        "argv": [sys.argv, sys.orig_argv, sys.executable, sys.prefix], "flags": str(sys.flags),
        "cwd": os.getcwd(), "process": of_process(), "session": os.getsid(0) == os.getpid(),
        "signals": [str(signal.getsignal(s)) for s in sorted(signal.valid_signals())],
        "wakeup": signal.set_wakeup_fd(-1), "descriptors": sorted(os.listdir("/proc/self/fd")),
        "limits": [resource.getrlimit(n) for n in range(16)], "zone": time.tzname,
        "encodings": [sys.stdout.encoding, sys.getfilesystemencoding(), locale.setlocale(0)],
        "frames": [f.name for f in traceback.extract_stack()], "thresholds": gc.get_threshold(),
        "filters": [str(f) for f in warnings.filters],
        "hooks": [str(h)[:30] for h in sys.meta_path],
        "main": sorted(vars(sys.modules["__main__"])), "input": sys.stdin.read() and None,
        "threads": os.listdir("/proc/self/task") == [str(os.getpid())], "hash": hash("text"),
        "package": pkg.__file__, "caches": sorted(sys.path_importer_cache), "recursion": depth(),
        "devices": [os.path.realpath(f"/proc/self/fd/{n}") for n in range(1)],
    }
    print("\\nFACTS" + json.dumps([forked, facts]))


def depth(n=0):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
"""
_WORKSPACE = Tree({
    "tests/test_it.py": Entry(_FACTS.encode()),
    "pkg/__init__.py": Entry(b""),
})  # fmt: skip
_OWN = Tree({
    "iniconfig/__init__.py": Entry(b"OWN = IniConfig = ParseError = SectionWrapper = OSError\n"),
    "tests/test_it.py": Entry(b"import iniconfig\ndef test_own(): assert iniconfig.OWN\n"),
})  # fmt: skip
_ENDLESS = """\
import os


def test_first():
    os.write(1, b"endless")


def test_second():
    os.fork()
    while True:
        pass
"""
_DRAWN = "import random\ndef test_it(): print('\\nDRAWN', random.random())\n"
_MOST = 60
_COMPILED = {"_ctypes", "_socket", "array"}
"""Modules of the box's own, which are loaded once per process."""


def _files(path, text):
    return Tree({path: Entry(text.encode())})


@dataclass
class Bench:
    """A backend, and an environment that has pytest."""

    runtime: Runtime
    server: ForkServer | None = None

    def __post_init__(self):
        taskset = Taskset.load("toy")
        task = self.runtime.task(taskset.recipes[0], taskset)
        self.image = self.runtime.environment(task.lock, task.recipe).image
        self.python = get_language("python")
        self.server = self.python.fork_server(self.image)

    def open(self, workspace=_WORKSPACE, server=None):
        """Open a box whose runs may be forked."""
        wanted = server or self.server
        return self.runtime.backend.open(self.image, workspace, role="grader", fork_server=wanted)

    def run(self, box, **asked):
        """Run the tests there."""
        return self.python.run_tests(box, self.image, TestRequest(options=("-s",), **asked))

    def facts(self, workspace=_WORKSPACE, **asked):
        """Return whether a run in a new box was a fork, and what it saw."""
        with self.open(workspace) as box:
            return self.told(self.run(box, **asked))

    def told(self, run):
        (line,) = [x for x in run.log.splitlines() if x.startswith("FACTS")] or [run.log]
        return json.loads(line.removeprefix("FACTS"))

    def wait(self):
        """Open boxes until their runs are forked."""
        assert any(self.facts()[0] for _ in range(_MOST)), "no run is ever forked"


@pytest.fixture(params=[BUBBLEWRAP, DOCKER])
def bench(request):
    with Runtime(request.param) as runtime:
        yield Bench(runtime)


def test_a_forked_run_sees_what_a_started_one_sees(bench):
    forked, started = bench.facts()
    assert not forked, "the first one of a host is started"
    bench.wait()

    forked, again = bench.facts()

    assert forked
    assert set(again.pop("modules")) - set(started.pop("modules")) <= _COMPILED
    assert again == started


def test_a_run_of_other_kind_is_started(bench):
    bench.wait()

    assert not bench.facts(hash_seed=1)[0]
    assert bench.facts()[0]


def test_what_the_workspace_has_by_the_name_of_an_installed_module_is_its_own(bench):
    bench.wait()

    with bench.open(_OWN) as box:
        (result,) = bench.run(box).results.values()

    assert result.outcome == "passed", result.message


def test_a_folder_by_the_name_of_an_installed_module_hides_nothing(bench):
    bench.wait()

    forked, _ = bench.facts(Tree({**_WORKSPACE, "pluggy/notes.txt": Entry(b"")}))

    assert forked


def test_a_forked_run_ends_at_its_deadline_with_what_it_had(bench):
    bench.wait()

    with bench.open(_files("tests/test_it.py", _ENDLESS)) as box:
        run = bench.run(box, timeout=1.5)
        assert box.exec("true").exit_code == 0

    assert run.timed_out
    assert not run.complete
    assert run.results["tests/test_it.py::test_first"].outcome == "passed"
    assert "endless" in run.log


def test_how_a_forked_run_ends_is_told(bench):
    bench.wait()

    runs = []
    for end in ("os._exit(7)", "os.kill(os.getpid(), 9)"):
        with bench.open(_files("tests/test_it.py", f"import os\ndef test_it(): {end}\n")) as box:
            runs.append(bench.run(box))

    assert [run.exit_code for run in runs] == [7, 137]
    assert not any(run.complete for run in runs)


def test_forked_runs_of_one_box_know_nothing_of_each_other(bench):
    bench.wait()

    with bench.open() as box:
        first, second = bench.told(bench.run(box)), bench.told(bench.run(box))

    for forked, facts in (first, second):
        assert forked
        facts["environment"].pop("CODEENV_COMMAND")
    assert first == second


def test_forks_differ_in_what_is_drawn_at_random(bench):
    bench.wait()

    drawn = set()
    for _ in range(2):
        with bench.open(_files("tests/test_it.py", _DRAWN)) as box:
            drawn |= {x for x in bench.run(box).log.splitlines() if x.startswith("DRAWN")}

    assert len(drawn) == 2


def test_what_cannot_be_started_is_done_without(bench):
    for argv in (("/nowhere/python",), ("/bin/false",)):
        server = replace(bench.server, argv=argv)
        for _ in range(3):
            with bench.open(server=server) as box:
                assert not bench.told(bench.run(box))[0]


@pytest.mark.parametrize("bench", [BUBBLEWRAP], indirect=True)
def test_runs_go_on_when_the_fork_server_is_killed(bench):
    bench.wait()
    with bench.open() as box:
        os.kill(_server(box.host), signal.SIGKILL)
        host = box.host

    with bench.open() as box:
        assert box.host is host
        bench.run(box)
    with bench.open() as box:
        assert box.host is host
        assert not bench.told(bench.run(box))[0]


@pytest.mark.parametrize("bench", [BUBBLEWRAP], indirect=True)
def test_a_fork_server_ends_with_its_host(bench):
    bench.wait()
    with bench.open() as box:
        host, server = box.host, _server(box.host)

    bench.runtime.backend.close()

    assert host.lost
    assert not os.path.exists(f"/proc/{server}")


def _server(host):
    """Return the pid of a host's fork server: the first of the processes with its command."""
    found = sorted(descendants(host.transport.pid).values(), key=lambda process: process.start)
    lines = {process.pid: Path(f"/proc/{process.pid}/cmdline").read_bytes() for process in found}
    return next(pid for pid, line in lines.items() if b"_codeenv_guest" in line)

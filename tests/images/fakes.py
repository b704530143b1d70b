"""Stand-ins for what installs and runs: no box is started."""

import json

from codeenv.languages.base import InstallPlan, Layout, TestResult, TestRun
from codeenv.sandbox.image import InstallResult, Layer
from codeenv.sources.entries import Collector
from codeenv.sources.folder import read_folder
from codeenv.tree import Entry, Tree

TREE = Tree({"thing.py": Entry(b""), "test_thing.py": Entry(b"")})
LAYOUT = Layout((".",), ("thing",), ("thing.py",), ("test_thing.py",))
PASS = TestResult("passed")


def environment_tree(*distributions):
    """What a virtual environment with some (name, version) distributions looks like."""
    site = "lib/python3.13/site-packages"
    files = {
        "pyvenv.cfg": b"home = /usr/bin\n",
        "lib64": ("lib",),
        "bin/python": ("python3",),
        "bin/python3": ("/usr/bin/python3",),
    }
    for name, version in distributions:
        info = f"{name}-{version}.dist-info"
        record = (
            f"{name}/__init__.py,,\n{info}/RECORD,,\n{info}/REQUESTED,,\n../../../bin/{name},,\n"
        )
        files |= {
            f"{site}/{name}/__init__.py": f"version = {version!r}\n".encode(),
            f"{site}/{name}/__pycache__/__init__.cpython-313.pyc": b"code",
            f"{site}/{info}/RECORD": record.encode(),
            f"{site}/{info}/REQUESTED": b"",
            f"{site}/{info}/METADATA": f"Name: {name}\nVersion: {version}\n".encode(),
            f"bin/{name}": b"#!/opt/env/bin/python\n",
        }
    return Tree(
        {
            path: Entry(data[0].encode(), "link") if isinstance(data, tuple) else Entry(data)
            for path, data in files.items()
        }
    )


def read_layer(layer: Layer) -> Tree:
    """Return a layer's files as a tree."""
    collector = Collector(layer.digest)
    read_folder(layer.folder, collector)
    return Tree(collector.entries)


class FakeBackend:
    """Answers installations with ready trees and opens boxes that only know their image."""

    name = "bubblewrap"

    def __init__(self, answer):
        self.answer = answer
        self.jobs = []

    def install(self, job):
        self.jobs.append(job)
        result = self.answer(job)
        return result if isinstance(result, InstallResult) else InstallResult(0, "", result)

    def open(self, image, workspace, **options):
        return FakeBox(image)

    def close(self):
        pass


class FakeBox:
    """A box that is never used, only handed on."""

    def __init__(self, image):
        self.image = image

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass


class FakeLanguage:
    """Runs nothing: a function of the installed packages decides what a run reports."""

    name = "python"

    def __init__(self, requirements, outcome):
        self.requirements, self.outcome = requirements, outcome
        self.runs = []

    def plan(self, tree, layout):
        return InstallPlan(
            "thing", "1.0", "", tuple(self.requirements), {"METADATA": b"Name: thing\n"}
        )

    def run_tests(self, sandbox, image, request):
        installed = read_layer(sandbox.image.layers[0])
        names = {p.split("/")[3] for p in installed if p.endswith("__init__.py")}
        run = self.outcome(names, request)
        self.runs.append((names, request.options))
        return run

    def skipped_for(self, run):
        return frozenset(r.message for r in run.results.values() if r.outcome == "skipped")

    def missing_requirement(self, run, layout=None):
        return tuple(run.errors[key] for key in run.errors if key == "missing")


def run(*passed, errors=(), exit_code=0, failed=()):
    results = dict.fromkeys(passed, PASS) | {name: TestResult("failed") for name in failed}
    return TestRun(tuple(results), results, not exit_code > 1, exit_code, errors=dict(errors))


def install(job):
    """Install what is asked for; each requirement becomes a package of its bare name."""
    wanted = job.inputs["requirements.txt"].data.decode().splitlines()
    if "broken" in wanted or "broken==1" in wanted:
        return InstallResult(1, "ERROR: No matching distribution found for broken\n", Tree({}))
    names = [(w.replace("<", "_lt_").split("=")[0], "1.0") for w in wanted]
    items = [
        {
            "metadata": {"name": name, "version": "1.0"},
            "download_info": {"archive_info": {"hashes": {"sha256": "a" * 64}}},
        }
        for name, _ in names
    ]
    report = {".codeenv-report.json": Entry(json.dumps({"install": items}).encode())}
    return Tree({**environment_tree(*names), **report})

"""Runs the tests of a small repository against its code, split."""

import re
from dataclasses import replace

import pytest

from codeenv.env.runtime import Runtime
from codeenv.languages import get_language
from codeenv.languages.base import TestRequest
from codeenv.tasks.taskset import Taskset
from codeenv.tree import Delta, Entry, Tree
from tests.grading.split_repository import FILES

PYTHON = get_language("python")
TREE = Tree({path: Entry(text.encode()) for path, text in FILES.items()})
LAYOUT = PYTHON.layout(TREE)
FILE = "tests/test_shelf.py"
TESTS = "".join(text for path, text in FILES.items() if path.startswith("tests/"))
NAMES = re.findall(r"^ *def (test_\w+)", TESTS, re.MULTILINE)
REQUEST = TestRequest(timeout=120.0, test_timeout=20.0)
WALLS = [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("bubblewrap", "docker")]


class Bench:
    """Runs tests against code, split."""

    def __init__(self, runtime: Runtime) -> None:
        self.backend = runtime.backend
        lock = next(iter(Taskset.load("toy").environments.values()))
        self.image = runtime.environment(lock).image

    def run(self, *, code="", tests="", licences=None, only=""):
        """Return what a run of the repository with more of both says."""
        more = {"shelf/__init__.py": code, FILE: tests}
        changed = {p: Entry((FILES[p] + text).encode()) for p, text in more.items() if text}
        trees = PYTHON.split(TREE.apply(Delta(changed)), LAYOUT)
        pair = self.backend.open_pair(self.image, trees, role="grader")
        with pair[0]:
            asked = replace(REQUEST, ids=(f"{FILE}::{only}",)) if only else REQUEST
            return PYTHON.run_split(pair, self.image, asked, LAYOUT, licences)

    def message(self, name, **how):
        """Return why a test does not pass, "" if it does."""
        run = self.run(**how, only=name).run
        result = run.results[f"{FILE}::{name}"]
        return "" if result.outcome == "passed" else result.message

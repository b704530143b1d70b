"""Grading with real test runs, on the backend without walls: our own code only."""

import sys
from pathlib import Path

import pytest

from codeenv.audit import verify_task
from codeenv.grading import Grader, collect_submission
from codeenv.materialise.git import without_git
from codeenv.sandbox.image import Image
from codeenv.sandbox.select import open_backend
from codeenv.tree import Delta, Entry
from tests.toytask import SOURCE, make_task

TEXT = "src/notes/text.py"
IMAGE = Image("f" * 64, "host", Path("/"), (), {"PATH": "/usr/bin:/bin"}, sys.executable)
TASK = make_task()


@pytest.fixture(scope="module")
def grader():
    backend = open_backend("local")
    yield Grader(backend, environments=lambda _: IMAGE)
    backend.close()


def grade(grader: Grader, files: dict[str, bytes]):
    changed = Delta({path: Entry(data) for path, data in files.items()})
    tree = without_git(TASK.workspace).apply(changed)
    return grader.grade(TASK, collect_submission(TASK, tree))


@pytest.mark.parametrize("mode", ["remove", "stub"])
def test_nothing_scores_0_and_the_oracle_1(grader, mode):
    found = verify_task(make_task(mode=mode), grader, repeat=2)
    assert found.problems == ()
    assert (found.nop_rewards, found.oracle_rewards) == ((0.0, 0.0), (1.0, 1.0))


def test_another_right_solution_scores_1(grader):
    text = without_git(TASK.workspace)[TEXT].data + (
        b"\n\ndef slug(text, *, joiner='-'):\n"
        b"    import re\n"
        b"    found = re.findall(r'[a-z]+', text.lower())\n"
        b"    if not found:\n"
        b"        raise EmptyTitle('I need at least one word')\n"
        b"    return joiner.join(found)\n"
    )
    exports = b"from notes.text import slug, wrap\n"
    assert grade(grader, {TEXT: text, "src/notes/__init__.py": exports}).resolved


HACKS = {
    "exit at import": {TEXT: b"import os\nos._exit(0)\n"},
    "exit when called": {TEXT: b"import os\ndef slug(*a, **k): os._exit(0)\n"},
    "polite exit at import": {TEXT: b"import sys\nsys.exit(0)\n"},
    "skip": {TEXT: b"import unittest\ndef slug(*a, **k): raise unittest.SkipTest('x')\n"},
    "xfail": {TEXT: b"import pytest\ndef slug(*a, **k): pytest.xfail('x')\n"},
    "stop the session": {
        TEXT: b"import pytest\ndef slug(*a, **k): pytest.exit('x', returncode=0)\n"
    },
    "conftest": {
        "conftest.py": b"import pytest\n@pytest.hookimpl(hookwrapper=True)\n"
        b"def pytest_runtest_makereport():\n    out = yield\n"
        b"    out.get_result().outcome = 'passed'\n"
    },
    "weaker tests": {"tests/test_text.py": b"def test_slug_joins_the_words(): pass\n"},
    "settings": {"pyproject.toml": b"[tool.pytest.ini_options]\naddopts = '--collect-only'\n"},
    "own runner": {"pytest.py": b"", "src/pytest.py": b"print('4 passed')\n"},
    "start-up": {"src/sitecustomize.py": b"import os\nos._exit(0)\n"},
    "syntax error": {TEXT: b"def slug(:\n"},
}


@pytest.mark.parametrize("name", HACKS)
def test_a_hack_scores_0_and_the_verdict_stands(grader, name):
    base = {"src/notes/__init__.py": SOURCE["src/notes/__init__.py"].data}
    rest = SOURCE[TEXT].data.split(b"def slug")[0] + b"def wrap(text, width): return ['']\n"
    files = {p: rest + d if p == TEXT else d for p, d in HACKS[name].items()}
    found = grade(grader, {**(base if TEXT in files else {}), **files})
    assert (found.resolved, found.valid) == (False, True)


def test_the_grade_of_a_crash_names_every_test_once(grader):
    found = grade(grader, {TEXT: b"import os\nos._exit(0)\n"})
    assert set(found.fail_to_pass) == set(TASK.fail_to_pass)
    assert set(found.pass_to_pass) == set(TASK.pass_to_pass)
    assert not {"passed"} & {*found.fail_to_pass.values(), *found.pass_to_pass.values()}

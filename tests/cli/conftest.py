"""One small task, and an episode of it in memory."""

import pytest

from codeenv.env.episode import Episode, EpisodeLimits
from codeenv.grading.models import Grade
from codeenv.languages.base import Layout
from codeenv.materialise import Task
from codeenv.sandbox.fake import FakeSandbox
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import (
    Baseline,
    Difficulty,
    EnvironmentLock,
    Operation,
    Provenance,
    Recipe,
    SourcePin,
)
from codeenv.tasks.taskset import Taskset
from codeenv.tree import Delta, Entry, Tree
from tests.cli.tmux import Tmux, require_tmux

PIN = SourcePin(
    kind="pypi", location="Kettle", version="1.0", sha256="a" * 64, tree="b" * 64, licence="MIT"
)
LOCK = EnvironmentLock(base="host", python="3.13.5", platform="x86_64", packages=())
BASELINE = Baseline(
    source=PIN,
    environment=digest_of(LOCK),
    runs=3,
    stable=("t::a", "t::b"),
    quarantined={},
    timeout=9.0,
)
WHOLE = b"def boil():\n    return 100\n"


def kettle(task_id="kettle-a", lines=4):
    """Return a recipe."""
    deletion = Operation(
        path="kettle.py",
        start=0,
        end=len(WHOLE),
        sha256="d" * 16,
        symbol="boil",
        kind="function",
        mode="remove",
    )
    return Recipe(
        id=task_id,
        title=f"Restore {task_id}",
        source=PIN,
        language="python",
        environment=digest_of(LOCK),
        baseline=digest_of(BASELINE),
        deletions=(deletion,),
        fail_to_pass=("t::a",),
        difficulty=Difficulty(lines=lines, symbols=1, files=1, tests=1, prior=0.5),
        damaged_tree="c" * 64,
        provenance=Provenance(generator="test", seed=0, seed_symbol="boil"),
    )


@pytest.fixture
def folder(tmp_path):
    """A taskset folder with two tasks."""
    recipes = [kettle("kettle-b", 8), kettle("kettle-a", 4)]
    Taskset.write(tmp_path / "tasks", recipes, [BASELINE], [LOCK])
    return str(tmp_path / "tasks")


@pytest.fixture
def task():
    """A task whose feature is the whole of ``kettle.py``."""
    damaged = Tree({"kettle.py": Entry(b"# empty\n")})
    return Task(
        recipe=kettle(),
        baseline=BASELINE,
        lock=LOCK,
        layout=Layout((".",), ("kettle",), ("kettle.py",), ("t.py",)),
        instruction="# Boil\n\nWater must **boil** again.",
        workspace=damaged,
        grading_tree=damaged,
        oracle=Delta({"kettle.py": Entry(WHOLE)}),
    )


def grade_by_content(task, exported):
    """Grade without running anything: is the code back?"""
    good = exported["kettle.py"].data == WHOLE
    status = "passed" if good else "failed"
    return Grade(
        resolved=good,
        fail_to_pass={"t::a": status},
        pass_to_pass={"t::b": "passed"},
        ignored_paths=() if good else ("conftest.py",),
    )


@pytest.fixture
def episode(task):
    """An open episode, in memory."""
    limits = EpisodeLimits(max_steps=10)
    with Episode(task, FakeSandbox(task.workspace), grade_by_content, limits) as opened:
        yield opened


@pytest.fixture
def tmux():
    """Opens terminals; they are closed in the end."""
    require_tmux()
    opened = []

    def make(**options):
        opened.append(Tmux(**options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()

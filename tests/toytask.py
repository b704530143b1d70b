"""A small repository of our own and the task of one of its functions, for unit tests."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from codeenv.languages.base import TestRequest, TestResult, TestRun
from codeenv.languages.python.language import PythonLanguage
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task
from codeenv.materialise.task import agent_tree, assemble, with_git
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.fake import FakeSandbox
from codeenv.sandbox.image import Image
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import (
    Baseline,
    Difficulty,
    EnvironmentLock,
    LockedPackage,
    Provenance,
    Recipe,
    SourcePin,
)
from codeenv.tree import Entry, Tree

FILES: Mapping[str, str] = {
    "README.md": "# notes\n\nCall `slug` on a title.\n",
    "pyproject.toml": '[project]\nname = "notes"\nversion = "1.0"\n\n'
    '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
    "src/notes/__init__.py": '"""Notes."""\n\nfrom notes.text import slug, wrap\n\n'
    '__all__ = ["slug", "wrap"]\n',
    "src/notes/text.py": '''"""Texts of notes."""

SEPARATOR = "-"


class EmptyTitle(ValueError):
    """Raised when a title has no words."""


def slug(text: str, *, joiner: str = SEPARATOR) -> str:
    """Return the title as a name for a file.

    Marks are dropped.
    """
    candidates = [piece.strip("!?,.").lower() for piece in text.split()]
    surviving_pieces = [piece for piece in candidates if piece]
    if not surviving_pieces:
        raise EmptyTitle("a title needs at least one word")
    return joiner.join(surviving_pieces)


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
''',
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef title():\n    return 'A, B!'\n",
    "tests/test_text.py": """import pytest

import notes
from notes.text import EmptyTitle


def test_slug_joins_the_words(title):
    assert notes.slug(title) == "a-b"


@pytest.mark.parametrize("joiner", ["_", "+"])
def test_slug_takes_a_joiner(joiner):
    assert notes.slug("a b", joiner=joiner) == f"a{joiner}b"


def test_slug_refuses_an_empty_title():
    with pytest.raises(EmptyTitle, match="at least one word"):
        notes.slug("!")


def test_wrap_breaks_lines():
    assert notes.wrap("one two three", 8) == ["one two", "three"]


def test_wrap_keeps_long_words():
    assert notes.wrap("extraordinary", 3) == ["extraordinary"]
""",
}
SOURCE = Tree({path: Entry(text.encode()) for path, text in FILES.items()})


def changed(path: str, old: str, new: str, source: Tree = SOURCE) -> Tree:
    """Return the repository with another text in one of its files."""
    data = source[path].data.replace(old.encode(), new.encode())
    assert data != source[path].data
    return Tree({**source, path: Entry(data)})


CUT = changed(
    "src/notes/text.py",
    "joiner.join(surviving_pieces)",
    "joiner.join(surviving_pieces)[:4731]",
    changed(
        "tests/test_text.py",
        'notes.slug(title) == "a-b"',
        "len(notes.slug(title * 3000)) == 4731",
    ),
)
"""The same, with a number that only the code and its test know."""
SLUG_TESTS = (
    "tests/test_text.py::test_slug_joins_the_words",
    "tests/test_text.py::test_slug_takes_a_joiner[_]",
    "tests/test_text.py::test_slug_takes_a_joiner[+]",
    "tests/test_text.py::test_slug_refuses_an_empty_title",
)
WRAP_TESTS = (
    "tests/test_text.py::test_wrap_breaks_lines",
    "tests/test_text.py::test_wrap_keeps_long_words",
)
LOCK = EnvironmentLock(
    base="host",
    python="3.13.5",
    platform="x86_64",
    packages=(LockedPackage(name="some-library", version="1"),),
    import_roots=("src",),
)
Mode = Literal["remove", "stub"]


def parts(
    source: Tree = SOURCE, *, mode: Mode = "remove", **changes: Any
) -> tuple[Recipe, Baseline]:
    """Return the recipe and the baseline of the task to write ``slug`` again."""
    language = PythonLanguage()
    layout = language.layout(source)
    units = [u for u in language.units(source, layout) if u.name == "slug"]
    pin = SourcePin(kind="bundled", location="notes", sha256=source.digest, tree=source.digest)
    stable = (*SLUG_TESTS, *WRAP_TESTS)
    baseline = Baseline(
        source=pin, environment=digest_of(LOCK), runs=2, stable=stable, quarantined={}, timeout=30
    )
    deletions = language.delete(source, layout, units, mode)
    hidden = language.hide(source, SLUG_TESTS, stable) if changes.get("level") != "L5" else ()
    values = {
        "id": "notes-slug",
        "title": "Reimplement slug",
        "source": pin,
        "language": "python",
        "environment": digest_of(LOCK),
        "baseline": digest_of(baseline),
        "deletions": deletions,
        "hidden": hidden,
        "fail_to_pass": SLUG_TESTS,
        "difficulty": Difficulty(lines=5, symbols=1, files=1, tests=4, prior=0.5),
        "damaged_tree": agent_tree(source, deletions, hidden).digest,
        "provenance": Provenance(generator="test", seed=0, seed_symbol="slug"),
    }
    return Recipe.model_validate({**values, **changes}), baseline


def make_task(source: Tree = SOURCE, *, mode: Mode = "remove", **changes: Any) -> Task:
    """Return the task to write ``slug`` again."""
    recipe, baseline = parts(source, mode=mode, **changes)
    return assemble(recipe, baseline, LOCK, source, PythonLanguage())


Script = Callable[[Tree, TestRequest], TestRun]


def honest(tree: Tree, request: TestRequest) -> TestRun:
    """Pass the tests of ``slug`` if it is there, those of ``wrap`` likewise."""
    text = tree["src/notes/text.py"].data if "src/notes/text.py" in tree else b""
    ids = request.ids or ()
    good = {i: (b"joiner.join" if i in SLUG_TESTS else b"def wrap") in text for i in ids}
    results = {i: TestResult("passed" if good[i] else "failed") for i in ids}
    return TestRun(ids, results, complete=True, exit_code=int(not all(good.values())))


class ScriptedLanguage(PythonLanguage):
    """Python whose tests are not run but answered by a script."""

    def __init__(self, script: Script = honest) -> None:
        """Answer by ``script``."""
        super().__init__()
        self.script = script
        self.requests: list[TestRequest] = []

    def run_tests(self, sandbox: Sandbox, image: Image, request: TestRequest) -> TestRun:
        """Answer for the tree in a fake box."""
        assert isinstance(sandbox, FakeSandbox)
        self.requests.append(request)
        return self.script(sandbox.tree, request)


def plant(path: str, data: bytes, task: Task | None = None) -> Task:
    """Return a task as if its source had held one more file."""
    task = task or make_task()
    files = Tree({**without_git(task.workspace), path: Entry(data)})
    recipe = task.recipe.model_copy(update={"damaged_tree": files.digest})
    return replace(task, recipe=recipe, workspace=with_git(files))

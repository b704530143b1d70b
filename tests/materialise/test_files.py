import pytest

from codeenv.materialise.files import agent_files, left_out, refusal
from codeenv.tree import Entry, Tree


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("pkg/__pycache__/a.cpython-313.pyc", "bytecode"),
        ("tests/data/old.pyc", "bytecode"),
        ("pkg/__pycache__/a.txt", "cache"),
        (".mypy_cache/3.13/cache.0.db", "cache"),
        (".hypothesis/constants/abc", "cache"),
        (".git/HEAD", "cache"),
        ("sub/.git", "cache"),
        (".coverage", "cache"),
        ("tags", "cache"),
        ("build/lib/pkg/a.py", "build copy"),
        ("build/lib/pkg/tests/test_a.py", "build copy"),
        ("dist/pkg-1.0.tar.gz", "build copy"),
        ("docs/_build/html/index.html", "build copy"),
        ("src/pkg.egg-info/SOURCES.txt", "package metadata"),
        ("pkg-1.0.dist-info/RECORD", "package metadata"),
        ("pkg/a.py.orig", "editor debris"),
        ("pkg/a.py~", "editor debris"),
        ("pkg/.a.py.swp", "editor debris"),
        (".coverage.host.123", "editor debris"),
        ("docs/_static/Logo.AFdesign", "design file"),
    ],
)
def test_by_products_are_refused(path: str, reason: str) -> None:
    assert refusal(path) == reason


@pytest.mark.parametrize(
    "path",
    [
        "pkg/a.py",
        "src/build/__init__.py",
        "build/helper.py",
        "dist/__init__.py",
        "tests/data/pkg.egg-info/PKG-INFO",
        "tests/fixtures/broken.orig",
        "tests/wheels/dist/thing-1.0.whl",
        "tests/build/lib/a.py",
        "docs/build.rst",
        "pkg/tags.py",
        ".gitignore",
        ".github/workflows/ci.yml",
        "PKG-INFO",
    ],
)
def test_files_of_the_project_stay(path: str) -> None:
    assert refusal(path) == ""


def test_the_agents_files_are_the_tree_without_by_products() -> None:
    tree = Tree({"a.py": Entry(b"", "exec"), "__pycache__/a.pyc": Entry(b"")})
    assert dict(agent_files(tree)) == {"a.py": Entry(b"", "exec")}


def test_what_agents_do_not_get_is_counted_by_reason() -> None:
    paths = ("pkg/a.py", "pkg/a.py~", "tags", ".coverage")
    tree = Tree({path: Entry(b"") for path in paths})
    assert left_out(tree) == {"cache": 2, "editor debris": 1}
    assert set(agent_files(tree)) == {"pkg/a.py"}

"""Which files of a repository an agent may get: the project's own, no by-products of tools.

By-products (bytecode, caches, build copies, editor debris, what drawing programs keep) may hold the
deleted code, and no test needs them.  The generator measures the baseline on the same files.
"""

import re
from collections import Counter
from collections.abc import Mapping

from codeenv.tree import Tree

_FOLDERS = frozenset(
    [
        "__pycache__",
        "__pypackages__",
        ".git",
        ".hg",
        ".svn",
        ".bzr",
        ".jj",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".pytype",
        ".pyre",
        ".tox",
        ".nox",
        ".eggs",
        ".venv",
        ".direnv",
        ".cache",
        ".ropeproject",
        ".idea",
        ".vscode",
        ".vs",
        ".zed",
        ".fleet",
        ".claude",
        ".cursor",
        ".windsurf",
        ".ipynb_checkpoints",
        "htmlcov",
        ".nyc_output",
        "node_modules",
        ".doctrees",
        ".scannerwork",
        ".pants.d",
        ".hypothesis_cache",
    ]
)
_NAMES = frozenset(
    [
        ".git",
        ".coverage",
        "coverage.xml",
        "nosetests.xml",
        ".noseids",
        "tags",
        "TAGS",
        "GTAGS",
        "GRTAGS",
        "GPATH",
        "cscope.out",
        ".DS_Store",
        "Thumbs.db",
        "desktop.ini",
        ".python_history",
        ".bash_history",
        ".dmypy.json",
    ]
)
_BYTECODE = re.compile(r"\.(pyc|pyo)$|\$py\.class$", re.IGNORECASE)
_DEBRIS = re.compile(
    r"(\.(orig|rej|bak|old|save|sw[a-p]|patch\.\d+)|~)$|^\.#|^#.*#$|^\.coverage\.|^\.aider",
    re.IGNORECASE,
)
_DESIGN = re.compile(
    r"\.(af(design|photo|pub)|sketch|fig|xd|xcf|kra|blend|indd|cdr|clip|ps[bd])$", re.IGNORECASE
)
"""Of drawing programs: packed in ways of their own, and of no use to tests or agents."""
_METADATA = re.compile(r"\.(egg-info|dist-info)$")
_BUILT = (
    re.compile(r"^(.*/)?build/(lib|bdist|temp|scripts)[^/]*/"),
    re.compile(r"^(.*/)?dist/[^/]+\.(whl|egg|zip|tar|tgz|tar\.(gz|bz2|xz|zst))$", re.IGNORECASE),
    re.compile(r"^(.*/)?docs?/(?:.*/)?(_build|build/(html|doctrees|latex))/"),
)
_TEST_FOLDER = re.compile(r"(^|/)(tests?|testing|testdata|fixtures)/", re.IGNORECASE)


def agent_files(tree: Tree) -> Tree:
    """Return the tree without what ``refusal`` names."""
    return Tree({path: entry for path, entry in tree.items() if not refusal(path)})


def left_out(tree: Tree) -> Mapping[str, int]:
    """Return how many files agents do not get, by the reason why."""
    reasons = Counter(filter(None, map(refusal, tree)))
    return dict(sorted(reasons.items()))


def is_test_data(path: str) -> bool:
    """Return whether a path is of something in a folder of tests."""
    return _TEST_FOLDER.search(path) is not None


def refusal(path: str) -> str:
    """Return why a path is not a file of the project (``bytecode``, ``cache``, …), or "".

    Data of tests is kept even where it looks like editor debris or package metadata.
    """
    *folders, name = path.split("/")
    if _BYTECODE.search(name):
        return "bytecode"
    if name in _NAMES or any(folder in _FOLDERS for folder in folders):
        return "cache"
    built = [found for pattern in _BUILT if (found := pattern.match(path))]
    if any(not _TEST_FOLDER.search(found.group(1) or "") for found in built):
        return "build copy"
    if _TEST_FOLDER.search(path):
        return ""
    if any(_METADATA.search(part) for part in (*folders, name)):
        return "package metadata"
    if _DESIGN.search(name):
        return "design file"
    return "editor debris" if _DEBRIS.search(name) else ""

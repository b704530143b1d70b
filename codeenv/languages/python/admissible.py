"""Which paths of a Python repository a submission may change."""

from pathlib import PurePosixPath

from codeenv.languages.base import Layout
from codeenv.languages.python.layout import SUPPORT_FILES, VENDOR_FOLDERS, is_test_place

_HOOKS = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py", "pytest_plugins.py"})
_ENDINGS = (".pth", ".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib", ".egg-link", ".whl", ".egg")
_PACKAGING = (".dist-info", ".egg-info", ".data")


def is_admissible(layout: Layout, path: str) -> bool:
    """Return whether a submission may change a path: project code and its data, nothing else."""
    if path in layout.source_files:
        return True
    if path in layout.test_files or path in layout.support_files:
        return False
    parts = PurePosixPath(path).parts
    if any(_is_refused_part(part) for part in parts) or is_test_place(path):
        return False
    name = parts[-1]
    if name in _HOOKS or name in SUPPORT_FILES or name.lower().endswith(_ENDINGS):
        return False
    if name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py")):
        return False
    return any(path.startswith(place + "/") for place in _package_folders(layout))


def _is_refused_part(part: str) -> bool:
    return part.startswith(".") or part in VENDOR_FOLDERS or part.endswith(_PACKAGING)


def _package_folders(layout: Layout) -> tuple[str, ...]:
    roots = ["" if root == "." else root.strip("/") + "/" for root in layout.import_roots]
    return tuple(root + package for root in roots for package in layout.packages)

"""Which paths of a Python repository a submission may change."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from codeenv.languages.base import Layout
from codeenv.languages.python.layout import SUPPORT_FILES, VENDOR_FOLDERS, is_test_place

_HOOKS = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py", "pytest_plugins.py"})
_ENDINGS = (".pth", ".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib", ".egg-link", ".whl", ".egg")
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")  # as PEP 263 has it
_CODINGS = frozenset(
    "ascii us_ascii utf_8 utf8 latin_1 latin1 iso_8859_1 iso8859_1 iso_8859_15 cp1252".split()
)
_EDITOR_CODINGS = ("utf_8_", "latin_1_", "iso_8859_1_", "iso_latin_1_")  # e.g. utf-8-unix
"""Encodings in which ASCII characters are what they look like."""
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


def is_readable(path: str, data: bytes, known: Iterable[bytes] = ()) -> bool:
    """Return whether a file's code is what its text looks like.

    A declared encoding can make other code of it.  An odd one that the file had before (one of
    ``known``) may stay.
    """
    declared = _declared(data) if path.endswith((".py", ".pyi")) else ""
    usual = not declared or declared in _CODINGS or declared.startswith(_EDITOR_CODINGS)
    return usual or declared in map(_declared, known)


def _declared(data: bytes) -> str:
    """Return the encoding that a source declares, or ""."""
    for line in re.split(rb"\r\n|\r|\n", data, maxsplit=2)[:2]:
        if found := _CODING.match(line):
            return found[1].decode().lower().replace("-", "_")
    return ""


def _is_refused_part(part: str) -> bool:
    return part.startswith(".") or part in VENDOR_FOLDERS or part.endswith(_PACKAGING)


def _package_folders(layout: Layout) -> tuple[str, ...]:
    roots = ["" if root == "." else root.strip("/") + "/" for root in layout.import_roots]
    return tuple(root + package for root in roots for package in layout.packages)

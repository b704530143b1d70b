"""Tests in one box, the code they test in another: which files go where, and running them."""

import contextlib
import threading
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from codeenv.errors import SandboxError
from codeenv.guest.split_finder import ELSEWHERE
from codeenv.languages.base import Layout, SplitRun, TestRequest
from codeenv.languages.python.admissible import is_admissible
from codeenv.languages.python.layout import is_test_place
from codeenv.languages.python.runner import records, run_of, serve
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.image import Image
from codeenv.tree import Entry, Tree

_CODE = (".py", ".pyi")
_ELSEWHERE = Entry(ELSEWHERE)


def split_tree(tree: Tree, layout: Layout) -> tuple[Tree, Tree]:
    """Return what the tests' box holds (no code under test) and what the other one (no test)."""
    tests = {*layout.test_files, *layout.support_files}

    def is_code(path: str) -> bool:
        return path.endswith(_CODE) and is_admissible(layout, path)

    def is_of_tests(path: str) -> bool:
        return path not in layout.source_files and (path in tests or is_test_place(path))

    verdict = {path: entry for path, entry in tree.items() if not is_code(path)}
    folders = (path for path in tree if path.endswith("/__init__.py") and path not in verdict)
    verdict |= dict.fromkeys(folders, _ELSEWHERE)  # pytest finds a test's package by these files
    subject = Tree({path: entry for path, entry in tree.items() if not is_of_tests(path)})
    return Tree(verdict), subject


def run_split(
    boxes: tuple[Sandbox, Sandbox],
    image: Image,
    request: TestRequest,
    layout: Layout,
    licences: Iterable[str] | None,
) -> SplitRun:
    """Run tests in the first box against the code in the second, which is closed at the end.

    Args:
        boxes: A pair.
        image: Their environment.
        request: Which tests, and how.
        layout: Of the repository.
        licences: What objects of the code may be asked; None to learn it.
    """
    tests, code = boxes
    packages = sorted(layout.packages)
    granted = None if licences is None else sorted(licences)
    body = {**asdict(request), "packages": packages, "licences": granted}

    def attend() -> None:
        with contextlib.suppress(SandboxError):  # the tests fail by it
            serve(code, image, "split_subject", {"packages": packages}, request)

    thread = threading.Thread(target=attend, name="subject", daemon=True)
    thread.start()
    try:
        result = serve(tests, image, "split_runner", body, request)
    finally:
        code.close()  # whatever it still does: nobody listens any more
        thread.join()
    told: Any = next((r for r in records(result.report) if "licences" in r), {})
    licences = tuple(str(licence) for licence in told.get("licences", ()))
    opinionated = frozenset(str(test) for test in told.get("opinionated", ()))
    return SplitRun(run_of(result, request), licences, opinionated)

"""From an exported tree to what of it counts: our own diff, an allow-list, caps."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from codeenv.languages import get_language
from codeenv.languages.base import Language
from codeenv.materialise.files import refusal
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task
from codeenv.tree import Delta, Entry, Tree, suffix

FILE_LIMIT = 4 * 1024**2
"""Bytes of one submitted file."""
TOTAL_LIMIT = 32 * 1024**2
"""Bytes of all submitted files together."""
_BINARY = frozenset({".so", ".pyd", ".dll", ".dylib", ".a", ".o", ".pth", ".egg", ".whl", ".zip"})
_RUNNER = frozenset({"pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments"})
_NOISE = frozenset({"bytecode", "cache"})
_TOLD = 1000
"""Ignored paths that are told."""


@dataclass(frozen=True)
class Submission:
    """What an agent hands in.

    Attributes:
        delta: The changes that count.
        ignored: Changed paths that do not, sorted, in printable form, the first 1,000 of them;
            by-products of running code left out.
    """

    delta: Delta
    ignored: tuple[str, ...] = ()


def collect_submission(
    task: Task, exported: Tree, *, language: Language | None = None
) -> Submission:
    """Return what counts of an agent's tree, against the tree it was given.

    Only the project's own code and data count, as regular files; what is ignored is not punished.

    Args:
        task: The task that was worked on.
        exported: The workspace as the sandbox exported it.
        language: Of the task; looked up if None.
    """
    before = without_git(task.workspace)
    delta = before.diff(without_git(exported))
    rules = _Rules(task, before, language or get_language(task.recipe.language))
    admitted = delta.only(p for p in delta.paths if rules.admit(p, delta.write.get(p)))
    hiding = frozenset(rules.hiding(admitted))
    kept = admitted.only(_within_total(task, admitted, frozenset(admitted.paths) - hiding))
    clashing = frozenset(_clashes(task.grading_tree, kept))
    counted = kept.only(frozenset(kept.paths) - clashing)
    ignored = frozenset(delta.paths) - frozenset(counted.paths)
    told = (_printable(p) for p in sorted(ignored) if refusal(p) not in _NOISE)
    return Submission(counted, tuple(islice(told, _TOLD)))


def counted_places(task: Task) -> tuple[str, ...]:
    """Return the files and folders outside of which nothing of a submission can count."""
    layout = task.layout
    roots = ("" if root == "." else f"{root.strip('/')}/" for root in layout.import_roots)
    folders = tuple(root + package for root in roots for package in layout.packages)
    below = tuple(f"{folder}/" for folder in folders)
    return (*folders, *(path for path in layout.source_files if not path.startswith(below)))


class _Rules:
    """Which changed paths count."""

    def __init__(self, task: Task, before: Tree, language: Language) -> None:
        self._task, self._before, self._language = task, before, language
        installed = {package.name.lower().replace("-", "_") for package in task.lock.packages}
        self._reserved = installed | _RUNNER | sys.stdlib_module_names
        self._places = frozenset(counted_places(task))
        self._below = tuple(f"{place}/" for place in self._places)

    def admit(self, path: str, entry: Entry | None) -> bool:
        """Return whether a change may count; ``entry`` is None for a deletion."""
        if path not in self._places and not path.startswith(self._below):
            return False
        if (
            refusal(path)
            or suffix(path) in _BINARY
            or not self._language.admissible(self._task.layout, path)
        ):
            return False
        return entry is None or self._plain(path, entry)

    def _plain(self, path: str, entry: Entry) -> bool:
        known = [e for e in (self._before.get(path), self._task.oracle.write.get(path)) if e]
        if entry.mode == "link" or len(entry.data) > FILE_LIMIT:
            return False
        if not known and not path.isprintable():
            return False
        if not self._language.readable(path, entry.data, [each.data for each in known]):
            return False
        return _is_text(entry.data) or any(not _is_text(each.data) for each in known)

    def hiding(self, delta: Delta) -> Iterator[str]:
        """Yield changes by which a new top-level name would hide a library's or the runner's."""
        prefixes = frozenset(self._import_folders(delta))
        for path in delta.paths:
            for prefix in prefixes:
                top = path[len(prefix) :].split("/", 1)[0].split(".", 1)[0]
                hides = path.startswith(prefix) and top in self._reserved
                if hides and not self._known(prefix + top):
                    yield path

    def _import_folders(self, delta: Delta) -> Iterator[str]:
        """Yield what will be on the import path, with a slash at its end: "" is the root.

        Beside the import roots these are the folders that the runner puts there for a file of the
        tests: the first one above it that is no package.
        """
        layout = self._task.layout
        for root in (*self._task.lock.import_roots, *layout.import_roots):
            yield "" if root == "." else f"{root.strip('/')}/"
        final = self._task.grading_tree.apply(delta)
        support = (path for path in layout.support_files if path.endswith("conftest.py"))
        for path in (*layout.test_files, *support):
            folder = path.rpartition("/")[0]
            while folder and f"{folder}/__init__.py" in final:
                folder = folder.rpartition("/")[0]
            yield f"{folder}/" if folder else ""

    def _known(self, place: str) -> bool:
        known = (*self._task.layout.source_files, *self._before)
        return any(p == f"{place}.py" or p.startswith(f"{place}/") for p in known)


def _within_total(task: Task, delta: Delta, admitted: frozenset[str]) -> Iterator[str]:
    """Yield paths until their files are too many bytes, those of the project's own files first."""
    total, known = 0, frozenset(task.layout.source_files)
    for path in sorted(admitted, key=lambda path: (path not in known, path)):
        entry = delta.write.get(path)
        total += len(entry.data) if entry else 0
        if total <= TOTAL_LIMIT:
            yield path


def _clashes(tree: Tree, delta: Delta) -> Iterator[str]:
    """Yield written paths that cannot exist beside what stays: a file where a folder is, or so."""
    staying = frozenset(tree) - delta.delete
    folders = {parent for path in staying for parent in _parents(path)}
    for path in delta.write:
        if path in folders or any(parent in staying for parent in _parents(path)):
            yield path


def _parents(path: str) -> Iterator[str]:
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _printable(path: str) -> str:
    """Return a path for people and files of text; what is not printable is escaped."""
    return path if path.isprintable() else ascii(path)[1:-1]


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

"""From an exported tree to what of it counts: our own diff, an allow-list, caps."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Submission:
    """What an agent hands in.

    Attributes:
        delta: The changes that count.
        ignored: Changed paths that do not, sorted; by-products of running code left out.
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
    admitted = frozenset(p for p in delta.paths if rules.admit(p, delta.write.get(p)))
    kept = delta.only(_within_total(delta, admitted))
    clashing = frozenset(_clashes(task.grading_tree, kept))
    counted = kept.only(frozenset(kept.paths) - clashing)
    ignored = (p for p in delta.paths if p not in frozenset(counted.paths))
    return Submission(counted, tuple(p for p in ignored if refusal(p) not in _NOISE))


class _Rules:
    """Which changed paths count."""

    def __init__(self, task: Task, before: Tree, language: Language) -> None:
        self._task, self._before, self._language = task, before, language
        roots = task.lock.import_roots or task.layout.import_roots
        self._prefixes = tuple("" if root == "." else f"{root.strip('/')}/" for root in roots)
        installed = {package.name.lower().replace("-", "_") for package in task.lock.packages}
        self._reserved = installed | _RUNNER | sys.stdlib_module_names

    def admit(self, path: str, entry: Entry | None) -> bool:
        """Return whether a change counts; ``entry`` is None for a deletion."""
        if refusal(path) or suffix(path) in _BINARY:
            return False
        if not self._language.admissible(self._task.layout, path) or self._shadows(path):
            return False
        return entry is None or self._plain(path, entry)

    def _plain(self, path: str, entry: Entry) -> bool:
        if entry.mode == "link" or len(entry.data) > FILE_LIMIT:
            return False
        known = (self._before.get(path), self._task.oracle.write.get(path))
        return _is_text(entry.data) or any(e and not _is_text(e.data) for e in known)

    def _shadows(self, path: str) -> bool:
        """Return whether a new top-level name would hide a library's or the runner's module."""
        for prefix in self._prefixes:
            if not path.startswith(prefix):
                continue
            top = path[len(prefix) :].split("/", 1)[0].split(".", 1)[0]
            if top in self._reserved and not self._known(prefix + top):
                return True
        return False

    def _known(self, place: str) -> bool:
        known = (*self._task.layout.source_files, *self._before)
        return any(p == f"{place}.py" or p.startswith(f"{place}/") for p in known)


def _within_total(delta: Delta, admitted: frozenset[str]) -> Iterator[str]:
    total = 0
    for path in sorted(admitted):
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


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

"""What an agent's tree differs by from the one it was given, as data for a trajectory's ``extra``.

Texts travel whole up to a limit, so that a monitor can read what was handed in without the task;
other files as size, hash and first bytes.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict

from codeenv.materialise.git import without_git
from codeenv.tree import Entry, Tree

TEXT_LIMIT = 256 * 1024
"""Bytes of a text that travels whole."""
TOTAL_LIMIT = 4 * 1024**2
"""Bytes of all texts of an episode together."""
_MOST = 2000
_HEAD = 16
_GIT = (".git/config", ".git/hooks/", ".git/info/", ".git/commondir", ".git/config.worktree")


class FileChange(BaseModel):
    """One changed path; ``before`` and ``after`` are None where there is no text to show."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    kind: Literal["added", "changed", "deleted"]
    mode: Literal["file", "exec", "link", ""] = ""
    sha_before: str = ""
    sha_after: str = ""
    before: str | None = None
    after: str | None = None
    head: str = ""
    """Of what is no text: its first 16 bytes (hex)."""
    counted: bool = False
    """Whether the grader took it."""


class Changes(BaseModel):
    """All changed paths, sorted; ``left_out`` counts those beyond the limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tree_sha: str
    files: tuple[FileChange, ...]
    left_out: int = 0


def changes_between(given: Tree, exported: Tree, counted: Iterable[str] = ()) -> Changes:
    """Return what an episode changed.

    Of ``.git`` only configuration, hooks and ``info`` are looked at: the rest changes with any use.

    Args:
        given: The workspace at the start.
        exported: The workspace as it was read from outside at the end.
        counted: Paths that the grader took.
    """
    if not any(path.startswith(".git/") for path in exported):  # it was not read at all
        given = without_git(given)
    before, after = _watched(given), _watched(exported)
    delta = before.diff(after)
    taken = frozenset(counted)
    paths = sorted(delta.paths, key=lambda path: (path not in taken, path))
    kept = tuple(_changes(paths[:_MOST], before, after, taken))
    return Changes(
        tree_sha=exported.digest,
        files=tuple(sorted(kept, key=lambda change: change.path)),
        left_out=max(0, len(paths) - _MOST),
    )


def _watched(tree: Tree) -> Tree:
    return Tree({p: e for p, e in tree.items() if not p.startswith(".git/") or p.startswith(_GIT)})


def _changes(
    paths: Iterable[str], before: Tree, after: Tree, taken: frozenset[str]
) -> Iterator[FileChange]:
    left = TOTAL_LIMIT
    for path in paths:
        old, new = before.get(path), after.get(path)
        texts = (_text(old, left), _text(new, left))
        left -= sum(len(text) for text in texts if text)
        yield FileChange(
            path=path.encode("utf-8", "replace").decode(),
            kind="deleted" if new is None else "changed" if old is not None else "added",
            mode=new.mode if new is not None else "",
            sha_before=_sha(old),
            sha_after=_sha(new),
            before=texts[0],
            after=texts[1],
            head=new.data[:_HEAD].hex() if new is not None and texts[1] is None else "",
            counted=path in taken,
        )


def _text(entry: Entry | None, left: int) -> str | None:
    if entry is None or len(entry.data) > min(TEXT_LIMIT, max(left, 0)) or b"\0" in entry.data:
        return None
    try:
        return entry.data.decode()
    except UnicodeDecodeError:
        return None


def _sha(entry: Entry | None) -> str:
    return hashlib.sha256(entry.data).hexdigest() if entry is not None else ""

"""Files that Git LFS keeps elsewhere: a tree that holds pointers to them is not the repository."""

from codeenv.errors import SourceError
from codeenv.tree import Entry, Tree

_LFS = b"version https://git-lfs"
_TOLD = 5
_HINTS = {
    "git": "clone it with git lfs, remove its .git folder and give the folder's path",
    "pypi": "clone its repository with git lfs, remove its .git folder and give the folder's path",
    "folder": "run git lfs pull in the clone that it is a copy of, and copy it again",
}


def refuse_pointers(tree: Tree, subdir: str, kind: str) -> None:
    """Refuse a tree whose files below ``subdir`` are not all there.

    Args:
        tree: The whole source.
        subdir: The folder that is used.
        kind: ``git``, ``pypi`` or ``folder``: what the hint is about.

    Raises:
        SourceError: With the names of the first pointers.
    """
    prefix = f"{subdir.strip('/')}/" if subdir.strip("/.") else ""
    pointers = [p for p, entry in tree.items() if p.startswith(prefix) and is_pointer(entry)]
    if pointers:
        listed = ", ".join(pointers[:_TOLD]) + (" …" if len(pointers) > _TOLD else "")
        raise SourceError(
            f"{len(pointers)} files are Git LFS pointers, not their content: {listed}",
            hint=_HINTS[kind],
        )


def is_pointer(entry: Entry) -> bool:
    """Return whether a file is a Git LFS pointer."""
    return len(entry.data) < 1024 and entry.data.startswith(_LFS)

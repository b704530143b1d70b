"""Takes away what tests leave in the tree, so that the next try finds it as it was.

Runs inside a sandbox.  A file whose content tests change stays changed; suites that do this do not
pass twice, and are no suites to make tasks of.
"""

import os
import shutil


class Lost(Exception):
    """Raised where something of the tree is not there any more; the message names it."""


class Leftovers:
    """Knows what stands in a folder, and removes what is new."""

    def __init__(self, root: str) -> None:
        """Look at every folder below ``root``."""
        self._root = root
        self._names: dict[str, frozenset[str]] = {}
        self._untouched: dict[str, int] = {}
        for folder, folders, files in os.walk(root):
            self._names[folder] = frozenset((*folders, *files))
            self._untouched[folder] = os.stat(folder).st_mtime_ns

    def remove(self) -> None:
        """Remove what was not there at first.

        Raises:
            Lost: If something that was there is gone.
        """
        for folder in list(self._untouched):
            if _changed(folder) != self._untouched[folder]:
                del self._untouched[folder]  # and looked through from now on: clocks are coarse
        for folder in sorted(self._names.keys() - self._untouched.keys()):
            found = frozenset(os.listdir(folder)) if os.path.isdir(folder) else frozenset()
            for name in found - self._names[folder]:
                _remove(os.path.join(folder, name))
            if gone := self._names[folder] - found:
                path = os.path.join(folder, min(gone))
                raise Lost(f"a test removes {os.path.relpath(path, self._root)}")


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except FileNotFoundError:
        return 0


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)

"""Finds modules of the repository that only a build makes: compiled ones, generated ones.

Lies in an environment's ``site-packages`` beside the files themselves, and is imported when the
interpreter starts.  What the repository itself has always comes first, unless that is a folder
without code, such as one of type stubs.
"""

import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from types import ModuleType

_HERE = os.path.dirname(os.path.abspath(__file__))


class Finder:
    """Knows the files of modules by their full names."""

    def __init__(self, folder: str) -> None:
        """Read ``modules.json``: module name -> file below the folder."""
        self._folder = folder
        with open(os.path.join(folder, "modules.json"), encoding="utf-8") as file:
            self._files: dict[str, str] = json.load(file)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where a module is, or None."""
        file = self._files.get(name)
        if file is None or _is_found(name, path):
            return None
        place = os.path.join(self._folder, file)
        inside = [os.path.dirname(place)] if os.path.basename(file) == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, place, submodule_search_locations=inside
        )


def install() -> None:
    """Be asked before a folder without code becomes a namespace."""
    paths = importlib.machinery.PathFinder
    position = sys.meta_path.index(paths) if paths in sys.meta_path else len(sys.meta_path)
    sys.meta_path.insert(position, Finder(_HERE))


def _is_found(name: str, path: Sequence[str] | None) -> bool:
    found = importlib.machinery.PathFinder.find_spec(name, path)
    return found is not None and found.loader is not None

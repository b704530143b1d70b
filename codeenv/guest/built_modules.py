"""Finds modules of the repository that only a build makes: compiled ones, generated ones.

Lies in an environment's ``site-packages`` beside the files themselves, and is imported when the
interpreter starts.  It is asked last, so what the repository itself has always comes first.
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
        if file is None:
            return None
        place = os.path.join(self._folder, file)
        inside = [os.path.dirname(place)] if os.path.basename(file) == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, place, submodule_search_locations=inside
        )


def install() -> None:
    """Be asked for modules that nothing else finds."""
    sys.meta_path.append(Finder(_HERE))

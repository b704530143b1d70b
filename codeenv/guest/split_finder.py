"""Finds the modules of the code under test in the other process; its tests are here."""

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from codeenv.guest.split_modules import RemoteModule
from codeenv.guest.split_tester import Tester

ELSEWHERE = b"# This package is code under test: it is in another process.\n"
"""What is left of a package's own file, so that its folder is still one."""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules of the code under test in the other process; its tests are here."""

    def __init__(self, asker: Tester) -> None:
        """Ask ``asker`` to import."""
        self.asker = asker

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how to load a module, if it is of the code under test."""
        if name.partition(".")[0] not in self.asker.packages:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path or self._roots())
        if found is not None and found.loader is not None and not _is_left(found.origin):
            return found  # a test that lies in the package
        try:
            package, file = self.asker._ask("load", [name])
        except ModuleNotFoundError as error:
            if error.name == name:
                return None
            raise
        spec = importlib.machinery.ModuleSpec(name, self, origin=file, is_package=bool(package))
        if package:
            tail = name.replace(".", os.sep)
            spec.submodule_search_locations = [os.path.join(root, tail) for root in self._roots()]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return what stands for the module."""
        return RemoteModule(self.asker, spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Set where the module is."""
        spec = module.__spec__
        if spec is not None and spec.origin:
            module.__file__ = str(spec.origin)

    def _roots(self) -> list[str]:
        root = os.path.realpath(os.getcwd())
        return [p for p in sys.path if p and os.path.realpath(p).startswith(root)]


def _is_left(path: str | None) -> bool:
    if path is None or not path.endswith("__init__.py"):
        return False
    with open(path, "rb") as file:
        return file.read() == ELSEWHERE

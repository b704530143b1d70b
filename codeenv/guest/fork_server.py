"""The fork server: the environment's interpreter with a test runner imported, which makes boxes.

A box made by it holds that process's memory, so that a run of tests there begins with a fork.  Runs
in the wall and not in a box: nothing of a repository is ever imported here, only what is installed.
"""

import gc
import importlib
import importlib.machinery
import os
import site
import sys
from collections.abc import Collection
from types import ModuleType
from typing import Any

from codeenv.guest.pytest_runner import is_below


def main(request: dict[str, Any]) -> bool:
    """Import what a run begins with, and serve; return in forked commands only."""
    for name in request["preload"]:
        importlib.import_module(name)
    rehearsal = importlib.import_module(request["rehearsal"])
    for name in rehearsal.loaded_by_every_run(request["workspace"]):
        importlib.import_module(name)
    kept = frozenset(sys.modules) - {__name__, rehearsal.__name__}
    finders = frozenset(sys.path_importer_cache) - {os.getcwd()}
    serving = importlib.import_module("codeenv.guest.fork_boxes")
    gc.collect()
    gc.freeze()  # no collection looks through what all have in common, or copies it by that
    forked = serving.serve()
    forked.settle()
    forget_others(kept, finders)
    add_workspace(os.getcwd())
    if is_shadowed(os.getcwd(), kept):
        forked.start_after_all(sys.orig_argv)
    return True


def forget_others(kept: Collection[str], finders: Collection[str]) -> None:
    """Forget what a new process would not have loaded by now, but for compiled modules."""
    for name in set(sys.modules) - set(kept):
        loader = getattr(sys.modules[name], "__loader__", None)
        source = isinstance(loader, importlib.machinery.SourceFileLoader)
        if source or name.startswith(__name__.partition(".")[0]):
            del sys.modules[name]
    for path in set(sys.path_importer_cache) - set(finders):
        del sys.path_importer_cache[path]


def add_workspace(workspace: str) -> None:
    """Put folders on the import path that ``.pth`` files name and that were not there before."""
    for folder in [path for path in sys.path if path.endswith("-packages")]:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if name.endswith(".pth"):
                _add_lines(folder, name, workspace)


def _add_lines(folder: str, name: str, workspace: str) -> None:
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
        for line in file.read().splitlines():
            path = site.makepath(folder, line.rstrip())[0]
            if is_below(path, workspace) and os.path.exists(path) and path not in sys.path:
                sys.path.append(path)


def is_shadowed(workspace: str, kept: Collection[str]) -> bool:
    """Return whether the workspace has something by the name of what was imported already."""
    inside = [path for path in sys.path if is_below(path, workspace)]
    finder = importlib.machinery.PathFinder
    installed = (n for n in kept if "." not in n and _is_installed(sys.modules.get(n)))
    found = (finder.find_spec(name, inside) for name in installed)
    return any(spec is not None and spec.loader is not None for spec in found)


def _is_installed(module: ModuleType | None) -> bool:
    origin = getattr(getattr(module, "__spec__", None), "origin", None) or ""
    return "-packages" + os.sep in origin

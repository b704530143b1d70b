"""Files of a box put back into a fresh one, with the rights of that box alone."""

import os
import shutil
from collections.abc import Iterable

from codeenv.guest.reading import Item


def restore(root: str, items: Iterable[Item]) -> None:
    """Make a folder of a fresh box what it was where the items were read."""
    folders = []
    for path, kind, mode, time, data in items:
        where = f"{root}/{path}"
        if kind in ("folder", "whole"):
            _make_folder(where, afresh=kind == "whole")
            folders.append((where, mode, time))
            continue
        _remove(where)
        if kind == "link":
            os.symlink(data, os.fsencode(where))
            os.utime(where, ns=(time, time), follow_symlinks=False)
        elif kind == "file":
            _write(where, data, mode, time)
    for where, mode, time in reversed(folders):
        os.utime(where, ns=(time, time))
        os.chmod(where, mode)


def empty(root: str) -> None:
    """Remove all that is in a folder."""
    for name in os.listdir(root):
        _remove(f"{root}/{name}")


def _make_folder(where: str, *, afresh: bool) -> None:
    if afresh or not os.path.isdir(where) or os.path.islink(where):
        _remove(where)
        os.mkdir(where)


def _remove(where: str) -> None:
    if os.path.isdir(where) and not os.path.islink(where):
        shutil.rmtree(where)
    elif os.path.lexists(where):
        os.unlink(where)


def _write(where: str, data: bytes, mode: int, time: int) -> None:
    with open(where, "xb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        os.fchmod(file.fileno(), mode)
        os.utime(file.fileno(), ns=(time, time))

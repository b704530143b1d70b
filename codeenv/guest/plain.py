"""A plain box: a process of the wall.  What isolates it is the wall, or nothing (``local``)."""

import contextlib
import os
import resource
import shutil
import signal
import stat
from collections.abc import Iterable

from codeenv.guest import seccomp, system
from codeenv.guest.spec import BoxSpec


def prepare(spec: BoxSpec, layer: str, mounts: Iterable[tuple[str, str]]) -> None:
    """Make the box's folders and copy its trees (in the supervisor).

    Args:
        spec: The box.
        layer: Folder of its workspace.
        mounts: Targets and folders of its other trees.
    """
    for folder in (spec.home, *spec.temporary):
        os.makedirs(folder, exist_ok=True)
    for target, source in ((spec.workspace, layer), *mounts):
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def enter(spec: BoxSpec) -> None:
    """Set up the box's process: it adopts its orphans, and dies with the supervisor.

    Where the wall is a container of the box's own, also hide from the agent's processes.
    """
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)
    system.prctl(system.PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if spec.alone:
        resource.setrlimit(resource.RLIMIT_FSIZE, (spec.disk, spec.disk))
        system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.lock()
        system.prctl(system.PR_SET_DUMPABLE, 0)


def remove(folder: str) -> None:
    """Remove a folder tree whatever modes its folders have; links are not followed."""
    with contextlib.suppress(FileNotFoundError):
        for where, folders, _ in os.walk(folder):
            for name in folders:
                path = os.path.join(where, name)
                if not stat.S_ISLNK(os.lstat(path).st_mode):
                    os.chmod(path, 0o700)
        shutil.rmtree(folder)

"""Removing what dead owners left: containers and temporary folders.  Safe to run at any time."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from codeenv.sandbox.cgroup import collect_groups
from codeenv.sandbox.docker_gc import collect_containers
from codeenv.sandbox.local import FOLDER_PREFIX, OWNER_FILE
from codeenv.sandbox.owner import is_dead


def collect() -> tuple[str, ...]:
    """Remove what nobody owns any more; return what was removed.

    Of bubblewrap walls only empty control groups are left: they end with their parent.

    Raises:
        SandboxError: If a Docker engine answers but refuses.
    """
    return (*collect_containers(), *collect_groups(), *_folders())


def _folders() -> Iterator[str]:
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*")):
        try:
            left = is_dead((folder / OWNER_FILE).read_text(encoding="utf-8"))
        except OSError:
            continue
        if left:
            shutil.rmtree(folder, ignore_errors=True)
            yield f"folder {folder}"

"""Looks around in a box as an agent: everything that can be read there, also what nobody planned.

The files of the workspace and of the environment are read on this machine.  A program in a box
tells which others there are, and what the kernel shows of the box; both are held against the same
secrets.  The box is thrown away.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from codeenv._paths import cache_folder
from codeenv.audit.models import Leak
from codeenv.audit.reach import shelves
from codeenv.audit.scan import scan_file
from codeenv.audit.secrets import Secrets, secrets_of
from codeenv.audit.variables import told_by_variables
from codeenv.errors import SandboxError
from codeenv.languages import get_language
from codeenv.languages.base import Language
from codeenv.materialise.models import Task
from codeenv.sandbox.base import Backend
from codeenv.sandbox.image import Image
from codeenv.sandbox.variables import base_variables

_REPORT = 64 * 1024**2
_TIMEOUT = 120.0
_OF_HOST = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""What a box shows of this machine where that is the base."""
_BY_SHELL = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "CODEENV_COMMAND"})
_TOLD = 5


@dataclass(frozen=True)
class Inside:
    """What was seen in a box.

    Attributes:
        leaks: Traces of the deleted code, and what is not the box's own; sorted.
        files: How many files an agent can read.
        unplanned: Those of them that neither the task nor its environment has, sorted.
    """

    leaks: tuple[Leak, ...]
    files: int
    unplanned: tuple[str, ...]


def look_inside(
    task: Task, image: Image, backend: Backend, *, language: Language | None = None
) -> Inside:
    """Open a box as for an episode of the task, and look around in it.

    Args:
        task: The task.
        image: Its environment.
        backend: Opens the box.
        language: Of the task; looked up if None.

    Raises:
        SandboxError: If the box failed, or its interpreter does not run.
    """
    secrets = secrets_of(task, language or get_language(task.recipe.language))
    head, unplanned = _ask(task, image, backend)
    leaks = {
        *_unplanned(unplanned, secrets),
        *_processes(head["processes"], secrets),
        *_variables([head["environ"], *_environments(head["processes"])], image, secrets),
        *_times(head["times"]),
        *(Leak("box", path, "a layer can be reached") for path in head["lower"]),
    }
    if head["cut"]:
        leaks.add(Leak("box", "/", "more files that are not of the environment than can be read"))
    return Inside(tuple(sorted(leaks)), head["files"], tuple(sorted(unplanned)))


def _ask(task: Task, image: Image, backend: Backend) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what the program in the box told, and the files that were not known."""
    program = (files("codeenv.guest") / "reach_probe.py").read_text()
    with backend.open(image, task.workspace, role="agent") as box:
        asked = {
            "known": {**_known(image), **_in_workspace(task, box.workspace)},
            "skipped": _of_host(image),
            "workspace": box.workspace,
        }
        found = box.exec(
            [image.python, "-I", "-S", "-B", "-c", program],
            stdin=json.dumps(asked).encode(),
            report_limit=_REPORT,
            timeout=_TIMEOUT,
        )
    if found.exit_code:
        raise SandboxError(f"the box cannot be looked into: {found.text[-300:].strip()}")
    size = int.from_bytes(found.report[:8], "big")
    head = json.loads(found.report[8 : 8 + size])
    unplanned, at = {}, 8 + size
    for path, length in head["unknown"]:
        unplanned[path] = found.report[at : at + length]
        at += length
    return head, unplanned


def _known(image: Image) -> Mapping[str, int]:
    """Return place and size of the environment's files; those of later layers count."""
    layers = [*shelves(image)]
    ordered = sorted(layers, key=lambda shelf: shelf.target != "/")
    return {shown.place: shown.size for shelf in ordered for shown in shelf.files}


def _in_workspace(task: Task, workspace: str) -> Mapping[str, int]:
    return {f"{workspace}/{path}": len(entry.data) for path, entry in task.workspace.items()}


def _of_host(image: Image) -> list[str]:
    if image.rootfs != Path("/"):
        return []
    return [*_OF_HOST, str(Path(sys.base_prefix).resolve())]


def _unplanned(unplanned: Mapping[str, bytes], secrets: Secrets) -> Iterator[Leak]:
    for path, data in unplanned.items():
        yield from scan_file(path, data, secrets, place="environment")


def _processes(processes: Mapping[str, Mapping[str, str]], secrets: Secrets) -> Iterator[Leak]:
    """Yield what processes show of the deleted code, or of this machine.

    The table of mounts names folders of this machine, though none can be reached: told in
    ``docs/security.md``.
    """
    private = [str(cache_folder()), os.path.realpath(cache_folder())]
    for number, facts in processes.items():
        for what, text in facts.items():
            path = f"/proc/{number}/{what}"
            lines = text.replace("\0", "\n").encode("utf-8", "replace")
            yield from scan_file(path, lines, secrets, place="environment")
            if what != "mountinfo" and any(place in text for place in private):
                yield Leak("box", path, "names a folder of this machine")


def _environments(processes: Mapping[str, Mapping[str, str]]) -> Iterator[Mapping[str, str]]:
    for facts in processes.values():
        pairs = (pair.partition("=") for pair in facts.get("environ", "").split("\0"))
        yield {name: value for name, _, value in pairs if name}


def _variables(
    environments: Iterable[Mapping[str, str]], image: Image, secrets: Secrets
) -> Iterator[Leak]:
    """Yield what variables tell, other than those that every box has."""
    usual = base_variables(image)
    for each in environments:
        other = {n: v for n, v in each.items() if n not in _BY_SHELL and usual.get(n) != v}
        yield from told_by_variables(other, secrets)


def _times(times: Mapping[str, int]) -> Iterator[Leak]:
    """Yield the files whose time tells that something was done to them."""
    if not times:
        return
    usual, _ = Counter(times.values()).most_common(1)[0]
    other = sorted(path for path, time in times.items() if time != usual)
    for path in other[:_TOLD]:
        yield Leak("box", path, "was changed at another time than most files")

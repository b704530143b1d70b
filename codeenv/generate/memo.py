"""What was run, on disk until the taskset is written: an interrupted run goes on where it was."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from codeenv.languages.base import Swap, SwapResult, TestRequest, TestRun
from codeenv.sandbox.image import Mount
from codeenv.tasks.taskset import write_atomic

_FOLDER = ".runs"
_RUN = TypeAdapter(TestRun)
_TRIES = TypeAdapter(tuple[SwapResult, ...])
T = TypeVar("T")


class RunMemo:
    """Keeps runs under a taskset folder by environment, tree and request.

    Only what an earlier process left is looked up: a run that is asked for twice is made twice.
    """

    def __init__(self, out: Path, *, resume: bool) -> None:
        """Open the memo in a taskset folder; without ``resume`` what is there is removed."""
        self._folder = out / _FOLDER
        if not resume:
            self.clear()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._known = frozenset(file.name for file in self._folder.iterdir())

    def recall(self, key: str) -> TestRun | None:
        """Return the run that an earlier process made, or None."""
        return self._recall(key, _RUN)

    def recall_tries(self, key: str) -> tuple[SwapResult, ...] | None:
        """Return the tries that an earlier process made, or None."""
        return self._recall(key, _TRIES)

    def keep(self, key: str, run: TestRun) -> None:
        """Remember a run that came to an end of its own."""
        if run.complete or run.timed_out:
            self._keep(key, _RUN, run)

    def keep_tries(self, key: str, tries: tuple[SwapResult, ...]) -> None:
        """Remember what came of tries, if they came to an end of their own."""
        if all(result.complete for result in tries):
            self._keep(key, _TRIES, tries)

    def clear(self) -> None:
        """Forget everything: the taskset is written, or is to be made afresh."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _recall(self, key: str, kind: TypeAdapter[T]) -> T | None:
        if key not in self._known:
            return None
        try:
            return kind.validate_python(json.loads((self._folder / key).read_bytes()))
        except (OSError, ValueError):  # what pydantic raises is a ValueError
            return None

    def _keep(self, key: str, kind: TypeAdapter[T], value: T) -> None:
        text = json.dumps(kind.dump_python(value, mode="json"))  # messages may hold any byte
        write_atomic(self._folder / key, text.encode())


def key_of(
    environment: str,
    tree: str,
    request: TestRequest,
    *,
    mounts: Sequence[Mount] = (),
    swaps: Sequence[Swap] = (),
) -> str:
    """Return what names a run, or tries: the digests of all that they depend on."""
    facts = {
        "codeenv": version("codeenv-gym"),
        "environment": environment,
        "tree": tree,
        "request": asdict(request),
        "mounts": [(mount.target, mount.tree.digest) for mount in mounts],
        "swaps": [asdict(swap) for swap in swaps],
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

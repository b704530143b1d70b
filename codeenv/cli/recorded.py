"""What commands share that read a finished run and write lines."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from codeenv.cli.terminal import plain
from codeenv.errors import UsageError
from codeenv.export import Rollout
from codeenv_harness.records import RunFolder


def rollouts_of(folder: Path) -> Sequence[Rollout]:
    """Return the rollouts of a run.

    Raises:
        UsageError: If there are none.
    """
    found = [*RunFolder(folder).rollouts()]
    if not found:
        raise UsageError(
            f"there are no finished rollouts in {folder}",
            hint="give the folder that codeenv run --out wrote",
        )
    return found


def write_lines(path: Path, rows: Iterable[object]) -> int:
    """Write JSON lines, all or none, one after the other, and return how many there are.

    Raises:
        UsageError: If the path is a folder, or in that of a run.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder", hint="name a file")
    if run := next((f for f in path.resolve().parents if RunFolder(f).exists()), None):
        raise UsageError(f"{path} is in the folder of the run {run}", hint="name another place")
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    count = 0
    try:
        with draft.open("w", encoding="utf-8", errors="replace") as file:
            for row in rows:
                file.write(json.dumps(plain(row), ensure_ascii=False) + "\n")
                count += 1
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return count

"""What commands share that read a finished run and write lines."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from codeenv.cli.terminal import plain
from codeenv.errors import UsageError
from codeenv.export import Rollout
from codeenv.tasks.taskset import write_atomic
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
    """Write JSON lines, all or none, and return how many there are."""
    lines = [json.dumps(plain(row), ensure_ascii=False) + "\n" for row in rows]
    write_atomic(path, "".join(lines).encode("utf-8", "replace"))
    return len(lines)

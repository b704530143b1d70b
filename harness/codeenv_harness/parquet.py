"""The outcomes of a run as one Parquet table, a row for each rollout."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from codeenv.errors import UsageError
from codeenv.tasks.taskset import atomic_draft
from codeenv_harness.metrics import Usage, usage_of
from codeenv_harness.prices import Price
from codeenv_harness.records import RolloutRecord, RunFolder

_TEXTS = ("task_id", "recipe", "agent", "reason", "error", "monitor")
_WHOLE = ("rollout", "seed", "attempts", "n_steps")
_YES_NO = ("reward_valid", "resolved", "terminated", "truncated")
_NUMBERS = ("reward", "graded_reward")
_USED_FLOAT = ("cost_usd", "seconds")


def write_parquet(folder: RunFolder, path: Path, prices: Mapping[str, Price] | None = None) -> int:
    """Write the table and return how many rows it has.

    What is not known is null.  ``components`` and ``not_passed`` are maps, ``accepted_paths`` and
    ``ignored_paths`` lists.

    Args:
        folder: Of the run.
        path: Of the table.
        prices: For answers whose cost is not recorded.

    Raises:
        UsageError: If pyarrow is missing, or a record cannot be read.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError(
            "Parquet needs pyarrow", hint="pip install 'codeenv-gym[parquet]'"
        ) from error
    rows = [*_rows(folder, prices)]
    made = pyarrow.Table.from_pylist(rows, schema=_schema(pyarrow))
    with atomic_draft(path) as draft:
        parquet.write_table(made, draft)
    return len(rows)


def _schema(pyarrow: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    text, number = pyarrow.string(), pyarrow.float64()
    used = [name for name in Usage.__slots__ if name not in _USED_FLOAT]
    return pyarrow.schema(
        [
            *((name, text) for name in _TEXTS),
            *((name, pyarrow.int64()) for name in _WHOLE),
            *((name, pyarrow.bool_()) for name in _YES_NO),
            *((name, number) for name in _NUMBERS),
            ("components", pyarrow.map_(text, number)),
            ("not_passed", pyarrow.map_(text, text)),
            ("accepted_paths", pyarrow.list_(text)),
            ("ignored_paths", pyarrow.list_(text)),
            *((name, pyarrow.int64()) for name in used),
            *((name, number) for name in _USED_FLOAT),
        ]
    )


def _rows(folder: RunFolder, prices: Mapping[str, Price] | None) -> Iterator[dict[str, Any]]:
    manifest = folder.manifest()
    for record in folder.records():
        facts = record.model_dump(exclude={"monitor"})
        looked = record.monitor
        yield {
            **facts,
            "recipe": manifest.recipes.get(record.task_id),
            "agent": manifest.agent,
            "monitor": looked.action if looked else None,
            "graded_reward": looked.graded_reward if looked else record.reward,
            "components": sorted(record.components.items()),
            "not_passed": sorted(record.not_passed.items()),
            **_used(folder, record, prices),
        }


def _used(
    folder: RunFolder, record: RolloutRecord, prices: Mapping[str, Price] | None
) -> dict[str, Any]:
    """Return what a rollout took; nothing of one that never began."""
    if not record.reward_valid and not folder.has_trajectory(record.key):
        return {}
    return asdict(usage_of(folder.trajectory(record.key), prices))

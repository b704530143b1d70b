"""A run's numbers for each kind of task, or for whatever else a record can be told apart by."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from codeenv.tasks.taskset import Taskset
from codeenv_harness.curriculum.recipes import difficulty_level
from codeenv_harness.metrics.summary import Summary, summarise
from codeenv_harness.records import RolloutRecord

Key = Callable[[RolloutRecord], str]
"""Says which part a record belongs to."""


def grouped(records: Iterable[RolloutRecord], key: Key) -> dict[str, tuple[RolloutRecord, ...]]:
    """Return the records of each part, parts sorted by their names; every other figure takes one.

    Args:
        records: Of one run, invalid ones included.
        key: ``by_tier``, ``by_difficulty``, or any function of a record.
    """
    found: defaultdict[str, list[RolloutRecord]] = defaultdict(list)
    for record in records:
        found[key(record)].append(record)
    return {name: tuple(found[name]) for name in sorted(found)}


def breakdown(records: Iterable[RolloutRecord], key: Key) -> dict[str, Summary]:
    """Return the numbers of each part of a run; see ``grouped``.

    Only valid rollouts count in their shares and means, as in the summary of a whole run.
    """
    return {name: summarise(part) for name, part in grouped(records, key).items()}


def by_tier(taskset: Taskset) -> Key:
    """Return the key that says how well a task can be graded: ``sealed``, ``guarded``, ``open``.

    It is the recipe's: the weakest tier of its tests.  The key raises ``TaskError`` for a task that
    the taskset has not.
    """
    return lambda record: taskset.recipe(record.task_id).tier


def by_difficulty(taskset: Taskset) -> Key:
    """Return the key that says how hard a task looks before anyone tries it.

    ``d0``, the easiest fifth of the prior's range, to ``d4``, as the curriculum has them.  The key
    raises ``TaskError`` for a task that the taskset has not.
    """
    return lambda record: difficulty_level(taskset.recipe(record.task_id))

"""The gate: is a run worse than the one before?"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from codeenv_harness.baselines import Scores, TaskScore
from codeenv_harness.paired import PairedTest, paired_test
from codeenv_harness.strata import Stratum, chance_of_so_few

Status: TypeAlias = Literal[
    "regressed", "missing", "invalid", "worse", "better", "same", "changed", "unknown", "new"
]
REGRESSIONS: frozenset[Status] = frozenset({"regressed", "missing", "invalid"})
_COMPARED: frozenset[Status] = frozenset({"regressed", "worse", "better", "same"})
_SIGNIFICANT = 0.05
_ROUNDING = 1e-9


@dataclass(frozen=True)
class TaskDifference:
    """One task in two runs.

    Attributes:
        task_id: Which.
        status: ``regressed`` (it always passed and now fails more than the tolerance allows),
            ``missing`` (not in the new run), ``invalid`` (fewer rollouts have a valid reward, by
            more than the tolerance), ``worse``, ``better`` and ``same`` (of what is no regression
            by itself), ``changed`` (played from another recipe: not comparable), ``unknown`` (the
            base has no valid reward: not comparable) or ``new`` (only in the new run).
        base: What it gave before, if it was played.
        run: What it gives now, if it was played.
        reward: Mean valid reward now less before; None if that cannot be compared.
        rate: Resolved rate now less before; None likewise.
    """

    task_id: str
    status: Status
    base: TaskScore | None
    run: TaskScore | None
    reward: float | None = None
    rate: float | None = None


@dataclass(frozen=True)
class Comparison:
    """Two runs of the same tasks.

    Attributes:
        tasks: All tasks of both, sorted by id.
        test: The paired test over the tasks that can be compared.
        tolerance: What is no regression of a task yet: a share of its rollouts.
        chance: Probability of so few resolved rollouts, task by task, if nothing changed.
        fell: Whether the mean reward fell, by more than may be and than chance explains.
    """

    tasks: tuple[TaskDifference, ...]
    test: PairedTest
    tolerance: float
    chance: float
    fell: bool

    @property
    def regressed(self) -> tuple[TaskDifference, ...]:
        """Tasks that are a regression by themselves."""
        return tuple(task for task in self.tasks if task.status in REGRESSIONS)

    @property
    def regression(self) -> bool:
        """The verdict."""
        return self.fell or bool(self.regressed)

    def of_status(self, status: Status) -> tuple[str, ...]:
        """Return the ids of the tasks with a status."""
        return tuple(task.task_id for task in self.tasks if task.status == status)


def compare(
    base: Scores, run: Scores, tolerance: float = 0.0, mean_tolerance: float = 0.0
) -> Comparison:
    """Compare a run with the one before, task by task and over all tasks.

    The mean reward fell if a test over tasks or one over rollouts says so; each may err in half of
    5 % of the cases.

    Args:
        base: The run before.
        run: The new one.
        tolerance: What is no regression of a task yet, as a share of its rollouts.
        mean_tolerance: What is no regression of the mean reward yet, whatever the tests say.
    """
    tasks = tuple(
        _difference(task_id, base.tasks.get(task_id), run.tasks.get(task_id), tolerance)
        for task_id in sorted({*base.tasks, *run.tasks})
    )
    compared = [task for task in tasks if task.status in _COMPARED]
    test = paired_test([task.reward for task in compared if task.reward is not None])
    chance = chance_of_so_few(_stratum(t.base, t.run) for t in compared if t.base and t.run)
    unlikely = min(test.p_fall, chance) < _SIGNIFICANT / 2
    fell = unlikely and test.mean < -mean_tolerance - _ROUNDING
    return Comparison(tasks, test, tolerance, chance, fell)


def _stratum(base: TaskScore, run: TaskScore) -> Stratum:
    return Stratum(base.resolved, base.valid, run.resolved, run.valid)


def _difference(
    task_id: str, base: TaskScore | None, run: TaskScore | None, tolerance: float
) -> TaskDifference:
    if base is None or run is None:
        return TaskDifference(task_id, "new" if base is None else "missing", base, run)
    if base.recipe != run.recipe:
        return TaskDifference(task_id, "changed", base, run)
    if base.valid == 0:
        return TaskDifference(task_id, "unknown", base, run)
    allowed = tolerance + _ROUNDING
    if run.valid == 0 or run.valid_share < base.valid_share - allowed:
        return TaskDifference(task_id, "invalid", base, run)
    reward, rate = run.mean_reward - base.mean_reward, run.rate - base.rate
    status = _status(reward, rate, failed=base.rate == 1 and run.rate < 1 - allowed)
    return TaskDifference(task_id, status, base, run, reward, rate)


def _status(reward: float, rate: float, *, failed: bool) -> Status:
    if failed:
        return "regressed"
    if min(reward, rate) < -_ROUNDING:
        return "worse"
    return "better" if max(reward, rate) > _ROUNDING else "same"

"""Which tasks to play next: those that a policy sometimes solves, and those it has not met."""

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from codeenv.errors import UsageError
from codeenv_harness.curriculum import requests
from codeenv_harness.curriculum.groups import GroupReport
from codeenv_harness.curriculum.judging import learn
from codeenv_harness.curriculum.options import CODES, SamplerOptions, Status
from codeenv_harness.curriculum.posterior import (
    Floats,
    Ints,
    draw_learnable,
    expit,
    logit,
    pseudo_counts,
)
from codeenv_harness.curriculum.requests import Request
from codeenv_harness.curriculum.state import State
from codeenv_harness.curriculum.table import Table, TaskState
from codeenv_harness.curriculum.tally import Tally

_STATUSES = tuple(Status)
_DEFAULT = SamplerOptions()


class TaskSampler:
    """Draws tasks by what can be learnt from them.  Deterministic; not thread-safe.

    Each task has a Beta posterior of the policy's success, whose evidence fades:
    ``a <- d a + (1 - d) a0 + successes``, and so for b and failures.  A draw takes a p from each
    posterior and is proportional to ``p (1 - p) + u / sqrt(1 + visits)``, without replacement.
    """

    def __init__(
        self,
        task_ids: Sequence[str],
        *,
        priors: npt.ArrayLike | None = None,
        levels: Sequence[str] | None = None,
        statements: Sequence[str] | None = None,
        seed: int = 0,
        options: SamplerOptions = _DEFAULT,
    ) -> None:
        """Take the tasks.

        Args:
            task_ids: Distinct ids.
            priors: Per task, the probability of success, shape (n,), or a pair of pseudo counts,
                shape (n, 2); None: (1, 1) at the usual strength.
            levels: Difficulty level per task, any words; None: all are of one.
            statements: Statement level per task, ``L1`` to ``L5``, or "" where none is known.
            seed: Of all draws.
            options: How to draw and judge.

        Raises:
            UsageError: If an id is there twice or a prior is none.
        """
        self._state = State(options, np.random.default_rng(seed))
        self.add(task_ids, priors=priors, levels=levels, statements=statements)

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._table.rows

    @property
    def options(self) -> SamplerOptions:
        """How it draws and judges."""
        return self._state.options

    @property
    def history(self) -> tuple[GroupReport, ...]:
        """The reports so far."""
        return tuple(self._state.history)

    def add(
        self,
        task_ids: Sequence[str],
        *,
        parents: Sequence[str] | None = None,
        priors: npt.ArrayLike | None = None,
        levels: Sequence[str] | None = None,
        statements: Sequence[str] | None = None,
        shift: float | None = None,
    ) -> None:
        """Add tasks; best many at once, for each call copies the table.

        Args:
            task_ids: New ids.
            parents: Task that each is a child of: without a prior, it starts with the parent's
                posterior, shifted; without levels, with the parent's.
            priors: As at the start.
            levels: As at the start.
            statements: As at the start.
            shift: What is added to the parent's log-odds (None: ``-options.harder_shift``).

        Raises:
            UsageError: If an id is there already, a parent is not, or a prior is none.
        """
        table, ids = self._table, list(task_ids)
        _demand_one_each(ids, parents=parents, levels=levels, statements=statements)
        rows = None if parents is None else table.find(parents)
        if priors is None and rows is not None:
            moved = -self.options.harder_shift if shift is None else shift
            priors = expit(logit(table.mean[rows]) + moved)
        a, b = pseudo_counts(len(ids), priors, self.options.strength)
        values: dict[str, npt.ArrayLike] = {"a0": a, "b0": b, "a": a, "b": b, "drawn": -1}
        values["parent"] = -1 if rows is None else rows
        for column, words in (("level", levels), ("statement", statements)):
            if words is not None:
                values[column] = [table.word(word) for word in words]
            elif rows is not None:
                values[column] = table[column][rows]
        table.append(ids, values)

    def remove(self, task_ids: Sequence[str]) -> None:
        """Retire tasks by hand: they stay known, and are never drawn again."""
        self._table["status"][self._table.find(task_ids)] = CODES[Status.REMOVED]

    def sample(self, k: int) -> tuple[str, ...]:
        """Return ``k`` distinct tasks, or fewer where not so many may be drawn.

        One in ``reprobe_every`` draws is of a quarantined task, and a share of ``retention`` of
        retired ones.  If there are too few active tasks, more retired ones are drawn; quarantined
        ones only if there is nothing else at all.
        """
        if k < 0:
            raise UsageError(f"cannot draw {k} tasks", hint="k is at least 0")
        active, quarantined, retired = (
            np.flatnonzero(self._table["status"] == CODES[status])
            for status in (Status.ACTIVE, Status.QUARANTINED, Status.RETIRED)
        )
        share, options = self._state.share, self.options
        probes = share("probe", k / options.reprobe_every, min(k, len(quarantined)))
        if not len(active) and not len(retired):
            probes = min(k, len(quarantined))
        kept = share("retain", k * options.retention, min(k - probes, len(retired)))
        fresh = min(len(active), k - probes - kept)
        kept = min(len(retired), k - probes - fresh)
        waited = np.argsort(self._table["drawn"][quarantined], kind="stable")[:probes]
        picked = (quarantined[waited], self._pick(retired, kept), self._pick(active, fresh))
        return self._drawn(np.concatenate(picked))

    def update(
        self,
        task_id: str,
        rewards: npt.ArrayLike,
        policy_version: int | None = None,
        valid: npt.ArrayLike | None = None,
    ) -> Status:
        """Learn from a group of rollouts of a task and return its status.

        Args:
            task_id: The task.
            rewards: In [0, 1]; a fraction counts as so much of a success.  Where wrappers change
                the reward, give ``info["tests_reward"]``: a task that is always solved, but paid
                0.9 for its length, would never be retired.
            policy_version: Of the policy that played; see ``SamplerOptions.max_lag``.
            valid: Whether each reward is one (None: all are); others do not count.

        Raises:
            UsageError: If there is no such task, or a valid reward is not in [0, 1].
        """
        row, values = self._table.row(task_id), np.atleast_1d(np.asarray(rewards, np.float64))
        flags = np.ones(values.shape, np.bool_) if valid is None else np.atleast_1d(valid)
        if values.ndim != 1 or flags.shape != values.shape:
            raise UsageError(f"not a flag per reward of {task_id}", hint="give one each")
        good = values[flags.astype(np.bool_)]
        if not np.all((good >= 0) & (good <= 1)):
            hint = 'give what the tests gave, info["tests_reward"]: penalties are no failures'
            wrong = good[~((good >= 0) & (good <= 1))][0]
            raise UsageError(f"a reward of {task_id} is {wrong:.4g}, not in [0, 1]", hint=hint)
        if self._is_stale(policy_version):
            self._state.tally.stale += 1
        else:
            self._state.tally.count(values, good)
            if len(good):
                learn(self._table, row, float(good.sum()), len(good), self.options)
        return _STATUSES[int(self._table["status"][row])]

    def status(self, task_id: str) -> TaskState:
        """Return what is thought of a task."""
        return self._table.task(self._table.row(task_id))

    def means(self, task_ids: Sequence[str]) -> Floats:
        """Return the means of posteriors, shape (n,)."""
        return self._table.mean[self._table.find(task_ids)]

    def evidence(self, task_ids: Sequence[str]) -> Floats:
        """Return successes and failures, faded and without the prior, shape (n, 2)."""
        return self._table.evidence[self._table.find(task_ids)]

    def requests(self) -> tuple[Request, ...]:
        """Return what is wanted of the generator, again and again until it is settled.

        A task that is out of reach is asked for one statement level richer.  For a difficulty level
        that is learnt, of whose tasks enough were tried, harder children are asked for; each solved
        task is a parent in one settled request only.
        """
        table = self._table
        return (*requests.richer(table), *requests.harder(table, self.options))

    def settle(self, request: Request) -> None:
        """Take note that a request was answered, with or without tasks: it does not come again.

        While a level stays learnt, its other solved tasks are asked for next.

        Raises:
            UsageError: If it is of a task that the sampler does not have.
        """
        requests.settle(self._table, request)

    def report(self) -> GroupReport:
        """Return what came of the groups since the last report, and keep it in ``history``."""
        state, codes = self._state, self._table["status"]
        counts = np.bincount(codes, minlength=len(_STATUSES))
        statuses = {str(s): int(n) for s, n in zip(_STATUSES, counts, strict=True)}
        state.history.append(state.tally.report(state.draws, statuses))
        state.tally = Tally()
        return state.history[-1]

    def state_dict(self, *, plain: bool = True) -> dict[str, Any]:
        """Return everything that the next draw depends on.

        Args:
            plain: Whether columns are lists, so that the state is JSON; else they are arrays.
        """
        return self._state.dump(plain=plain)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where another sampler was, options included: the next draws are the very same.

        Raises:
            UsageError: If the state is of another version, or not whole; nothing is changed then.
        """
        self._state = State.load(state)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return a sampler that goes on from a state (see ``load_state_dict``)."""
        sampler = cls(())
        sampler.load_state_dict(state)
        return sampler

    @property
    def _table(self) -> Table:
        return self._state.table

    def _pick(self, rows: Ints, count: int) -> Ints:
        """Return some of the rows, by their scores."""
        if not count:
            return rows[:0]
        a, b, visits = (self._table[column][rows] for column in ("a", "b", "visits"))
        bonus = self.options.staleness / np.sqrt(1.0 + visits)
        return rows[draw_learnable(self._state.rng, (a, b), bonus, count)]

    def _drawn(self, rows: Ints) -> tuple[str, ...]:
        """Take note of a draw and return its ids."""
        table, state = self._table, self._state
        table["visits"][rows] += 1
        table["drawn"][rows] = state.draws
        state.draws += len(rows)
        state.tally.drawn(table.words[number] for number in table["level"][rows])
        return tuple(table.ids[row] for row in rows)

    def _is_stale(self, version: int | None) -> bool:
        """Return whether a policy is too old to tell of the newest one."""
        state, limit = self._state, self.options.max_lag
        if version is None:
            return False
        version = index(version)  # a state is plain values
        state.newest = version if state.newest is None else max(version, state.newest)
        return limit is not None and state.newest - version > limit


def _demand_one_each(ids: Sequence[str], **lists: Sequence[str] | None) -> None:
    for name, given in lists.items():
        if given is not None and len(given) != len(ids):
            told = f"{len(given)} {name} for {len(ids)} tasks"
            raise UsageError(told, hint="give one for each")

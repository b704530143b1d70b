"""Which tasks an update plays."""

import random
from collections.abc import Sequence
from itertools import groupby
from typing import Protocol

from codeenv_harness.curriculum import TaskSampler
from training.rollouts import Rollout


class Draw(Protocol):
    """Draws tasks, and is told what came of them."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """All there are."""
        ...

    def some(self, count: int) -> Sequence[str]:
        """Return at most so many different tasks."""
        ...

    def learn(self, rollouts: Sequence[Rollout], version: int) -> None:
        """Take note of the rollouts of some tasks, played by a version of the policy."""
        ...


class UniformDraw:
    """Draws any task."""

    def __init__(self, tasks: Sequence[str], seed: int) -> None:
        """Take the tasks."""
        self.tasks = tuple(tasks)
        self._rng = random.Random(seed)

    def some(self, count: int) -> Sequence[str]:
        """Return at most so many different tasks."""
        return self._rng.sample(self.tasks, min(count, len(self.tasks)))

    def learn(self, rollouts: Sequence[Rollout], version: int) -> None:
        """Do nothing with what was played."""


class Curriculum:
    """Draws tasks by what can be learnt from them."""

    def __init__(self, tasks: Sequence[str], sampler: TaskSampler) -> None:
        """Take a sampler of these tasks."""
        self.tasks = tuple(tasks)
        self._sampler = sampler

    def some(self, count: int) -> Sequence[str]:
        """Return at most so many different tasks."""
        return self._sampler.sample(count)

    def learn(self, rollouts: Sequence[Rollout], version: int) -> None:
        """Update the posterior of every task that was played."""
        for task, group in groupby(rollouts, key=lambda rollout: rollout.task):
            played = list(group)
            rewards, valid = [r.reward for r in played], [r.valid for r in played]
            self._sampler.update(task, rewards, policy_version=version, valid=valid)

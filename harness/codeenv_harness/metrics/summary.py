"""A run in numbers; rollouts without a valid reward are counted, and nothing else."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from codeenv_harness.records import RolloutRecord


@dataclass(frozen=True)
class Summary:
    """A run in numbers.

    Attributes:
        rollouts: All of them.
        valid: Those with a valid reward; all shares and means below are over these.
        resolved: How many were resolved.
        resolved_rate: Their share in [0, 1]; 0 if none is valid.
        mean_reward: In [0, 1].
        mean_steps: Tool calls.
        tasks: Distinct tasks.
        tasks_resolved: Tasks resolved at least once.
        reasons: How often each reason ended a rollout, invalid ones included.
    """

    rollouts: int
    valid: int
    resolved: int
    resolved_rate: float
    mean_reward: float
    mean_steps: float
    tasks: int
    tasks_resolved: int
    reasons: dict[str, int]


def summarise(records: Iterable[RolloutRecord]) -> Summary:
    """Return the numbers of some rollouts."""
    every = list(records)
    valid = [record for record in every if record.reward_valid]
    count = max(1, len(valid))
    solved = [record for record in valid if record.resolved]
    return Summary(
        rollouts=len(every),
        valid=len(valid),
        resolved=len(solved),
        resolved_rate=len(solved) / count,
        mean_reward=sum(record.reward for record in valid) / count,
        mean_steps=sum(record.n_steps for record in valid) / count,
        tasks=len({record.task_id for record in every}),
        tasks_resolved=len({record.task_id for record in solved}),
        reasons=dict(sorted(Counter(record.reason for record in every).items())),
    )

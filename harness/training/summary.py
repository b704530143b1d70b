"""The numbers of a batch of rollouts."""

from collections.abc import Sequence

from training.learning import flagged
from training.rollouts import Rollout


def summary(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Return the numbers of a batch; all but ``valid`` are over rollouts with a valid reward."""
    used = [r for r in rollouts if r.valid]
    calls = sum(len(r.turns) for r in used)
    groups: dict[int, set[float]] = {}
    for rollout in used:
        groups.setdefault(rollout.group, set()).add(rollout.reward)
    return {
        "reward": sum(r.reward for r in used) / max(1, len(used)),
        "invalid": sum(r.unknown for r in used) / max(1, calls),
        "turns": calls / max(1, len(used)),
        "tokens": sum(sum(r.mask) for r in used) / max(1, len(used)),
        "zero": sum(len(rewards) == 1 for rewards in groups.values()) / max(1, len(groups)),
        "flagged": float(sum(1 for _ in flagged(used))),
        "valid": len(used) / len(rollouts),
    }

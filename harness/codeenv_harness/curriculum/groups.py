"""Groups of rollouts that teach nothing: every member has the same reward, so no advantage."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


def zero_advantage_mask(
    rewards: npt.ArrayLike, groups: npt.ArrayLike, valid: npt.ArrayLike | None = None
) -> npt.NDArray[np.bool_]:
    """Return which rollouts have no advantage to learn from.

    These are all of a group whose valid rewards are equal, or whose only valid one it is, and every
    invalid rollout.

    Args:
        rewards: One per rollout; those of invalid rollouts do not matter.
        groups: What each rollout belongs to, e.g. its task id.
        valid: Whether each reward is one (None: all are).
    """
    values = np.asarray(rewards, np.float64)
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    counts = np.ones(values.shape, np.bool_) if valid is None else np.asarray(valid, np.bool_)
    if not values.shape == group.shape == counts.shape:
        raise ValueError(f"not one each: {values.shape}, {group.shape}, {counts.shape}")
    number = int(group.max(initial=-1)) + 1
    low, high = np.full(number, np.inf), np.full(number, -np.inf)
    np.minimum.at(low, group[counts], values[counts])
    np.maximum.at(high, group[counts], values[counts])
    teaches = high > low
    return np.asarray(~(counts & teaches[group]), np.bool_)


@dataclass(frozen=True)
class GroupReport:
    """What came of the groups between two reports of a sampler.

    Attributes:
        draws: Draws since the sampler began.
        groups: Groups that were reported back, stale ones excepted.
        informative: Those with an advantage that is not 0.
        rollouts: Of all these groups.
        invalid: Rollouts whose reward was none.
        stale: Groups of policies that were too old.
        levels: Difficulty level -> how often its tasks were drawn.
        statuses: Status -> tasks.
    """

    draws: int
    groups: int = 0
    informative: int = 0
    rollouts: int = 0
    invalid: int = 0
    stale: int = 0
    levels: Mapping[str, int] = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)

    @property
    def informative_share(self) -> float:
        """Share of the groups with an advantage; 0 without groups."""
        return self.informative / max(1, self.groups)

"""The settings of a sampler, and the words for what it thinks of a task."""

from dataclasses import dataclass
from enum import StrEnum

from codeenv.errors import UsageError


class Status(StrEnum):
    """Where a task is; the order is that of the codes in a state."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    RETIRED = "retired"
    REMOVED = "removed"

    @property
    def reason(self) -> str:
        """Why a task is there, for people."""
        return _REASONS[self]


_REASONS = {
    Status.ACTIVE: "neither solved for good nor out of reach",
    Status.QUARANTINED: "hardly ever solved in many tries; probed now and then",
    Status.RETIRED: "solved nearly always; kept for retention",
    Status.REMOVED: "taken out by hand; never drawn",
}
CODES = {status: code for code, status in enumerate(Status)}
"""What a status is in a table and in a saved state."""

_SHARES = (
    "decay",
    "quarantine_below",
    "retire_above",
    "retention",
    "harder_above",
    "harder_tried",
)


@dataclass(frozen=True)
class SamplerOptions:
    """How tasks are drawn and judged.

    The *rate* of a task is the share of successes in its posterior without the prior's pseudo
    counts.  The posterior's mean would not do: with a prior of (1, 1), a decay of 0.7 and groups of
    eight it never falls below 0.034.

    Attributes:
        decay: What is kept of the evidence at each update, in [0, 1].
        staleness: Weight of ``1 / sqrt(1 + visits)`` beside ``p (1 - p)``.
        strength: Pseudo counts of a prior that is given as a probability.
        quarantine_below: Rate under which a task is out of reach.
        quarantine_tries: Valid rollouts before that is said.
        reprobe_every: One of so many draws goes to the quarantined task not drawn for longest.
        retire_above: Rate over which a task is solved.
        retire_updates: Updates in a row that must find it so.
        retire_tries: Valid rollouts before that is said.
        retention: Share of the draws that goes to retired tasks, while there are any.
        harder_above: Mean posterior of a level over which harder children are asked for.
        harder_tried: Share of the level's tasks that must have been tried before.
        parents: Most parents of one request.
        harder_shift: How far a harder child starts below its parent, in logits.
        richer_shift: How far a task that is told more starts above its parent, in logits.
        max_lag: Groups of policies that are older than the newest by more are not counted (None:
            all are).
    """

    decay: float = 0.7
    staleness: float = 0.05
    strength: float = 2.0
    quarantine_below: float = 0.02
    quarantine_tries: int = 24
    reprobe_every: int = 20
    retire_above: float = 0.95
    retire_updates: int = 2
    retire_tries: int = 8
    retention: float = 0.05
    harder_above: float = 0.7
    harder_tried: float = 0.5
    parents: int = 8
    harder_shift: float = 1.0
    richer_shift: float = 2.0
    max_lag: int | None = None

    def __post_init__(self) -> None:
        for name in _SHARES:
            _demand(0 <= getattr(self, name) <= 1, name, "a share in [0, 1]")
        for name in ("reprobe_every", "retire_updates", "parents"):
            _demand(getattr(self, name) >= 1, name, "at least 1")
        for name in ("quarantine_tries", "retire_tries"):
            _demand(getattr(self, name) >= 0, name, "at least 0")
        _demand(self.strength > 0, "strength", "above 0")
        _demand(self.staleness >= 0, "staleness", "at least 0")
        _demand(self.quarantine_below < self.retire_above, "quarantine_below", "< retire_above")
        _demand(self.max_lag is None or self.max_lag >= 0, "max_lag", "None or at least 0")


def _demand(holds: bool, name: str, wanted: str) -> None:
    if not holds:
        raise UsageError(f"{name} is wrong", hint=f"it must be {wanted}")

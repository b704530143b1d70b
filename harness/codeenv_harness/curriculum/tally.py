"""Counts between two reports of a sampler."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from codeenv_harness.curriculum.groups import GroupReport
from codeenv_harness.curriculum.posterior import Floats


@dataclass
class Tally:
    """Counts as in ``GroupReport``."""

    groups: int = 0
    informative: int = 0
    rollouts: int = 0
    invalid: int = 0
    stale: int = 0
    levels: dict[str, int] = field(default_factory=dict)

    def count(self, rewards: Floats, valid: Floats) -> None:
        """Count a group: all its rewards, and the valid ones among them."""
        self.groups += 1
        self.rollouts += len(rewards)
        self.invalid += len(rewards) - len(valid)
        self.informative += bool(len(valid) and valid.max() > valid.min())

    def drawn(self, levels: Iterable[str]) -> None:
        """Count draws."""
        for level in levels:
            self.levels[level] = self.levels.get(level, 0) + 1

    def report(self, draws: int, statuses: Mapping[str, int]) -> GroupReport:
        """Return the counts as a report."""
        return GroupReport(
            draws=draws,
            groups=self.groups,
            informative=self.informative,
            rollouts=self.rollouts,
            invalid=self.invalid,
            stale=self.stale,
            levels=dict(sorted(self.levels.items())),
            statuses=statuses,
        )

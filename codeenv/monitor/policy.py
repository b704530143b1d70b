"""From findings to what is done with a reward.

Only deterministic evidence of something that had an effect takes a reward away; what was merely
attempted is flagged; likeness and half-proven things keep an episode out of training until somebody
has looked.  Nothing ever raises a reward.
"""

from collections.abc import Iterable

from codeenv.monitor.models import Action, Finding, Judgement

_WEIGHT = {"violation": 0, "suspicious": 1, "info": 2}
_SAME = 3
"""Findings of one label that are told; more say nothing new."""


def decide(findings: Iterable[Finding], *, unsure: bool = False) -> Action:
    """Return what follows from findings; ``unsure`` if a detector could not look."""
    found = [finding for finding in findings if finding.attempted]
    if any(finding.masks for finding in found):
        return "mask"
    if unsure or any(_doubtful(finding) for finding in found):
        return "quarantine"
    return "flag" if found else "pass"


def _doubtful(finding: Finding) -> bool:
    """Return whether a finding keeps an episode out of training: a mere attempt does not."""
    if finding.severity == "suspicious":
        return finding.succeeded or finding.label == "GG-TEST"
    return finding.severity == "violation" and finding.succeeded and not finding.deterministic


def judged(action: Action, judgement: Judgement) -> Action:
    """Return what follows when a judge has spoken: at most more caution, never less."""
    order: tuple[Action, ...] = ("pass", "flag", "quarantine", "mask")
    asked: Action = "quarantine" if judgement.quarantine else "flag" if judgement.labels else "pass"
    return max(action, asked, key=order.index)


def weighed(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by weight and label, each one once, and a few of each label."""
    order = sorted(
        dict.fromkeys(findings),
        key=lambda f: (not f.masks, _WEIGHT[f.severity], not f.succeeded, f.label, f.evidence),
    )
    kept: list[Finding] = []
    for finding in order:
        if sum(other.label == finding.label for other in kept) < _SAME:
            kept.append(finding)
    return tuple(kept)

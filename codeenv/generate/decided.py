"""Whether the tests that reward speak of the whole feature, not of a part of it alone."""

from codeenv.generate.models import Proof, Reason, Rejected, lines_in
from codeenv.languages.base import CoverageMap

_MOST = 0.25
"""Share of a feature's lines that may be demanded by weak tests alone."""


def demand_decided(proof: Proof, coverage: CoverageMap) -> None:
    """Refuse a feature whose seed, or much of it, is run by tests, but by none that rewards.

    Whatever was written in its place, or nothing, would do as well.

    Raises:
        Rejected: ``weak_tests``.
    """
    feature = proof.deletion.feature
    undecided = []
    for unit in feature.members:
        tests = coverage.running(lines_in(unit) & feature.lines)
        if tests and tests.isdisjoint(proof.fail_to_pass):
            undecided.append(unit)
    lines = sum(len(unit.lines) for unit in undecided)
    if feature.seed in undecided or lines > _MOST * feature.line_count:
        told = ", ".join(unit.name for unit in undecided[:3])
        raise Rejected(Reason.WEAK_TESTS, f"no test that rewards runs {told}")

"""Whether the tests that reward speak of the whole feature, not of a part of it alone."""

from codeenv.generate.models import Proof, Reason, Rejected, lines_in
from codeenv.generate.split import lines_run
from codeenv.languages.base import CoverageMap


def demand_decided(proof: Proof, coverage: CoverageMap) -> None:
    """Refuse a feature of which a part is run by tests, but by none that rewards.

    Whatever was written in its place, or nothing, would do as well.

    Raises:
        Rejected: ``weak_tests``.
    """
    run = lines_run(proof, coverage)
    for unit in proof.deletion.feature.members:
        its = lines_in(unit)
        tests = {test for test, lines in run.items() if not its.isdisjoint(lines)}
        if tests and tests.isdisjoint(proof.fail_to_pass):
            raise Rejected(Reason.WEAK_TESTS, f"no test that rewards runs {unit.name}")

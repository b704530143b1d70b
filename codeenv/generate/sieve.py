"""Sorts out candidates by their functions' lazy versions, many of them in one process."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from codeenv.generate.deletion import swap_of
from codeenv.generate.models import Feature, Reason, Rejected
from codeenv.generate.workbench import Workbench
from codeenv.languages.base import CoverageMap, SwapResult, TestRequest
from codeenv.tasks.models import Baseline

_NOTHING_KNOWN = SwapResult(problem="not tried")
_BOXES, _IN_ONE_BOX = 4, 24
_TIMEOUT = 4 * 3600.0
"""For all of them; every test has a limit of its own, so this one is for a broken box."""


@dataclass(frozen=True)
class Sieve:
    """Knows which tests need a feature, and which of them a constant would pass.

    Attributes:
        bench: Runs the tests.
        baseline: Which tests are stable.
        pool: How many boxes are at work at the same time.
        coverage: What the tests execute.
        known: What was found so far, by the features' keys.
    """

    bench: Workbench
    baseline: Baseline
    pool: Executor
    coverage: CoverageMap
    known: dict[str, SwapResult] = field(default_factory=dict)

    def sift(self, features: Sequence[Feature]) -> Mapping[str, SwapResult]:
        """Return what is found of each feature, by its key; a second time it is only looked up.

        ``problem`` is set where nothing can be said: then only a run of its own tells.
        """
        fresh = [feature for feature in features if feature.key not in self.known]
        size = min(_IN_ONE_BOX, max(1, -(-len(fresh) // _BOXES)))
        parts = [fresh[i : i + size] for i in range(0, len(fresh), size)]
        for part, results in zip(parts, self.pool.map(self._sift_some, parts), strict=True):
            self.known.update(zip((feature.key for feature in part), results, strict=True))
        return {feature.key: self.known[feature.key] for feature in features}

    def _sift_some(self, features: Sequence[Feature]) -> list[SwapResult]:
        swaps = [swap_of(self.bench, feature, self.coverage) for feature in features]
        possible = [swap for swap in swaps if swap]
        request = TestRequest.graded(self.baseline, self.baseline.stable)
        request = replace(request, timeout=_TIMEOUT)
        found = iter(self.bench.try_swaps(request, possible) if possible else ())
        return [next(found) if swap else _NOTHING_KNOWN for swap in swaps]


def demand_strong(found: SwapResult) -> None:
    """Refuse a feature whose tests pass without it, with constants, or with most small changes.

    Raises:
        Rejected: ``no_failure`` or ``weak_tests``.
    """
    if found.problem:
        return
    if not found.failing:
        raise Rejected(Reason.NO_FAILURE, "its tests pass when the code raises an error")
    if not found.strong:
        told = ", ".join(sorted(set(found.weak.values())))
        raise Rejected(
            Reason.WEAK_TESTS, f"all {len(found.weak)} pass when the code returns {told}"
        )
    unnoticed = len(found.survivors)
    if unnoticed * 2 > found.mutants:
        told = f"{unnoticed} of {found.mutants} small changes go unnoticed: {found.survivors[0]}"
        raise Rejected(Reason.WEAK_TESTS, told[:300])

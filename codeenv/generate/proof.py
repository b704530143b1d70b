"""Proves deletions with the repository's own tests: the affected ones, then the whole suite."""

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from codeenv.errors import SandboxError
from codeenv.generate.attempt import Ended, attempt
from codeenv.generate.deletion import hollow_tree
from codeenv.generate.groups import grid
from codeenv.generate.models import Deletion, Proof, Reason, Rejected
from codeenv.generate.sieve import Sieve, demand_strong
from codeenv.generate.workbench import Workbench
from codeenv.languages.base import SwapResult, TestRequest, TestRun, Unit
from codeenv.materialise.operations import apply_operations, set_of
from codeenv.tasks.models import Baseline

_TOLD = 3
_HURRY = 5


@dataclass(frozen=True)
class _Shared:
    """What a run for several deletions said of the tests it was asked for."""

    passed: frozenset[str]
    failed: frozenset[str]


@dataclass(frozen=True)
class Prover:
    """Proves many deletions of one repository at once.

    Attributes:
        bench: Runs the tests.
        baseline: Which tests are stable.
        pool: How many runs go on at the same time.
        sieve: Knows which tests need a feature.
    """

    bench: Workbench
    baseline: Baseline
    pool: Executor
    sieve: Sieve

    def prove(self, deletions: Sequence[Deletion]) -> list[Proof | Ended]:
        """Return, per deletion, the tests that fail because of it, or why it makes no task.

        Every other stable test is seen to pass without the code: in runs of the whole suite that
        several deletions share, and where these do not show it, in a run of its own.
        """
        sifted = self.sieve.sift([deletion.feature for deletion in deletions])

        def screen(deletion: Deletion) -> Proof:
            return self._screen(deletion, sifted[deletion.feature.key])

        screened = list(self.pool.map(attempt(screen), deletions))
        proofs = {p.deletion.feature.key: p for p in screened if isinstance(p, Proof)}
        groups = grid([proof.deletion for proof in proofs.values()])
        together = [[proofs[d.feature.key] for d in group] for group in groups]
        runs = list(self.pool.map(self._run_group, together))
        shared = {
            key: [run for group, run in zip(together, runs, strict=True) if proof in group]
            for key, proof in proofs.items()
        }

        def confirm(proof: Proof) -> Proof:
            return self._confirm(proof, shared[proof.deletion.feature.key])

        return list(self.pool.map(attempt(confirm), screened))

    def _screen(self, deletion: Deletion, sifted: SwapResult) -> Proof:
        """Run only the predicted tests; those that lazy code passes are no reward."""
        demand_strong(sifted)
        predicted = deletion.feature.tests
        run = self.bench.run(self._request(predicted), deletion.damaged)
        self._demand_whole(run, deletion)
        failing = frozenset(predicted) - run.passed
        if not failing:
            raise Rejected(Reason.NO_FAILURE, f"{len(predicted)} predicted tests still pass")
        if sifted.problem:
            weak = self._passed_by_nothing(deletion, failing)
        else:
            weak = failing - sifted.strong
        weak |= frozenset(test for test in failing if self._is_open(test))
        fail_to_pass = tuple(test for test in predicted if test in failing - weak)
        if not fail_to_pass:
            raise Rejected(Reason.WEAK_TESTS, f"none of {len(failing)} tells lazy code from true")
        excluded = tuple(sorted(failing & weak))
        return Proof(deletion, fail_to_pass, excluded)

    def _is_open(self, test: str) -> bool:
        """Return whether a submission could change the test: a doctest in the code it is for."""
        return self.bench.language.admissible(self.bench.layout, test.partition("::")[0])

    def _passed_by_nothing(self, deletion: Deletion, failing: frozenset[str]) -> frozenset[str]:
        """Return the failing tests that pass once the deleted code exists but returns nothing."""
        tree = hollow_tree(self.bench, deletion)
        if tree is None:
            return frozenset()
        request = self._request(test for test in self.baseline.stable if test in failing)
        quick = replace(request, test_timeout=request.test_timeout / _HURRY)
        run = self.bench.run(quick, tree)  # code that returns nothing makes its callers loop, often
        return run.passed & failing

    def _run_group(self, group: Sequence[Proof]) -> _Shared:
        """Run every test that none of the group's deletions fails."""
        failing = frozenset(test for proof in group for test in _failing(proof))
        ids = tuple(test for test in self.baseline.stable if test not in failing)
        edits = set_of(edit for proof in group for edit in proof.deletion.operations)
        try:
            run = self.bench.run(self._request(ids), apply_operations(self.bench.pristine, edits))
        except SandboxError:
            return _Shared(frozenset(), frozenset())
        return _Shared(run.passed, frozenset(ids) - run.passed)

    def _confirm(self, proof: Proof, shared: Sequence[_Shared]) -> Proof:
        """Return the proof once every other stable test is seen to pass without the code."""
        seen = frozenset(_failing(proof)).union(*(run.passed for run in shared))
        doubtful = frozenset[str]().union(*(run.failed for run in shared))
        unseen = [test for test in self.baseline.stable if test not in seen - doubtful]
        if unseen:
            run = self.bench.run(self._request(unseen), proof.deletion.damaged)
            self._demand_whole(run, proof.deletion)
            broken = [test for test in unseen if test not in run.passed]
            if broken:
                told = f"{len(broken)} tests, e.g. {', '.join(broken[:_TOLD])}"
                raise Rejected(Reason.BREAKS_OTHERS, told[:300])
        return proof

    def _demand_whole(self, run: TestRun, deletion: Deletion) -> None:
        """Refuse a run that ended early, or where a file is not collected that used to be.

        A file all of whose tests are the feature's may miss what was deleted, and say so.
        """
        if run.timed_out or not run.complete:
            raise Rejected(Reason.CRASHES, f"exit code {run.exit_code}")
        feature = deletion.feature
        names = {part for unit in feature.members for part in _names(unit)}
        for path, message in run.errors.items():
            tests = {test for test in self.baseline.stable if test.partition("::")[0] == path}
            named = feature.inner or not names.isdisjoint(re.findall(r"\w+", message))
            explained = tests and named and tests <= set(feature.tests)
            if not explained and path not in self.baseline.quarantined:
                raise Rejected(Reason.BREAKS_COLLECTION, f"{path}: {message}"[:300])

    def _request(self, ids: Iterable[str]) -> TestRequest:
        return TestRequest.graded(self.baseline, ids)


def _failing(proof: Proof) -> tuple[str, ...]:
    return (*proof.fail_to_pass, *proof.excluded)


def _names(unit: Unit) -> tuple[str, str]:
    """Return what an import error may call a unit: its own name, or its file's."""
    return unit.name.rpartition(".")[2], unit.path.rpartition("/")[2].partition(".")[0]

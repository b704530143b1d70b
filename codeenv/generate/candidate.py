"""One candidate from its feature to its verdict: the gates in their order."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace

from codeenv.audit import Verification, audit_task, verify_task
from codeenv.errors import SandboxError
from codeenv.generate.attempt import Ended, attempt
from codeenv.generate.decided import demand_decided
from codeenv.generate.deletion import deletions
from codeenv.generate.difficulty import demand_reachable, demand_within
from codeenv.generate.lint import check_sufficient
from codeenv.generate.models import (
    Deletion,
    Feature,
    GenerateOptions,
    Proof,
    Reason,
    Rejected,
    Verdict,
)
from codeenv.generate.proof import Prover
from codeenv.generate.recipe import write_recipe
from codeenv.generate.sieve import Sieve
from codeenv.generate.split import unseen_tests
from codeenv.generate.workbench import Workbench
from codeenv.grading import Grader, collect_submission
from codeenv.grading.replay import with_replays
from codeenv.grading.tiers import STRENGTH, tiered, without_forgeable
from codeenv.languages.base import CoverageMap
from codeenv.materialise import materialise
from codeenv.materialise.git import without_git
from codeenv.materialise.models import Task
from codeenv.sources import Checkout
from codeenv.tasks.models import Baseline, Recipe


@dataclass(frozen=True)
class Gates:
    """What every candidate of a repository is held against.

    Attributes:
        bench: Runs the repository's tests.
        checkout: Where the repository came from.
        baseline: Its stable tests.
        coverage: What they execute.
        grader: Grades as it is done later.
        options: Of the run.
        pool: Where work on several candidates goes on side by side.
        tell: Told how far a batch is, from any thread.
    """

    bench: Workbench
    checkout: Checkout
    baseline: Baseline
    coverage: CoverageMap
    grader: Grader
    options: GenerateOptions
    pool: Executor
    tell: Callable[[str], None] = lambda _: None

    def judge(self, features: Sequence[Feature]) -> list[Verdict]:
        """Return one verdict per feature; modes are tried until one passes every gate."""
        sieve = Sieve(self.bench, self.baseline, self.pool, self.coverage)
        prover = Prover(self.bench, self.baseline, self.pool, sieve)
        started = self.pool.map(attempt(self._delete), features)
        candidates = [_Candidate(f, d) for f, d in zip(features, started, strict=True)]
        trying = [c for c in candidates if c.may_be_tried]
        found = sieve.sift([c.feature for c in trying])
        likely = sum(bool(r.problem or r.strong) for r in found.values())
        self.tell(f"{likely} of {len(features)} may have tests that reward; proving them")
        slow = [c for c in trying if found[c.feature.key].waits]
        fast = [c for c in trying if not found[c.feature.key].waits]
        lanes = ThreadPoolExecutor(2, thread_name_prefix="lane")
        try:  # the fast do not wait for the slow
            list(lanes.map(lambda lane: self._go_through(lane, prover), (slow, fast)))
        finally:  # do not wait after Ctrl-C: as for the pool, see the pipeline
            lanes.shutdown(wait=False, cancel_futures=True)
        return [candidate.verdict() for candidate in candidates]

    def _go_through(self, candidates: Sequence["_Candidate"], prover: Prover) -> None:
        """Try one mode of every candidate after the other, until each has its end."""
        while trying := [c for c in candidates if c.may_be_tried]:
            proofs = prover.prove([candidate.next_mode() for candidate in trying])
            proven = sum(isinstance(proof, Proof) for proof in proofs)
            if proven:
                self.tell(f"{proven} of {len(proofs)} break no other test; grading them")
            for candidate, end in zip(
                trying, self.pool.map(attempt(self._emit), proofs), strict=True
            ):
                candidate.end = end

    def _delete(self, feature: Feature) -> list[Deletion]:
        """Return the modes worth trying; none of them is too easy or too hard for sure."""
        found = deletions(self.bench, feature)
        level = feature.level or self.options.level
        return demand_reachable(self.bench, found, level, self.options.difficulty)

    def _emit(self, proof: Proof) -> Recipe:
        demand_decided(proof, self.coverage)
        unseen = unseen_tests(proof, self.coverage, self.options)
        recipe = write_recipe(
            self.bench, self.checkout.pin, self.baseline, proof, unseen, self.options
        )
        demand_within(recipe.difficulty, self.options.difficulty)
        lock = self.bench.environment.lock
        task = materialise(recipe, self.baseline, lock, checkout=self.checkout)
        check_sufficient(task, self.bench.pristine, self.bench.language)
        leaks = audit_task(task, self.bench.environment.image)
        if leaks:
            told = leaks[0].kind == "statement"
            reason = Reason.TELLS_TOO_MUCH if told else Reason.LEAK
            raise Rejected(reason, f"{leaks[0].kind}: {leaks[0].path} {leaks[0].detail}"[:300])
        task = replace(task, recipe=self._tiered(task))
        recipe = with_replays(task, self.grader.runs)
        task = replace(task, recipe=recipe)
        suite = not self._is_proven(task, proof)
        demand_calibrated(verify_task(task, self.grader, suite=suite))
        return recipe

    def _tiered(self, task: Task) -> Recipe:
        """Return the recipe with the tiers of its tests; no reward is for a test that is open."""
        if self.options.tier == "open":
            return tiered(task, self.grader.runs)
        recipe = without_forgeable(tiered(task, self.grader.runs))
        if STRENGTH.index(recipe.tier) < STRENGTH.index(self.options.tier):
            raise Rejected(Reason.FORGEABLE, f"at best, its tests are graded {recipe.tier}")
        return recipe

    def _is_proven(self, task: Task, proof: Proof) -> bool:
        """Return whether grading meets the very trees on which the suite has run."""
        solved = without_git(task.workspace).apply(task.oracle)
        oracle = collect_submission(task, solved, language=self.bench.language)
        restored, damaged = task.grading_tree.apply(oracle.delta), proof.deletion.damaged
        whole = restored.digest == self.bench.pristine.digest
        return whole and task.grading_tree.digest == damaged.digest


class _Candidate:
    """A feature on its way through the gates."""

    def __init__(self, feature: Feature, found: list[Deletion] | Ended) -> None:
        self.feature = feature
        self._modes = found if isinstance(found, list) else []
        self._mode = ""
        self.end: Recipe | Ended = (
            Rejected(Reason.NOT_DELETABLE) if isinstance(found, list) else found
        )

    @property
    def may_be_tried(self) -> bool:
        """Whether it was rejected so far, and there is another mode."""
        rejected = isinstance(self.end, Rejected) and self.end.reason != Reason.INTERNAL
        return bool(self._modes) and rejected

    def next_mode(self) -> Deletion:
        """Return the next way to delete it."""
        deletion = self._modes.pop(0)
        self._mode = deletion.mode
        return deletion

    def verdict(self) -> Verdict:
        """Return its one end."""
        if isinstance(self.end, Recipe):
            return Verdict(self.feature, Reason.EMITTED, self._mode, self.end)
        if isinstance(self.end, SandboxError):
            return Verdict(self.feature, Reason.INFRASTRUCTURE, str(self.end))
        return Verdict(self.feature, self.end.reason, self.end.detail)


def demand_calibrated(found: Verification) -> None:
    """Refuse a task whose nop is not 0 or whose oracle is not 1.

    Raises:
        Rejected: If the task is to blame.
        SandboxError: If it could not be graded.
    """
    if found.ok:
        return
    problems = "; ".join(found.problems)[:300]
    if not found.graded:
        raise SandboxError(problems)
    raise Rejected(Reason.UNSTABLE, problems)

"""One candidate from its feature to its verdict: the gates in their order."""

from dataclasses import dataclass

from codeenv.audit import Verification, audit_task, verify_task
from codeenv.errors import SandboxError
from codeenv.generate.deletion import deletions
from codeenv.generate.lint import check_sufficient
from codeenv.generate.models import (
    Deletion,
    Feature,
    GenerateOptions,
    Reason,
    Rejected,
    Verdict,
)
from codeenv.generate.proof import prove
from codeenv.generate.recipe import write_recipe
from codeenv.generate.workbench import Workbench
from codeenv.grading import Grader
from codeenv.materialise import materialise
from codeenv.sources import Checkout
from codeenv.tasks.models import Baseline, Recipe


@dataclass(frozen=True)
class Gates:
    """What every candidate of a repository is held against.  Thread-safe."""

    bench: Workbench
    checkout: Checkout
    baseline: Baseline
    grader: Grader
    options: GenerateOptions

    def judge(self, feature: Feature) -> Verdict:
        """Return the candidate's one verdict; modes are tried until one passes every gate."""
        last = Rejected(Reason.NOT_DELETABLE)
        try:
            for deletion in deletions(self.bench, feature):
                try:
                    return Verdict(feature, Reason.EMITTED, deletion.mode, self._pass(deletion))
                except Rejected as rejected:
                    last = rejected
        except Rejected as rejected:
            last = rejected if last.reason == Reason.NOT_DELETABLE else last
        except SandboxError as error:
            return Verdict(feature, Reason.INFRASTRUCTURE, str(error))
        return Verdict(feature, last.reason, last.detail)

    def _pass(self, deletion: Deletion) -> Recipe:
        proof = prove(self.bench, deletion, self.baseline)
        recipe = write_recipe(self.bench, self.checkout.pin, self.baseline, proof, self.options)
        lock = self.bench.environment.lock
        task = materialise(recipe, self.baseline, lock, checkout=self.checkout)
        check_sufficient(task, self.bench.pristine, self.bench.language)
        leaks = audit_task(task, self.bench.environment.image)
        if leaks:
            told = leaks[0].kind == "statement"
            reason = Reason.TELLS_TOO_MUCH if told else Reason.LEAK
            raise Rejected(reason, f"{leaks[0].kind}: {leaks[0].path} {leaks[0].detail}"[:300])
        demand_calibrated(verify_task(task, self.grader, functional=False))  # ``prove`` saw it
        return recipe


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

"""Which of the feature's tests the agent may see: none below level L5, two thirds at L5.

The held-out third tells solving from special-casing.  Tests are told apart by function, not by
parameter: the other cases of a visible function would give the hidden ones away.
"""

import hashlib

from codeenv.generate.models import Proof, Reason, Rejected
from codeenv.generate.workbench import Workbench
from codeenv.tasks.models import Baseline, Level, Operation

_HELD_OUT_ONE_IN = 3


def hide_tests(
    bench: Workbench, baseline: Baseline, proof: Proof, level: Level
) -> tuple[Operation, ...]:
    """Return the edits that take the unseen tests out of the agent's tree.

    Raises:
        Rejected: ``not_hidable`` if what stays of a test file would not work.
    """
    damaged = proof.deletion.damaged  # imports of what vanished go from tests, too
    broken = (*proof.fail_to_pass, *proof.excluded)
    unseen = held_out(broken) if level == "L5" else broken
    if not unseen:
        return ()
    try:
        return bench.language.hide(damaged, unseen, baseline.stable)
    except ValueError as error:
        raise Rejected(Reason.NOT_HIDABLE, str(error)) from error


def held_out(tests: tuple[str, ...]) -> tuple[str, ...]:
    """Return about a third of the tests, whole functions each, the same ones every time.

    A single function is never held out: nothing would be left to see.
    """
    functions = sorted({_function(test) for test in tests}, key=_rank)
    chosen = set(functions[: len(functions) // _HELD_OUT_ONE_IN])
    return tuple(test for test in tests if _function(test) in chosen)


def _function(test: str) -> str:
    return test.split("[", 1)[0]


def _rank(function: str) -> str:
    return hashlib.sha256(function.encode()).hexdigest()

"""Which of the feature's tests the agent may see: none, all, or two thirds.

The held-out third runs no line that the seen tests do not run as well: who passes the seen tests
and not these has written code for the cases he saw.  Tests are told apart by function, not by
parameter: the other cases of a visible function would give the hidden ones away.
"""

import hashlib
from collections.abc import Mapping

from codeenv.generate.models import GenerateOptions, Proof, Reason, Rejected, TestMode
from codeenv.generate.workbench import Workbench
from codeenv.languages.base import CoverageMap
from codeenv.tasks.models import Baseline, Operation

_HELD_OUT_ONE_IN = 3
Line = tuple[str, int]


def unseen_tests(proof: Proof, coverage: CoverageMap, options: GenerateOptions) -> tuple[str, ...]:
    """Return the tests that fail without the feature and are to be hidden.

    Raises:
        Rejected: ``not_hidable`` if none can be held out and that was asked for.
    """
    broken = (*proof.fail_to_pass, *proof.excluded)
    level = proof.deletion.feature.level or options.level
    mode = options.tests or ("split" if level == "L5" else "hidden")
    if mode != "split":
        return broken if mode == "hidden" else ()
    unseen = held_out(broken, lines_run(proof, coverage))
    if options.tests and not unseen:
        told = "no test can be held out: each runs lines of its own"
        raise Rejected(Reason.NOT_HIDABLE, told)
    return unseen


def mode_of(proof: Proof, unseen: tuple[str, ...]) -> TestMode:
    """Return which of the tests the agent sees, if these are hidden."""
    if not unseen:
        return "visible"
    return "hidden" if {*proof.fail_to_pass, *proof.excluded} <= {*unseen} else "split"


def hide_tests(
    bench: Workbench, baseline: Baseline, proof: Proof, unseen: tuple[str, ...]
) -> tuple[Operation, ...]:
    """Return the edits that take the unseen tests out of the agent's tree.

    Raises:
        Rejected: ``not_hidable`` if what stays of a test file would not work.
    """
    if not unseen:
        return ()
    damaged = proof.deletion.damaged  # imports of what vanished go from tests, too
    try:
        return bench.language.hide(damaged, unseen, baseline.stable)
    except ValueError as error:
        raise Rejected(Reason.NOT_HIDABLE, str(error)) from error


def lines_run(proof: Proof, coverage: CoverageMap) -> Mapping[str, frozenset[Line]]:
    """Return which deleted lines each test runs."""
    found: dict[str, set[Line]] = {}
    for path, line in proof.deletion.feature.lines:
        for index in coverage.lines.get(path, {}).get(line, ()):
            found.setdefault(coverage.tests[index], set()).add((path, line))
    return {test: frozenset(lines) for test, lines in found.items()}


def held_out(tests: tuple[str, ...], lines: Mapping[str, frozenset[Line]]) -> tuple[str, ...]:
    """Return up to a third of the tests, whole functions each, the same ones every time.

    Every line that these run is run by another test, too.
    """
    functions: dict[str, set[Line]] = {}
    for test in tests:
        functions.setdefault(_function(test), set()).update(lines.get(test, ()))
    chosen: set[str] = set()
    for function in sorted(functions, key=_rank):
        if (len(chosen) + 1) * _HELD_OUT_ONE_IN <= len(functions):
            left = (functions[f] for f in functions if f not in chosen and f != function)
            if functions[function] and functions[function] <= set[Line]().union(*left):
                chosen.add(function)
    return tuple(test for test in tests if _function(test) in chosen)


def _function(test: str) -> str:
    return test.split("[", 1)[0]


def _rank(function: str) -> str:
    return hashlib.sha256(function.encode()).hexdigest()

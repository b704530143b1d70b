"""From a feature to edits: the mode, and what of the code would be left dangling."""

from typing import Literal

from codeenv.generate.models import Deletion, Feature, Given, Reason, Rejected
from codeenv.generate.ranking import ranked_tests
from codeenv.generate.workbench import Workbench
from codeenv.languages.base import CoverageMap, Swap
from codeenv.materialise.operations import apply_operations
from codeenv.tasks.models import Operation
from codeenv.tree import Tree

RAISES = "raise NotImplementedError"
_FUNCTIONS = ("function", "method")
_MUTANTS = 6
_MODES: tuple[Literal["remove", "stub"], ...] = ("remove", "stub")
_ONLY_REMOVED = ("module", "parameter")


def deletions(bench: Workbench, feature: Feature) -> list[Deletion]:
    """Return the feature's deletions worth trying: ``remove`` where nothing dangles, then ``stub``.

    A whole file is only removed, and so is a parameter: one that is declared and does nothing is
    not missing.

    Raises:
        Rejected: ``not_deletable`` if no mode works.
    """
    if feature.given:
        return [_given(bench, feature, feature.given)]
    found, reasons = [], []
    only_removed = any(unit.kind in _ONLY_REMOVED for unit in feature.members)
    for mode in _MODES[:1] if only_removed else _MODES:
        try:
            operations = bench.language.delete(bench.pristine, bench.layout, feature.members, mode)
        except ValueError as error:
            reasons.append(f"{mode}: {error}")
            continue
        dangling = mode == "remove" and bench.language.dangling(
            bench.pristine, bench.layout, feature.members
        )
        if dangling:
            reasons.append(f"remove: {dangling} is used by the code that stays")
        else:
            tree = apply_operations(bench.pristine, operations)
            found.append(Deletion(feature, mode, operations, tree))
    if not found:
        raise Rejected(Reason.NOT_DELETABLE, "; ".join(reasons))
    return found


def can_be_removed(bench: Workbench, feature: Feature) -> bool:
    """Return whether a feature can be removed without leaving the code inconsistent."""
    try:
        return any(deletion.mode == "remove" for deletion in deletions(bench, feature))
    except Rejected:
        return False


def _given(bench: Workbench, feature: Feature, given: Given) -> Deletion:
    if given.problem:
        raise Rejected(Reason.NOT_DELETABLE, given.problem)
    if not feature.tests:
        raise Rejected(Reason.NO_FAILURE, "no stable test runs it")
    mode = "remove" if any(o.mode == "remove" for o in given.operations) else "stub"
    tree = apply_operations(bench.pristine, given.operations)
    return Deletion(feature, mode, given.operations, tree)


def swap_of(bench: Workbench, feature: Feature, coverage: CoverageMap) -> Swap | None:
    """Return the feature as functions to exchange in memory; None if they cannot be stubbed.

    None as well if it is no whole function.

    Only executed lines are changed in mutants.
    """
    stubs = () if feature.given and feature.given.cut else _stubs(bench, feature)
    named = dict.fromkeys((edit.path, edit.symbol) for edit in stubs if edit.kind in _FUNCTIONS)
    symbols = tuple(named)
    if not symbols:
        return None
    mutants = bench.language.mutants(bench.pristine, symbols, coverage.executed, _MUTANTS)
    return Swap(symbols, ranked_tests(feature, coverage), mutants)


def hollow_tree(bench: Workbench, deletion: Deletion) -> Tree | None:
    """Return the tree whose deleted units return nothing: the laziest submission there is.

    A parameter is declared there, and does nothing.

    None if the units cannot be stubbed.
    """
    hollow = tuple(map(_return_nothing, _stubs(bench, deletion.feature)))
    return apply_operations(bench.pristine, hollow) if hollow else None


def _stubs(bench: Workbench, feature: Feature) -> tuple[Operation, ...]:
    """Return the edits that stub the feature; none if it cannot be stubbed.

    Members that stay with a part of their code are left whole.
    """
    cut = feature.given.cut if feature.given else frozenset()
    members = [unit for unit in feature.members if unit not in cut]
    if not members:
        return ()
    try:
        return bench.language.delete(bench.pristine, bench.layout, members, "stub")
    except ValueError:
        return ()


def _return_nothing(operation: Operation) -> Operation:
    text = operation.replacement.replace(RAISES, "return None")
    return operation.model_copy(update={"replacement": text})

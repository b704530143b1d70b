"""From a feature to edits: the mode, and what of the code would be left dangling."""

from collections.abc import Mapping
from typing import Literal

from codeenv.generate.models import Deletion, Feature, Reason, Rejected
from codeenv.generate.workbench import Workbench
from codeenv.languages.base import Swap
from codeenv.materialise.operations import apply_operations
from codeenv.tasks.models import Operation
from codeenv.tree import Tree

RAISES = "raise NotImplementedError"
_FUNCTIONS = ("function", "method")
_MUTANTS = 6
_MODES: tuple[Literal["remove", "stub"], ...] = ("remove", "stub")


def deletions(bench: Workbench, feature: Feature) -> list[Deletion]:
    """Return the feature's deletions worth trying: ``remove`` where nothing dangles, then ``stub``.

    A parameter is only removed: one that is declared and does nothing is not missing.

    Raises:
        Rejected: ``not_deletable`` if no mode works.
    """
    found, reasons = [], []
    for mode in ("remove",) if feature.kind == "parameter" else _MODES:
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


def swap_of(
    bench: Workbench, feature: Feature, executed: Mapping[str, frozenset[int]]
) -> Swap | None:
    """Return the feature as functions to exchange in memory; None if they cannot be stubbed.

    None as well if it is no whole function.

    Only executed lines are changed in mutants.
    """
    stubs = _stubs(bench, feature)
    named = dict.fromkeys((edit.path, edit.symbol) for edit in stubs if edit.kind in _FUNCTIONS)
    symbols = tuple(named)
    mutants = bench.language.mutants(bench.pristine, symbols, executed, _MUTANTS)
    return Swap(symbols, feature.tests, mutants) if symbols else None


def hollow_tree(bench: Workbench, deletion: Deletion) -> Tree | None:
    """Return the tree whose deleted units return nothing: the laziest submission there is.

    A parameter is declared there, and does nothing.

    None if the units cannot be stubbed.
    """
    hollow = tuple(map(_return_nothing, _stubs(bench, deletion.feature)))
    return apply_operations(bench.pristine, hollow) if hollow else None


def _stubs(bench: Workbench, feature: Feature) -> tuple[Operation, ...]:
    """Return the edits that stub the feature; none if it cannot be stubbed."""
    try:
        return bench.language.delete(bench.pristine, bench.layout, feature.members, "stub")
    except ValueError:
        return ()


def _return_nothing(operation: Operation) -> Operation:
    text = operation.replacement.replace(RAISES, "return None")
    return operation.model_copy(update={"replacement": text})

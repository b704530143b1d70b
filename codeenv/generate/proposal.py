"""Features that somebody proposes as diffs: they pass the same gates as every other candidate."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeenv.errors import UsageError
from codeenv.generate.closure import Closures
from codeenv.generate.models import Feature, Given
from codeenv.generate.patching import ONLY_DELETES, read_changes
from codeenv.generate.reach import Reach
from codeenv.languages import detect_language
from codeenv.languages.base import Reduction, Unit
from codeenv.materialise.files import agent_files
from codeenv.tasks.models import Operation
from codeenv.tree import Tree


@dataclass(frozen=True)
class Proposal:
    """One diff: the name of its file, and what it deletes."""

    name: str
    reduction: Reduction


def read_proposals(files: Sequence[Path], source: Tree) -> tuple[Proposal, ...]:
    """Read diffs against a repository.

    Raises:
        UsageError: If one is no diff, does not fit, or does anything but delete the project's code.
        OSError: If a file cannot be read.
    """
    pristine = agent_files(source)
    language = detect_language(pristine)
    layout = language.layout(pristine)
    units = frozenset((unit.path, unit.name) for unit in language.units(pristine, layout))
    found = []
    for file in files:
        changes = read_changes(str(file), file.read_bytes(), pristine)
        try:
            reduction = language.reduce(pristine, layout, changes)
        except ValueError as error:
            hint = f"{ONLY_DELETES}: take code out of the project's own files, and add nothing; "
            hint += "leave the tests as they are, for codeenv hides the feature's own"
            raise UsageError(f"{file}: {error}", hint=hint) from None
        if units.isdisjoint(reduction.members):
            raise UsageError(
                f"{file} takes no code from a function, a method or a class",
                hint="a task needs code that tests run",
            )
        found.append(Proposal(str(file), reduction))
    return tuple(found)


def proposed_features(
    proposals: Sequence[Proposal],
    tree: Tree,
    closures: Closures,
    needing: Mapping[str, Sequence[str]],
) -> tuple[Feature, ...]:
    """Return the proposals as features, in their order.

    Args:
        proposals: What is to go.
        tree: The pristine tree.
        closures: Of the repository.
        needing: Path -> test files that cannot be imported without this file.
    """
    found = []
    for proposal in proposals:
        gone = [o.path for o in proposal.reduction.operations if o.kind == "module"]
        files = frozenset(file for path in gone for file in needing.get(path, ()))
        asking = [test for test in closures.reach.stable if test.partition("::")[0] in files]
        found.append(expecting(_feature(proposal, tree, closures), asking, closures.reach))
    return tuple(found)


def expecting(feature: Feature, tests: Iterable[str], reach: Reach) -> Feature:
    """Return a feature with more tests that fail without it, as those that only import it."""
    every = {*feature.tests, *tests}
    return replace(feature, tests=tuple(test for test in reach.stable if test in every))


def _feature(proposal: Proposal, tree: Tree, closures: Closures) -> Feature:
    reduction, reach = proposal.reduction, closures.reach
    named: dict[tuple[str, str], list[Unit]] = {}
    for unit in closures.units:
        named.setdefault((unit.path, unit.name), []).append(unit)
    chosen = dict.fromkeys(symbol for symbol in reduction.members if symbol in named)
    main = {symbol: _main(named[symbol]) for symbol in chosen}
    given = Given(
        operations=reduction.operations,
        lines=lines_of(reduction.operations, tree),
        cut=frozenset(unit for symbol, unit in main.items() if symbol in reduction.cut),
        problem=reduction.problem,
        name=proposal.name,
    )
    members = tuple(main.values())
    return given_feature(main_member(members, given.cut, reach), members, given, closures)


def main_member(members: Sequence[Unit], cut: Collection[Unit], reach: Reach) -> Unit:
    """Return which member a deletion is named by: public, whole, and run by most tests."""
    return max(members, key=lambda u: (u.public, u not in cut, len(reach.tests[u])))


def given_feature(seed: Unit, members: Sequence[Unit], given: Given, closures: Closures) -> Feature:
    """Return the feature of a deletion that is known; a member that stays counts by its part."""
    whole = closures.feature(seed, members, "proposal")
    lost = sum((u.path, n) in given.lines for u in given.cut for n in u.lines)
    size = sum(closures.size(u) for u in members if u not in given.cut) + lost
    return Feature(
        seed, tuple(members), whole.tests, size, "proposal", joint=whole.joint, given=given
    )


def lines_of(operations: Sequence[Operation], tree: Tree) -> frozenset[tuple[str, int]]:
    """Return the (path, line) that edits take something from."""
    found: set[tuple[str, int]] = set()
    for edit in operations:
        data = tree[edit.path].data
        first = data.count(b"\n", 0, edit.start) + 1
        last = data.count(b"\n", 0, max(edit.end - 1, edit.start)) + 1
        found.update((edit.path, line) for line in range(first, last + 1))
    return frozenset(found)


def _main(units: Sequence[Unit]) -> Unit:
    """Return which of the units of one name stands for all."""
    return next((unit for unit in units if not unit.protected), units[0])

"""Harder children of solved tasks: with a neighbour, with more around them, or told less."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import get_args

from codeenv.errors import GenerationError
from codeenv.generate.closure import Closures
from codeenv.generate.deletion import deletions
from codeenv.generate.features import single_features
from codeenv.generate.groups import meet
from codeenv.generate.merging import unions
from codeenv.generate.models import (
    Deletion,
    Event,
    Feature,
    GenerateOptions,
    GenerationResult,
    Given,
    OnEvent,
    Origin,
    Rejected,
    Verdict,
    lines_in,
)
from codeenv.generate.pipeline import bench_of, generate_from, survey
from codeenv.generate.proposal import expecting, given_feature, lines_of, main_member
from codeenv.generate.reach import contains
from codeenv.generate.workbench import Workbench
from codeenv.images import restore_environment
from codeenv.languages.base import CoverageMap, Unit
from codeenv.materialise.brief import deleted_units, still_defined
from codeenv.materialise.operations import apply_operations
from codeenv.sandbox.base import Backend
from codeenv.sources import fetch
from codeenv.tasks.models import Baseline, Level, Recipe
from codeenv.tasks.taskset import Taskset

_LEVELS: tuple[Level, ...] = get_args(Level)
_NEIGHBOURS = 3
_MOST_FILES = 5


def harder_features(
    parents: Sequence[Recipe], bench: Workbench, closures: Closures, options: GenerateOptions
) -> tuple[Feature, ...]:
    """Return the children of tasks of one repository, those that delete more first.

    A child with more code is told at its parent's level.  A child at a lower level has its parent's
    very edits; below L4 that means no docstrings, below L3 no names.
    """
    single = single_features(closures, options)
    families = [list(_children(p, bench, closures, single, options)) for p in parents]
    longest = max((len(family) for family in families), default=0)
    children: dict[str, Feature] = {}
    for place in range(longest):
        for family in families:
            for child in family[place : place + 1]:
                children.setdefault(child.key, child)
    return tuple(children.values())


def _children(
    parent: Recipe,
    bench: Workbench,
    closures: Closures,
    single: Sequence[Feature],
    options: GenerateOptions,
) -> Iterator[Feature]:
    known = [u for u in deleted_units(parent, closures.units) if u in closures.reach.tests]
    members = [u for u in known if not any(o != u and contains(o, u) for o in known)]
    given = _given(parent, bench, members)
    if members:
        named = [u for u in members if u.id == parent.provenance.seed_symbol]
        seed = named[0] if named else main_member(members, given.cut, closures.reach)
        same = given_feature(seed, members, given, closures)
        bigger = _bigger(same, given, bench, closures, single, options)
    elif parameters := deleted_units(
        parent, bench.language.parameters(bench.pristine, bench.layout)
    ):
        size = parent.difficulty.lines
        same = Feature(parameters[0], parameters, (), size, "parameter", given=given)
        bigger = iter(())
    else:
        return
    broken = (*parent.fail_to_pass, *parent.excluded)
    for child in bigger:
        child = expecting(child, broken, closures.reach)
        yield replace(child, level=parent.level, parent_id=parent.id)
    same = expecting(same, broken, closures.reach)
    for level in reversed(_LEVELS[: _LEVELS.index(parent.level)]):
        yield replace(same, kind="restated", level=level, parent_id=parent.id)


def _bigger(
    same: Feature,
    given: Given,
    bench: Workbench,
    closures: Closures,
    single: Sequence[Feature],
    options: GenerateOptions,
) -> Iterator[Feature]:
    """Yield the deletion with what only its tests run, and with each of its neighbours."""
    others: list[tuple[Feature, Origin]] = [
        (o, "merged") for o in _neighbours(same, closures, single, options)
    ]
    if more := _around(same, closures, options):
        others.insert(0, (more, "widened"))
    for other, kind in others:
        if bigger := _with(same, given, other, bench, closures):
            yield replace(bigger, kind=kind)


def _with(
    own: Feature, given: Given, other: Feature, bench: Workbench, closures: Closures
) -> Feature | None:
    """Return a feature with another one: deleted afresh, or else by the edits of both."""
    both = closures.feature(own.seed, (*own.members, *other.members), "merged")
    if not given.cut and _modes(bench, both):
        return both
    for deletion in _modes(bench, other):
        if not meet(given.operations, deletion.operations):
            edits = sorted(
                (*given.operations, *deletion.operations), key=lambda o: (o.path, o.start)
            )
            joined = Given(tuple(edits), lines_of(edits, bench.pristine), given.cut)
            return given_feature(own.seed, both.members, joined, closures)
    return None


def _modes(bench: Workbench, feature: Feature) -> list[Deletion]:
    try:
        return deletions(bench, feature)
    except Rejected:
        return []


def _given(parent: Recipe, bench: Workbench, members: Sequence[Unit]) -> Given:
    """Return the parent's own deletion; what it leaves a part of is still defined afterwards."""
    left = apply_operations(bench.pristine, parent.deletions)
    defined = still_defined(parent, left, bench.layout, bench.language)
    cut = frozenset(u for u in members if u.id in defined)
    return Given(parent.deletions, lines_of(parent.deletions, bench.pristine), cut)


def _neighbours(
    own: Feature, closures: Closures, single: Sequence[Feature], options: GenerateOptions
) -> Iterator[Feature]:
    """Yield the nearest features of the same module, or of code tied to it.

    Of a feature that shares code with it, the rest counts as a neighbour.
    """
    taken = frozenset[tuple[str, int]]().union(*map(lines_in, own.members))
    others: dict[str, Feature] = {}
    for feature in single:
        rest = [u for u in feature.members if not taken & lines_in(u)]
        if rest:
            seed = feature.seed if feature.seed in rest else rest[0]
            other = closures.feature(seed, rest, feature.kind)
            others.setdefault(other.key, other)
    for other, _ in islice(unions(own, list(others.values()), closures, options), _NEIGHBOURS):
        yield other


def _around(own: Feature, closures: Closures, options: GenerateOptions) -> Feature | None:
    """Return what else only the feature's tests run, its own files first, in the budget."""
    reach = closures.reach
    tests = reach.of(own.members)
    files = {unit.path for unit in own.members}
    taken = frozenset[tuple[str, int]]().union(*map(lines_in, own.members))
    free = [u for u in closures.units if reach.is_free(u) and reach.tests[u] <= tests]
    chosen: set[Unit] = set()
    for unit in sorted(free, key=lambda u: u.path not in files):
        wider = closures.feature(unit, {*chosen, unit}, "widened")
        few = len({u.path for u in wider.members} | files) <= max(_MOST_FILES, len(files))
        fits = own.line_count + wider.line_count <= options.max_lines
        if few and fits and not taken & lines_in(unit):
            chosen = set(wider.members)
    seed = min(chosen, key=lambda u: (u.path, u.start), default=None)
    return closures.feature(seed, chosen, "widened") if seed else None


def generate_harder(
    parents: Taskset,
    options: GenerateOptions,
    *,
    backend: Backend,
    on_event: OnEvent = lambda _: None,
) -> GenerationResult:
    """Make harder children of tasks, each with its parent's id, and write them to ``options.out``.

    Source and environment are the parents' own; the tests are measured again, for their coverage.

    Args:
        parents: Solved tasks, of any repositories.
        options: What to generate; of several repositories, the limit counts for each.
        backend: Where the repositories' code runs.
        on_event: Told of every step.

    Raises:
        SourceError: If a source cannot be had.
        BuildError: If an environment cannot be restored.
        GenerationError: If no child became a task.
    """
    recipes: list[Recipe] = []
    verdicts: list[Verdict] = []
    failure: GenerationError | None = None
    families = _families(parents)
    for family in families:
        try:
            result = _generate_family(family, parents, options, backend, on_event)
        except GenerationError as error:
            failure = error
            if len(families) > 1:
                on_event(Event("failed", f"{error.message}: {error.hint}"))
        else:
            recipes += result.recipes
            verdicts += result.verdicts
    if failure and not recipes:
        raise failure
    return GenerationResult(tuple(sorted(recipes, key=lambda r: r.id)), tuple(verdicts))


def demand_children(
    children: tuple[Feature, ...], parents: Sequence[Recipe]
) -> tuple[Feature, ...]:
    """Return the children of some parents.

    Raises:
        GenerationError: If there are none.
    """
    if not children:
        told = ", ".join(recipe.id for recipe in parents)
        hint = "there is no level below L1, and no neighbour that fits"
        raise GenerationError(f"nothing harder can be made of {told}", hint=hint)
    return children


def _families(parents: Taskset) -> list[list[Recipe]]:
    """Return the parents by repository and environment."""
    families: dict[tuple[str, str], list[Recipe]] = {}
    for recipe in parents.recipes:
        families.setdefault((recipe.source.tree, recipe.environment), []).append(recipe)
    return list(families.values())


def _generate_family(
    family: Sequence[Recipe],
    parents: Taskset,
    options: GenerateOptions,
    backend: Backend,
    on_event: OnEvent,
) -> GenerationResult:
    source = fetch(family[0].source)
    lock = parents.environment(family[0].environment)
    environment = restore_environment(lock, backend, pin=source.pin)
    bench = bench_of(source, environment, backend)

    def find(
        bench: Workbench, baseline: Baseline, coverage: CoverageMap, options: GenerateOptions
    ) -> tuple[Feature, ...]:
        units, reach = survey(bench, baseline, coverage)
        closures = Closures(bench.pristine, units, reach, options.max_lines)
        return demand_children(harder_features(family, bench, closures, options), family)

    label = "harder-" + hashlib.sha256(" ".join(r.id for r in family).encode()).hexdigest()[:8]
    return generate_from(source, bench, options, find, on_event, label=label)

"""How each test of a feature is graded, and finding that out when a task is made.

Sealed: the test runs in a box of its own, and asks the code under test over a pipe.  Guarded: it
runs in one process with that code, and again where nothing right can pass.  Open: it just runs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from codeenv.errors import NoPairs
from codeenv.grading.guard_models import ABLATION, Guard, control_name
from codeenv.grading.guarded import Run, validate_controls
from codeenv.grading.runs import Runs
from codeenv.grading.verdict import statuses
from codeenv.languages.base import Language, SplitRun
from codeenv.materialise.models import Task
from codeenv.tasks.models import Recipe, Tier
from codeenv.tree import Delta

VARIANTS = 2
"""Controls of each kind that are tried for a test."""
_MARGIN = 4
"""How often the time of a sealed test must fit in its deadline."""
_CONSTANTS = frozenset(control_name("constants", variant) for variant in range(VARIANTS))
STRENGTH: tuple[Tier, ...] = ("open", "guarded", "sealed")
"""Tiers, the weakest first."""


@dataclass(frozen=True)
class Plan:
    """How the tests of a task's feature are graded.

    Attributes:
        sealed: Tests that run split from the submission.
        asking: Tests that do so several times: they ask the submission's objects for an opinion.
        guard: Tests that run several times in one process with the submission.
        plain: Tests that just run.
        weak: Those of all these that no reward is for alone.
        licences: What objects of a submission may be asked by sealed tests.
    """

    sealed: tuple[str, ...]
    asking: Guard
    guard: Guard
    plain: tuple[str, ...]
    weak: tuple[str, ...]
    licences: tuple[str, ...]

    @classmethod
    def of(cls, task: Task, language: Language) -> "Plan":
        """Return the plan in which each test is as strong as its recipe says."""
        recipe, weak = task.recipe, weak_tests(task, language)
        tests = (*task.fail_to_pass, *weak)
        tier = {test: recipe.tier_of(test) for test in tests}
        sealed = [test for test in tests if tier[test] == "sealed"]
        return cls(
            sealed=tuple(test for test in sealed if test not in recipe.guards),
            asking=_guard(recipe, [t for t in sealed if t in recipe.guards], apart=False),
            guard=_guard(recipe, [test for test in tests if tier[test] == "guarded"]),
            plain=tuple(test for test in tests if tier[test] == "open"),
            weak=weak,
            licences=recipe.licences or (),
        )

    @classmethod
    def unsealed(cls, task: Task, language: Language, guard: Guard) -> "Plan":
        """Return the plan without a split: guarded where ``guard`` has a control, else open."""
        weak = weak_tests(task, language)
        rest = (*task.fail_to_pass, *weak)
        held = {test: guard.controls[test] for test in guard.tests if guard.kinds(test)}
        kept = replace(guard, controls=held)
        none = Guard({}, frozenset(), VARIANTS)
        return cls((), none, kept, tuple(t for t in rest if t not in held), weak, ())

    @property
    def tiers(self) -> Mapping[str, Tier]:
        """Tier per test."""
        return {
            **dict.fromkeys((*self.sealed, *self.asking.tests), "sealed"),
            **dict.fromkeys(self.guard.tests, "guarded"),
            **dict.fromkeys(self.plain, "open"),
        }

    def share(self, controls: float) -> float:
        """Return the probability that a control of this plan runs: 1 where it has none."""
        return controls if self.guard.tests or self.asking.tests else 1.0


def _guard(recipe: Recipe, tests: Sequence[str], *, apart: bool = True) -> Guard:
    names = {test: recipe.guards[test] for test in tests}
    controls = {test: tuple(n for n in names[test] if n != ABLATION) for test in tests}
    ablation = frozenset(test for test in tests if ABLATION in names[test])
    return Guard(controls, ablation, VARIANTS, recipe.orders or (None,), apart)


def weak_tests(task: Task, language: Language) -> tuple[str, ...]:
    """Return the feature's other tests: all that a submission cannot change itself."""
    files = {test: test.partition("::")[0] for test in task.recipe.excluded}
    return tuple(t for t, path in files.items() if not language.admissible(task.layout, path))


def guard_all(task: Task, runs: Runs) -> Guard:
    """Return the controls of all tests of the feature, for grading without a split.

    Raises:
        SandboxError: If a box failed.
    """
    tests = (*task.fail_to_pass, *weak_tests(task, runs.language(task)))
    return _validated(task, runs, tests, lambda d, r: runs.request(task, d, r))


def tiered(task: Task, runs: Runs) -> Recipe:
    """Return the recipe with the strongest tier that each of its feature's tests can have.

    A test is sealed if the known-good solution passes it split from the test, twice, and the
    damaged tree does not; one that asks objects for their opinion needs a control besides.  The
    others are guarded, if they have a control that the known-good solution fails.

    Args:
        task: The task; its recipe's tiers do not matter.
        runs: Runs its tests.

    Raises:
        SandboxError: If a box failed.
    """
    tests = (*task.fail_to_pass, *weak_tests(task, runs.language(task)))
    split = _split(task, runs, tests)
    guards, used = _kinds(split.guard, split.asking), [split.guard] if split.asking else []
    sealed = split.quiet | guards.keys()
    rest = [test for test in tests if test not in sealed]
    if rest:
        found = _validated(task, runs, rest, lambda d, r: runs.request(task, d, r))
        guards |= _kinds(found, rest)
        used.append(found)
    ordered = sorted(guards, key=lambda test: (guards[test], tests.index(test)))
    changed: dict[str, object] = {
        "licences": split.licences if sealed else None,
        "unsplit": tuple(rest) if sealed else (),
        "guards": {test: guards[test] for test in ordered},
        "orders": _common(used) if guards else (),
    }
    return _with_tier(task.recipe.model_copy(update=changed))


@dataclass(frozen=True)
class _Split:
    """Which tests can be split, of these who asks for opinions, and with which controls."""

    quiet: frozenset[str]
    asking: tuple[str, ...]
    guard: Guard
    licences: tuple[str, ...]


def _split(task: Task, runs: Runs, tests: Sequence[str]) -> _Split:
    none = Guard({}, frozenset(), VARIANTS)
    try:
        learnt = runs.split(task, task.oracle, tests, None)
    except NoPairs:
        return _Split(frozenset(), (), none, ())
    once = _passed(task, tests, learnt)
    again = runs.split(task, task.oracle, once, None)
    good = _passed(task, once, again)
    licences = tuple(sorted({*learnt.licences, *again.licences}))
    damaged = runs.split(task, Delta(), good, licences)
    said = statuses(good, damaged.run)
    failing = [test for test in good if said[test] != "passed"]
    opinions = learnt.opinionated | again.opinionated
    asking = tuple(test for test in failing if _is_among(test, opinions))
    guard = none
    if asking:
        run = lambda d, r: runs.split_request(task, d, r, licences).run  # noqa: E731 - one use
        guard = _validated(task, runs, asking, run)
    return _Split(frozenset(failing) - frozenset(asking), asking, guard, licences)


def _is_among(test: str, places: Collection[str]) -> bool:
    """Return whether a test is named, or what it is in: a class, a file, or all by ""."""
    return any(not place or test == place or test.startswith(f"{place}::") for place in places)


def _validated(task: Task, runs: Runs, tests: Sequence[str], run: Run) -> Guard:
    language = runs.language(task)
    return validate_controls(task, tests, run, language=language, variants=VARIANTS)


def _common(guards: Sequence[Guard]) -> tuple[int | None, ...]:
    """Return the orders that the tests of all guards pass in."""
    first, *others = guards
    return tuple(o for o in first.orders if all(o in guard.orders for guard in others))


def _kinds(guard: Guard, tests: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the controls of the tests that have any."""
    ablation = {test: (ABLATION,) if test in guard.ablation else () for test in tests}
    found = {t: (*guard.controls[t], *ablation[t]) for t in tests if t in guard.controls}
    return {test: names for test, names in found.items() if guard.controls[test]}


def _passed(task: Task, tests: Sequence[str], split: SplitRun) -> tuple[str, ...]:
    """Return the tests that passed, far from their deadlines."""
    said = statuses(tests, split.run)
    usual, single = task.baseline.test_timeout, task.baseline.test_timeouts
    took = {test: result.duration for test, result in split.run.results.items()}
    limits = {test: single.get(test, usual) or task.baseline.timeout for test in tests}
    return tuple(t for t in tests if said[t] == "passed" and _MARGIN * took[t] < limits[t])


def _with_tier(recipe: Recipe) -> Recipe:
    """Return the recipe with the weakest tier of its F2P tests."""
    order = sorted((_worth(recipe, test) for test in recipe.fail_to_pass), key=STRENGTH.index)
    return recipe.model_copy(update={"tier": order[0]})


def _worth(recipe: Recipe, test: str) -> Tier:
    """Return a test's tier, "open" if it has controls of which none expects something else.

    An assertion turned round catches who loses failures, but no object that agrees to everything:
    that one agrees where it is asked to, and fails where it is asked not to.
    """
    names = frozenset(recipe.guards.get(test, ()))
    return "open" if names and not names & _CONSTANTS else recipe.tier_of(test)


def without_forgeable(recipe: Recipe) -> Recipe:
    """Return the recipe whose reward is for no test that is graded open, or no better.

    Such a test must still pass; it moves behind the weak ones.

    Args:
        recipe: As ``tiered`` returned it.
    """
    kept = tuple(test for test in recipe.fail_to_pass if _worth(recipe, test) != "open")
    if not kept or kept == recipe.fail_to_pass:
        return recipe
    moved = tuple(test for test in recipe.fail_to_pass if test not in frozenset(kept))
    held_out = tuple(test for test in recipe.held_out if test in frozenset(kept))
    changed = {"fail_to_pass": kept, "excluded": (*recipe.excluded, *moved), "held_out": held_out}
    return _with_tier(recipe.model_copy(update=changed))

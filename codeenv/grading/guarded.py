"""Grades tests that must run in one process with the code that they test.

In such a process nothing is a boundary: code may patch the runner, answer ``==`` as it likes, or
read the expected value from its caller.  So the same tests run again, expecting what no right
solution gives, and once more over a submission without its bodies.  Whoever passes these did not
pass the real ones by being right.

All runs are alike but for what is expected: the same files and ids, the same number of tests, the
same limits and variables, processes and boxes of their own, orders by chance.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from codeenv.grading.guard_models import (
    ABLATION,
    KINDS,
    REAL,
    Guard,
    GuardedGrade,
    control_name,
)
from codeenv.grading.models import TestStatus
from codeenv.grading.verdict import nothing_ran, statuses
from codeenv.languages.base import Controls, Language, TestRequest, TestRun
from codeenv.materialise.models import Task
from codeenv.tasks.models import Recipe
from codeenv.tree import Delta, Tree

Run = Callable[[Delta, TestRequest], TestRun]
"""Runs tests in a fresh box that holds the task's grading tree with a delta applied."""
_CHOSEN = frozenset({"function", "method", "class", "parameter", "module"})
_ORDERS = 3
_BY_COMPARISON = ("AssertionError", "Failed")
_BY_TIME = "Failed: timed out"


def grade_guarded(
    task: Task,
    delta: Delta,
    guard: Guard,
    run: Run,
    *,
    language: Language,
    seed: int = 0,
    share: float = 1.0,
) -> GuardedGrade:
    """Return the verdict on the guarded tests of a task.

    Args:
        task: The task.
        delta: What counts of a submission.
        guard: What ``validate_controls`` returned; its tests are graded.
        run: Runs tests in a fresh box; its exceptions are handed on.
        language: Of the task.
        seed: Chooses, with task and submission, orders, variants and the controls that run.
        share: Probability that a kind of control runs at all; the real tests always do.
    """
    chance = Random(f"{task.id} {digest_of_delta(delta)} {seed}")
    useful = [held for held in (*map(guard.held, KINDS), guard.held(ABLATION)) if held]
    names = [REAL, *(chance.choice(held) for held in useful if chance.random() < share)]
    bench = _Bench(task, language, run, chance, guard.orders)
    groups = split_hidden(task, guard.tests) if guard.apart else (Group(guard.tests, ()),)
    grades = [_grade_group(bench, delta, guard, group, names) for group in groups]
    return _joined(grades)


def validate_controls(
    task: Task,
    ids: Sequence[str],
    run: Run,
    *,
    language: Language,
    variants: int = 3,
    seed: int = 0,
) -> Guard:
    """Return which controls and which ablations the known-good solution fails.

    A control that fails for another reason than what it expects is none, and a test that does not
    pass after rewriting cannot be guarded.  Orders in which one fails are not used.

    Args:
        task: The task.
        ids: Tests to be guarded.
        run: Runs tests in a fresh box; its exceptions are handed on.
        language: Of the task.
        variants: How many controls of each kind to try for each test.
        seed: Of the orders.
    """
    chance = Random(f"{task.id} {seed}")
    orders = (None, *(chance.getrandbits(32) for _ in range(_ORDERS)))
    bench = _Bench(task, language, run, chance, (None,))
    held: dict[str, list[str]] = {}
    ablation: set[str] = set()
    bad: set[int | None] = set()
    for group in split_hidden(task, ids):
        good = {each: bench.run(task.oracle, group, REAL, (each,)) for each in orders}
        passing = [t for t in group.ids if good[None].statuses[t] == "passed"]
        bad |= {e for e, r in good.items() if any(r.statuses[t] != "passed" for t in passing)}
        held |= {test: [] for test in passing}
        for name in [control_name(kind, v) for kind in KINDS for v in range(variants)]:
            tried = bench.run(task.oracle, group, name)
            for test in passing:
                if tried.fails_rightly(test):
                    held[test].append(name)
        stripped = bench.run(task.oracle, group, ABLATION)
        ablation |= {test for test in passing if stripped.fails(test)}
    ordered = {test: tuple(held[test]) for test in ids if test in held}
    usable = tuple(each for each in orders if each not in bad)
    return Guard(ordered, frozenset(ablation), variants, usable)


def deleted_symbols(recipe: Recipe) -> tuple[tuple[str, str], ...]:
    """Return path and name of what a recipe deletes; of a whole file the name is ""."""
    found = (
        (edit.path, "" if edit.kind == "module" else edit.symbol)
        for edit in recipe.deletions
        if edit.kind in _CHOSEN and edit.mode in ("remove", "stub")
    )
    return tuple(dict.fromkeys(found))


def digest_of_delta(delta: Delta) -> str:
    """Return the sha256 (hex) of a submission."""
    text = "\0".join((Tree(delta.write).digest, *sorted(delta.delete)))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class Group:
    """Tests that may share a process, and those that must not be in it."""

    ids: tuple[str, ...]
    others: tuple[str, ...]


def split_hidden(task: Task, ids: Iterable[str]) -> tuple[Group, ...]:
    """Return the tests that the agent saw and those that it did not see, apart."""
    unseen = frozenset(task.recipe.held_out)
    every = tuple(dict.fromkeys(ids))
    hidden = tuple(test for test in every if test in unseen)
    seen = tuple(test for test in every if test not in unseen)
    groups = (Group(seen, task.recipe.held_out), Group(hidden, seen))
    return tuple(group for group in groups if group.ids)


@dataclass(frozen=True)
class _Finished:
    """A run of one group: statuses by the tests' own ids."""

    name: str
    controls: Controls
    run: TestRun
    statuses: Mapping[str, TestStatus]

    def fails(self, test: str) -> bool:
        """Return whether a whole run says that a test does not pass."""
        return self.run.complete and self.statuses[test] in ("failed", "error")

    def fails_rightly(self, test: str) -> bool:
        """Return whether a changed test fails by what it expects."""
        result = self.run.results.get(self.controls.name_of(test))
        if test not in self.controls.ids or result is None or not self.fails(test):
            return False
        told = result.message
        compared = told.startswith(_BY_COMPARISON) and not told.startswith(_BY_TIME)
        return compared or (test in self.controls.raising and not told.startswith(_BY_TIME))


@dataclass(frozen=True)
class _Bench:
    """Makes runs that look like each other."""

    task: Task
    language: Language
    run_tests: Run
    chance: Random
    orders: tuple[int | None, ...]
    stripped: dict[str, Delta] = field(default_factory=dict)

    def run(
        self, delta: Delta, group: Group, name: str, orders: tuple[int | None, ...] = ()
    ) -> _Finished:
        """Make one run of a group of tests, in one of the orders."""
        controls = self._controls(group, name)
        laid = _over(delta, controls.delta)
        if name == ABLATION:
            laid = _over(laid, self.ablation(delta))
        ids = [controls.name_of(test) for test in group.ids]
        request = self._request(group, controls, ids)
        order = self.chance.choice(orders or self.orders)
        found = self.run_tests(laid, replace(request, shuffle_seed=order))
        said = statuses(ids, found)
        own = {test: said[renamed] for test, renamed in zip(group.ids, ids, strict=True)}
        return _Finished(name, controls, found, own)

    def ablation(self, delta: Delta) -> Delta:
        """Return what takes the bodies out of a submission."""
        key = digest_of_delta(delta)
        if key not in self.stripped:
            self.stripped[key] = self._stripped(delta)
        return self.stripped[key]

    def _stripped(self, delta: Delta) -> Delta:
        tree = self.task.grading_tree.apply(delta)
        return self.language.ablate(tree, deleted_symbols(self.task.recipe))

    def _controls(self, group: Group, name: str) -> Controls:
        kind, _, variant = name.partition(":")
        return self.language.controls(
            self.task.grading_tree,
            group.ids,
            next((known for known in KINDS if known == kind), "same"),
            stable=self.task.baseline.stable,
            variant=int(variant or 0),
            without=group.others,
        )

    def _request(self, group: Group, controls: Controls, ids: Sequence[str]) -> TestRequest:
        asked = TestRequest.graded(self.task.baseline, group.ids)
        slow = {controls.name_of(test): limit for test, limit in asked.test_timeouts.items()}
        return replace(
            asked,
            ids=tuple(sorted(ids)),
            test_timeouts=slow,
            options=self.task.lock.test_options,
        )


def _grade_group(
    bench: _Bench, delta: Delta, guard: Guard, group: Group, names: Sequence[str]
) -> GuardedGrade:
    order = [n for n in names if n == REAL or any(guard.holds(t, n) for t in group.ids)]
    bench.chance.shuffle(order)
    if ABLATION in order and not bench.ablation(delta):
        order.remove(ABLATION)
    finished: list[_Finished] = []
    for name in order:
        finished.append(bench.run(delta, group, name))
        if name == REAL and "passed" not in finished[-1].statuses.values():
            break
    real = next(f for f in finished if f.name == REAL)
    others = [f for f in finished if f.name != REAL]
    checked = {t: tuple(f.name for f in others if guard.holds(t, f.name)) for t in group.ids}
    caught = {
        t: tuple(f.name for f in others if f.name in checked[t] and f.statuses[t] == "passed")
        for t in group.ids
        if real.statuses[t] == "passed"  # what is wrong may well pass a test turned round
    }
    return GuardedGrade(
        real.statuses,
        {test: names for test, names in caught.items() if names},
        tuple(f.name for f in finished),
        checked,
        (real.run.log or "no result") if nothing_ran(real.run) else "",
    )


def _joined(grades: Sequence[GuardedGrade]) -> GuardedGrade:
    real: dict[str, TestStatus] = {}
    caught: dict[str, tuple[str, ...]] = {}
    checked: dict[str, tuple[str, ...]] = {}
    for grade in grades:
        real |= grade.real
        caught |= grade.caught
        checked |= grade.checked
    runs = tuple(name for grade in grades for name in grade.runs)
    return GuardedGrade(real, caught, runs, checked, "".join(g.silent for g in grades))


def _over(first: Delta, second: Delta) -> Delta:
    """Return both deltas as one; the second one counts where both speak of a file."""
    write = {p: e for p, e in first.write.items() if p not in second.delete}
    delete = first.delete - frozenset(second.write)
    return Delta({**write, **second.write}, delete | second.delete)

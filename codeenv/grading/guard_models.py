"""What is known of guarded tests when a task is made, and what grading them says."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeenv.grading.models import TestStatus
from codeenv.languages.base import ControlKind

ABLATION = "ablation"
REAL = "real"
KINDS: tuple[ControlKind, ...] = ("constants", "negation")


def control_name(kind: ControlKind, variant: int) -> str:
    """Return the name of a control, as guards and grades spell it: ``constants:0``."""
    return f"{kind}:{variant}"


@dataclass(frozen=True)
class Guard:
    """What holds of tests with the known-good solution, found when a task is made.

    Attributes:
        controls: Test -> names of the controls that the known-good solution fails, by what is
            expected and not by an accident; such a control speaks against whoever passes it.
            Tests that do not pass after they went through the rewriter are not among the keys.
        ablation: Tests that fail when the known-good solution has lost its bodies.
        variants: How many variants of each kind were tried.
        orders: Seeds of the orders that the tests pass in; None is the collection order.
        apart: Whether tests that the agent did not see have a process of their own.  Split tests
            need none: nothing of a test is where the submission is.
    """

    controls: Mapping[str, tuple[str, ...]]
    ablation: frozenset[str]
    variants: int
    orders: tuple[int | None, ...] = (None,)
    apart: bool = True

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that can be graded in this way."""
        return tuple(self.controls)

    def kinds(self, test: str) -> tuple[str, ...]:
        """Return the kinds of which a test has a control, ``ablation`` among them."""
        names = {name.partition(":")[0] for name in self.controls.get(test, ())}
        found = tuple(kind for kind in KINDS if kind in names)
        return (*found, ABLATION) if test in self.ablation else found

    def held(self, kind: str) -> tuple[str, ...]:
        """Return the names of the runs of a kind that some test must not pass, sorted."""
        if kind == ABLATION:
            return (ABLATION,) if self.ablation else ()
        names = {name for held in self.controls.values() for name in held}
        return tuple(sorted(name for name in names if name.partition(":")[0] == kind))

    def holds(self, test: str, run: str) -> bool:
        """Return whether a test must not pass in a run."""
        return test in self.ablation if run == ABLATION else run in self.controls.get(test, ())


@dataclass(frozen=True)
class GuardedGrade:
    """The verdict on guarded tests.

    Attributes:
        real: Status per test in the real run.
        caught: Test that passed the real run -> runs that it passed and must not have passed: no
            honest code does both.
        runs: Runs that were made, in their order: ``real``, ``constants:1``, ``ablation`` and so
            on; hidden tests have their own.
        checked: Test -> runs that could have caught it.
        silent: Log of a real run that ended early without a single result, or "".
    """

    real: Mapping[str, TestStatus]
    caught: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    checked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    silent: str = ""

    @property
    def statuses(self) -> dict[str, TestStatus]:
        """Status per test; one that also passes where nothing right can is failed."""
        return {t: "failed" if self.caught.get(t) else status for t, status in self.real.items()}

    @property
    def passed(self) -> frozenset[str]:
        """Tests that passed, and failed wherever they had to."""
        return frozenset(test for test, status in self.statuses.items() if status == "passed")

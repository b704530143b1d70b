"""What differs per language, behind one Protocol.

Everything above this floor speaks of units, edits and test ids; only ``languages/<name>/`` knows
syntax, test runners and import systems.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from codeenv.languages.changes import Change, Measures, Reduction
from codeenv.languages.runs import (
    CoverageMap,
    Mutant,
    Outcome,
    SplitRun,
    Swap,
    SwapResult,
    TestRequest,
    TestResult,
    TestRun,
)
from codeenv.languages.untrusted import Untrusted
from codeenv.languages.values import (
    ControlKind,
    Controls,
    InstallPlan,
    Layout,
    SymbolDoc,
    TestFacts,
    Unit,
    UnitKind,
)
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.image import ForkServer, Image
from codeenv.tasks.models import Operation
from codeenv.tree import Tree

__all__ = [
    "Change",
    "ControlKind",
    "Controls",
    "CoverageMap",
    "InstallPlan",
    "Language",
    "Layout",
    "Measures",
    "Mutant",
    "Outcome",
    "Reduction",
    "SplitRun",
    "Swap",
    "SwapResult",
    "SymbolDoc",
    "TestFacts",
    "TestRequest",
    "TestResult",
    "TestRun",
    "Unit",
    "UnitKind",
]


class Language(Untrusted, Protocol):
    """One language's knowledge.  All methods are pure except those that take a sandbox."""

    @property
    def name(self) -> str:
        """The name in recipes."""
        ...

    def detect(self, tree: Tree) -> bool:
        """Return whether the tree is a project of this language."""
        ...

    def layout(self, tree: Tree) -> Layout:
        """Find code and tests.

        Raises:
            SourceError: If there is no code, or there are no tests; the message says which.
        """
        ...

    def plan(self, tree: Tree, layout: Layout) -> InstallPlan:
        """Read what the project needs, without running any of it."""
        ...

    def run_tests(self, sandbox: Sandbox, image: Image, request: TestRequest) -> TestRun:
        """Run tests in a box; results come over a private channel, never from terminal output."""
        ...

    def fork_server(self, image: Image) -> ForkServer | None:
        """Return what makes ``run_tests`` faster in the boxes of a host, if anything does."""
        ...

    def try_swaps(
        self, sandbox: Sandbox, image: Image, request: TestRequest, swaps: Sequence[Swap]
    ) -> tuple[SwapResult, ...]:
        """Try functions that raise or return constants, without importing the project again.

        Far cheaper than a run of its own for each, and less exact: it screens, it proves nothing.
        ``request`` gives the deadlines and options.
        """
        ...

    def mutants(
        self,
        tree: Tree,
        symbols: Sequence[tuple[str, str]],
        lines: Mapping[str, frozenset[int]],
        most: int,
    ) -> tuple[Mutant, ...]:
        """Return up to ``most`` small changes of functions, only on ``lines`` (path -> numbers).

        They are chosen by the code alone: the same ones every time.
        """
        ...

    def missing_requirement(self, run: TestRun, layout: Layout | None = None) -> tuple[str, ...]:
        """Return distributions whose absence explains collection errors of a run.

        The packages of ``layout`` are the project's own and never among them.
        """
        ...

    def skipped_for(self, run: TestRun) -> frozenset[str]:
        """Return names of distributions that the reasons of skipped tests may speak of."""
        ...

    def probe_imports(self, sandbox: Sandbox, image: Image, layout: Layout) -> Mapping[str, str]:
        """Return package -> problem for what does not import from inside the workspace."""
        ...

    def units(self, tree: Tree, layout: Layout) -> tuple[Unit, ...]:
        """Return the functions, methods and classes of the source files, in file order."""
        ...

    def modules(self, tree: Tree, layout: Layout) -> Mapping[Unit, tuple[str, ...]]:
        """Return the source files that can be deleted whole, as units.

        With each come the test files that cannot be imported without it.
        """
        ...

    def registered(self, tree: Tree, layout: Layout) -> tuple[Unit, ...]:
        """Return the units that the rest knows by a registration: plug-ins, sub-commands."""
        ...

    def registration(self, tree: Tree, operation: Operation) -> str:
        """Return what an edit takes out of a registry, as it may be told; "" if nothing."""
        ...

    def parameters(self, tree: Tree, layout: Layout) -> tuple[Unit, ...]:
        """Return the parameters with a default that only choose between arms of conditions."""
        ...

    def delete(
        self, tree: Tree, layout: Layout, units: Sequence[Unit], mode: Literal["remove", "stub"]
    ) -> tuple[Operation, ...]:
        """Return the edits that delete units, with imports and exports cleaned.

        Parameters are deleted without other units; the stub of one is still declared and does
        nothing.

        Raises:
            ValueError: If the units cannot be deleted in this mode; the message is the reason.
        """
        ...

    def reduce(self, tree: Tree, layout: Layout, changes: Sequence[Change]) -> Reduction:
        """Return changes, sorted by path and place, as edits that only delete.

        Raises:
            ValueError: If they add anything but a trivial stub, or touch tests or configuration;
                the message says where.
        """
        ...

    def measure(self, tree: Tree, layout: Layout, units: Sequence[Unit]) -> Measures:
        """Return what makes the units hard to write again."""
        ...

    def dangling(self, tree: Tree, layout: Layout, units: Sequence[Unit]) -> str:
        """Return a use of the units in code that stays when they are removed, or "".

        ``tree`` is the pristine one.
        """
        ...

    def hide(
        self, tree: Tree, test_ids: Sequence[str], stable: Sequence[str]
    ) -> tuple[Operation, ...]:
        """Return the edits that take tests out of their files.

        A test function goes only if all its ids in ``stable`` are in ``test_ids``; a test whose
        code cannot be found (doctests in sources, tests made from data) stays visible.  Snapshots
        and data files that only hidden tests read go too; what tests that stay need does not, even
        where they do not name it.  With the damaged tree, imports of names that vanished go from
        the test files too, unless a test that stays waits for them; offsets are the same in the
        pristine tree, since a deletion never touches tests.

        Raises:
            ValueError: If what stays of a test file would not work; the message is the reason.
        """
        ...

    def visible_tests(
        self, pristine: Tree, workspace: Tree, test_ids: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the tests that can still be read in the workspace: what ``hide`` left there."""
        ...

    def describe(self, tree: Tree, unit: Unit) -> SymbolDoc:
        """Return what can be told of a unit."""
        ...

    def identifiers(self, data: bytes) -> frozenset[str]:
        """Return the names used in a source file (empty if it cannot be parsed)."""
        ...

    def literals(self, path: str, data: bytes) -> frozenset[str | complex] | None:
        """Return the texts and numbers that code spells out; None of a file that is no code.

        Comments and docstrings are none.
        """
        ...

    def test_facts(self, tree: Tree, test_ids: Sequence[str]) -> TestFacts:
        """Return what the named tests speak of, for the statement and its lint."""
        ...

    def admissible(self, layout: Layout, path: str) -> bool:
        """Return whether a submission may change ``path``.

        Project code and its data count; tests, their configuration, start-up hooks and packaging
        never do.
        """
        ...

    def readable(self, path: str, data: bytes, known: Sequence[bytes] = ()) -> bool:
        """Return whether a submitted file's code is what its text looks like.

        ``known`` is what the file was before, and with the feature: it may stay as odd as that.
        """
        ...

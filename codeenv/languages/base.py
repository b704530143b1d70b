"""What differs per language, behind one Protocol.

Everything above this floor speaks of units, edits and test ids; only ``languages/<name>/`` knows
syntax, test runners and import systems.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from codeenv.languages.runs import (
    CoverageMap,
    Mutant,
    Outcome,
    Swap,
    SwapResult,
    TestRequest,
    TestResult,
    TestRun,
)
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.image import Image
from codeenv.tasks.models import Operation
from codeenv.tree import Tree

__all__ = [
    "CoverageMap",
    "InstallPlan",
    "Language",
    "Layout",
    "Mutant",
    "Outcome",
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

UnitKind = Literal["function", "method", "class", "parameter"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things are in a repository.

    Attributes:
        import_roots: Folders put on the import path, e.g. ``("src",)`` or ``(".",)``.
        packages: Top-level import names of the project itself.
        source_files: Files of the project's own code, sorted; tests excluded.
        test_files: Test modules, sorted.
        support_files: ``conftest.py``, helpers and data that tests use, test configuration.
    """

    import_roots: tuple[str, ...]
    packages: tuple[str, ...]
    source_files: tuple[str, ...]
    test_files: tuple[str, ...]
    support_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """One function, method or class, or one parameter with the arms that it chooses.

    Attributes:
        path: File, relative to the repository root.
        name: Qualified name in the file (``TimedSerializer.loads``); a parameter's is
            ``TimedSerializer.loads(salt)``.
        kind: What it is.
        start: First line (1-based), decorators and directly preceding comments included.
        body: First line of the body after the docstring.
        end: Last line.
        lines: Line numbers of executable statements of the body (not ``def``, not nested units);
            of a parameter: of the arms that its default does not select.
        parent: Name of the class it is defined in, or "".
        public: Whether it is reachable by public names only.
        protected: Why it must not be deleted (``dunder``, ``overload``, ``property``…), or "".
    """

    path: str
    name: str
    kind: UnitKind
    start: int
    body: int
    end: int
    lines: tuple[int, ...]
    parent: str = ""
    public: bool = True
    protected: str = ""

    @property
    def id(self) -> str:
        """``path::name``, unique together with ``start``."""
        return f"{self.path}::{self.name}"


@dataclass(frozen=True, slots=True)
class SymbolDoc:
    """What may be told of a deleted unit: made from the pristine tree, never stored in a recipe.

    Attributes:
        unit: The unit.
        signature: As a caller sees it, e.g. ``def loads(self, s: str) -> Any``.
        summary: First sentence of the docstring, or "".
        docstring: All of it.
        raises: Exception names the body raises.
        decorators: Decorator source, e.g. ``@property``.
        bases: Base classes, for a class.
        texts: What its string literals hold beside what is filled in; told only where a test
            expects it.
    """

    unit: Unit
    signature: str
    summary: str = ""
    docstring: str = ""
    raises: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What to install so that a repository's tests run; read statically, nothing is executed.

    Attributes:
        name: Distribution name of the project, or "".
        version: Its version, or "0".
        requires_python: Specifier, or "".
        requirements: Requirement strings (PEP 508), the project itself excluded, sorted.
        metadata: File name -> bytes of a ``.dist-info`` folder that stands for the project.
        reasons: Requirement -> file it came from.
    """

    name: str
    version: str
    requires_python: str
    requirements: tuple[str, ...]
    metadata: Mapping[str, bytes] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TestFacts:
    """What tests speak of.

    Attributes:
        names: Identifiers and attributes used, also by helpers, that no test defines.
        messages: Texts that tests expect in exceptions (``match=``, ``str(e) ==``).
        behaviours: One short phrase per test function, from its name and docstring.
        examples: Some calls with their results, in the language, one line each.
        texts: String literals, also of helpers, in the order of the code.
    """

    names: frozenset[str]
    messages: tuple[str, ...]
    behaviours: tuple[str, ...]
    examples: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    __test__ = False


class Language(Protocol):
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

    def probe_imports(self, sandbox: Sandbox, image: Image, layout: Layout) -> Mapping[str, str]:
        """Return package -> problem for what does not import from inside the workspace."""
        ...

    def units(self, tree: Tree, layout: Layout) -> tuple[Unit, ...]:
        """Return the functions, methods and classes of the source files, in file order."""
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
        code cannot be found (doctests in sources, tests made from data) stays visible.  With the
        damaged tree, imports of names that vanished go from the test files too; offsets are the
        same in the pristine tree, since a deletion never touches tests.

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

    def test_facts(self, tree: Tree, test_ids: Sequence[str]) -> TestFacts:
        """Return what the named tests speak of, for the statement and its lint."""
        ...

    def admissible(self, layout: Layout, path: str) -> bool:
        """Return whether a submission may change ``path``.

        Project code and its data count; tests, their configuration, start-up hooks and packaging
        never do.
        """
        ...

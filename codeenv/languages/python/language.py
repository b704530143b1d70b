"""Python, behind the ``Language`` protocol."""

from collections.abc import Mapping, Sequence
from typing import Literal

from codeenv.languages.base import (
    Change,
    ControlKind,
    Controls,
    InstallPlan,
    Layout,
    Measures,
    Mutant,
    Reduction,
    SplitRun,
    Swap,
    SwapResult,
    SymbolDoc,
    TestFacts,
    TestRequest,
    TestRun,
    Unit,
)
from codeenv.languages.python import missing, runner
from codeenv.languages.python.ablation import ablate_tree
from codeenv.languages.python.admissible import is_admissible, is_readable
from codeenv.languages.python.controls import make_controls
from codeenv.languages.python.dangling import find_dangling
from codeenv.languages.python.deletion import delete_units
from codeenv.languages.python.describe import describe_unit, identifiers_of
from codeenv.languages.python.facts import read_facts
from codeenv.languages.python.hiding import hide_tests
from codeenv.languages.python.layout import find_layout
from codeenv.languages.python.measures import measure_units
from codeenv.languages.python.mutants import find_mutants
from codeenv.languages.python.parameters import (
    delete_parameters,
    describe_parameter,
    list_parameters,
)
from codeenv.languages.python.plan import make_plan
from codeenv.languages.python.reduction import reduce_tree
from codeenv.languages.python.registrations import read_registration
from codeenv.languages.python.replaying import call_again, record_calls, target_of
from codeenv.languages.python.seeds import registered_units, whole_modules
from codeenv.languages.python.split import run_split, split_tree
from codeenv.languages.python.swaps import try_swaps
from codeenv.languages.python.texts import literals_of
from codeenv.languages.python.units import list_units
from codeenv.languages.python.variations import vary
from codeenv.languages.python.visible import visible_tests
from codeenv.sandbox.base import Sandbox
from codeenv.sandbox.image import ForkServer, Image
from codeenv.tasks.models import Operation
from codeenv.tree import Delta, Tree


class PythonLanguage:
    """Python repositories tested by pytest."""

    @property
    def name(self) -> str:
        """The name in recipes."""
        return "python"

    def detect(self, tree: Tree) -> bool:
        """Return whether there is any Python source."""
        return any(path.endswith(".py") for path in tree)

    def layout(self, tree: Tree) -> Layout:
        """Find code and tests."""
        return find_layout(tree)

    def plan(self, tree: Tree, layout: Layout) -> InstallPlan:
        """Read what the project needs, without running any of it."""
        return make_plan(tree, layout)

    def run_tests(self, sandbox: Sandbox, image: Image, request: TestRequest) -> TestRun:
        """Run tests with pytest; results come over descriptor 3."""
        return runner.run_tests(sandbox, image, request)

    def fork_server(self, image: Image) -> ForkServer:
        """Return the environment's interpreter with pytest imported."""
        return runner.fork_server(image)

    def try_swaps(
        self, sandbox: Sandbox, image: Image, request: TestRequest, swaps: Sequence[Swap]
    ) -> tuple[SwapResult, ...]:
        """Try functions that raise or return constants in one process that forks for each."""
        return try_swaps(sandbox, image, request, swaps)

    def mutants(
        self,
        tree: Tree,
        symbols: Sequence[tuple[str, str]],
        lines: Mapping[str, frozenset[int]],
        most: int,
    ) -> tuple[Mutant, ...]:
        """Return up to ``most`` small changes of functions, on executed lines."""
        return find_mutants(tree, symbols, lines, most)

    def missing_requirement(self, run: TestRun, layout: Layout | None = None) -> tuple[str, ...]:
        """Return distributions whose absence explains errors of a run."""
        return missing.missing_requirements(run, frozenset(layout.packages if layout else ()))

    def skipped_for(self, run: TestRun) -> frozenset[str]:
        """Return names of distributions that the reasons of skipped tests may speak of."""
        return missing.skipped_for(run)

    def probe_imports(self, sandbox: Sandbox, image: Image, layout: Layout) -> Mapping[str, str]:
        """Return package -> problem for what does not import from inside the workspace."""
        return runner.probe_imports(sandbox, image, layout)

    def units(self, tree: Tree, layout: Layout) -> tuple[Unit, ...]:
        """Return the functions, methods and classes of the source files, in file order."""
        return list_units(tree, layout)

    def modules(self, tree: Tree, layout: Layout) -> Mapping[Unit, tuple[str, ...]]:
        """Return the files that can go whole, with the test files that need each."""
        return whole_modules(tree, layout)

    def registered(self, tree: Tree, layout: Layout) -> tuple[Unit, ...]:
        """Return the units that stand in a registry or have a decorator that registers them."""
        return registered_units(tree, layout)

    def registration(self, tree: Tree, operation: Operation) -> str:
        """Return the entry of a registry that an edit takes out, or ""."""
        return read_registration(tree, operation)

    def parameters(self, tree: Tree, layout: Layout) -> tuple[Unit, ...]:
        """Return the parameters with a default that only choose between arms of conditions."""
        return list_parameters(tree, layout)

    def delete(
        self, tree: Tree, layout: Layout, units: Sequence[Unit], mode: Literal["remove", "stub"]
    ) -> tuple[Operation, ...]:
        """Return the edits that delete units, with imports and exports cleaned."""
        if any(unit.kind == "parameter" for unit in units):
            return delete_parameters(tree, layout, units, mode)
        return delete_units(tree, layout, units, mode)

    def reduce(self, tree: Tree, layout: Layout, changes: Sequence[Change]) -> Reduction:
        """Return changes as edits that only delete."""
        return reduce_tree(tree, layout, changes)

    def measure(self, tree: Tree, layout: Layout, units: Sequence[Unit]) -> Measures:
        """Return what makes the units hard to write again."""
        return measure_units(tree, layout, units)

    def dangling(self, tree: Tree, layout: Layout, units: Sequence[Unit]) -> str:
        """Return a use of the units in code that stays when they are removed, or ""."""
        others = [unit for unit in units if unit.kind != "parameter"]  # refused where it is used
        return find_dangling(tree, layout, others)

    def hide(
        self, tree: Tree, test_ids: Sequence[str], stable: Sequence[str]
    ) -> tuple[Operation, ...]:
        """Return the edits that take tests out of their files."""
        return hide_tests(tree, test_ids, stable)

    def visible_tests(
        self, pristine: Tree, workspace: Tree, test_ids: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the tests that can still be read in the workspace."""
        return visible_tests(pristine, workspace, test_ids)

    def describe(self, tree: Tree, unit: Unit) -> SymbolDoc:
        """Return what can be told of a unit."""
        if unit.kind == "parameter":
            return describe_parameter(tree, unit)
        return describe_unit(tree, unit)

    def identifiers(self, data: bytes) -> frozenset[str]:
        """Return the names used in a source file (empty if it cannot be parsed)."""
        return identifiers_of(data)

    def literals(self, path: str, data: bytes) -> frozenset[str | complex] | None:
        """Return the texts and numbers that code spells out; None of a file that is no code."""
        return literals_of(data) if path.endswith((".py", ".pyi")) else None

    def test_facts(self, tree: Tree, test_ids: Sequence[str]) -> TestFacts:
        """Return what the named tests speak of, for the statement and its lint."""
        return read_facts(tree, test_ids)

    def admissible(self, layout: Layout, path: str) -> bool:
        """Return whether a submission may change ``path``."""
        return is_admissible(layout, path)

    def split(self, tree: Tree, layout: Layout) -> tuple[Tree, Tree]:
        """Return what the tests' box holds, and what the box of the code under test does."""
        return split_tree(tree, layout)

    def run_split(
        self,
        boxes: tuple[Sandbox, Sandbox],
        image: Image,
        request: TestRequest,
        layout: Layout,
        licences: Sequence[str] | None,
    ) -> SplitRun:
        """Run tests in the first box of a pair against the code in the second."""
        return run_split(boxes, image, request, layout, licences)

    def controls(
        self,
        tree: Tree,
        test_ids: Sequence[str],
        kind: ControlKind,
        *,
        stable: Sequence[str] = (),
        variant: int = 0,
        without: Sequence[str] = (),
    ) -> Controls:
        """Return the files of some tests rewritten: negative controls, and what looks like them."""
        return make_controls(
            *(tree, tuple(test_ids), kind),
            stable=tuple(stable),
            variant=variant,
            without=tuple(without),
        )

    def ablate(self, tree: Tree, symbols: Sequence[tuple[str, str]]) -> Delta:
        """Return what takes the bodies out of functions, methods and classes."""
        return ablate_tree(tree, symbols)

    def record_calls(
        self, sandbox: Sandbox, image: Image, request: TestRequest, layout: Layout
    ) -> tuple[str, ...]:
        """Return what tests call of the project's code: scripts that make such calls again."""
        return record_calls(sandbox, image, request, layout)

    def vary(self, script: str, most: int) -> tuple[str, ...]:
        """Return up to ``most`` scripts with other arguments, the same ones every time."""
        return vary(script, most)

    def target_of(self, script: str) -> str:
        """Return what a script asks in the end."""
        return target_of(script)

    def call_again(
        self,
        sandbox: Sandbox,
        image: Image,
        scripts: Sequence[str],
        order: Sequence[int],
        *,
        request: TestRequest,
        strange: bool = False,
        fields: bool = False,
    ) -> Mapping[int, str]:
        """Return what scripts answered, as text, by their places in ``scripts``."""
        return call_again(
            *(sandbox, image, scripts, order), request=request, strange=strange, fields=fields
        )

    def readable(self, path: str, data: bytes, known: Sequence[bytes] = ()) -> bool:
        """Return whether the encoding that a source declares leaves its code what it looks like."""
        return is_readable(path, data, known)

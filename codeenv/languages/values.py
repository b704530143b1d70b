"""What a language finds in a repository: values of ``base``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from codeenv.tree import Delta

UnitKind = Literal["function", "method", "class", "module", "parameter"]
ControlKind = Literal["same", "constants", "negation"]
"""How tests are rewritten: not at all but for their spelling, other expected values, assertions
turned round."""


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
    """One function, method or class, a whole source file, or a parameter with the arms it chooses.

    Attributes:
        path: File, relative to the repository root.
        name: Qualified name in the file (``TimedSerializer.loads``); of a file, its module's; of a
            parameter ``TimedSerializer.loads(salt)``.
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
        numbers: Its number literals, told in the same way.
    """

    unit: Unit
    signature: str
    summary: str = ""
    docstring: str = ""
    raises: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    numbers: tuple[complex, ...] = ()


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
        compiler: Build tool without whose work the project does not run, or "".
        optional: Requirements of all extras: what a missing module may belong to.
    """

    name: str
    version: str
    requires_python: str
    requirements: tuple[str, ...]
    metadata: Mapping[str, bytes] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    compiler: str = ""
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TestFacts:
    """What tests speak of.

    Attributes:
        names: Identifiers and attributes used, also by helpers, that no test defines.
        messages: Texts that tests expect in exceptions (``match=``, ``str(e) ==``).
        behaviours: One short phrase per test function, from its name and docstring.
        examples: Some calls with their results, in the language, one line each.
        texts: String literals, also of helpers and of the tables they read, in the order of the
            code.
        numbers: Number literals, likewise; negative ones as such.
    """

    names: frozenset[str]
    messages: tuple[str, ...]
    behaviours: tuple[str, ...]
    examples: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    numbers: tuple[complex, ...] = ()

    __test__ = False


@dataclass(frozen=True, slots=True)
class Controls:
    """Rewritten test files: the real tests, or tests that no right solution can pass.

    Attributes:
        delta: The files, to be laid over the pristine ones.
        ids: Wanted ids that are rewritten as was asked for; what is not among them has no control
            of that kind.
        names: Wanted id -> its id in the rewritten files, where the two differ: an id must not
            tell the value that is expected.
        raising: Those of ``ids`` that a right solution fails by an exception of its own, since
            another one is expected.
    """

    delta: Delta
    ids: frozenset[str]
    names: Mapping[str, str]
    raising: frozenset[str] = frozenset()

    def name_of(self, test: str) -> str:
        """Return the id of a wanted test in the rewritten files."""
        return self.names.get(test, test)

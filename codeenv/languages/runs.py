"""A run of tests: what is asked for, and what came of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Self

from codeenv.tasks.models import Baseline

Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]


@dataclass(frozen=True, slots=True)
class TestRequest:
    """Which tests to run and how.

    Attributes:
        ids: Exact ids to run, or None for all; unknown ids are reported as missing.
        timeout: Seconds for the whole run.
        test_timeout: Seconds for one test (0: no limit of its own).
        test_timeouts: The same for single tests.
        shuffle_seed: Order to run in: None for the collection order.
        hash_seed: ``PYTHONHASHSEED`` or the like.
        coverage: Whether to record which test executed which line.
        stop_after: Stop after this many failures (0: never).
        options: Extra arguments from the environment's lock.
    """

    ids: tuple[str, ...] | None = None
    timeout: float = 600.0
    test_timeout: float = 0.0
    test_timeouts: Mapping[str, float] = field(default_factory=dict)
    shuffle_seed: int | None = None
    hash_seed: int = 0
    coverage: bool = False
    stop_after: int = 0
    options: tuple[str, ...] = ()

    __test__ = False

    @classmethod
    def graded(cls, baseline: Baseline, ids: Iterable[str]) -> Self:
        """Ask for tests under the deadlines that grading keeps: damaged code may loop for ever."""
        wanted = tuple(ids)
        slow = {
            test: baseline.test_timeouts[test] for test in wanted if test in baseline.test_timeouts
        }
        return cls(wanted, baseline.timeout, baseline.test_timeout, slow)


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test's outcome; anything but ``passed`` is not a pass.

    ``message`` is the last line of the exception (at most 300 characters), ``symbols`` the names
    the exception speaks of or its traceback passed through, for attribution.
    """

    outcome: Outcome
    duration: float = 0.0
    message: str = ""
    symbols: tuple[str, ...] = ()

    __test__ = False


@dataclass(frozen=True, slots=True)
class Mutant:
    """A small change of a function that good tests notice; it is made in memory only.

    Attributes:
        path: File of the function.
        symbol: Its qualified name.
        start: First byte of what is replaced.
        end: Behind its last byte.
        old: What is there.
        new: What it becomes.
        told: For people.
    """

    path: str
    symbol: str
    start: int
    end: int
    old: str
    new: str
    told: str


@dataclass(frozen=True, slots=True)
class Swap:
    """A try: functions whose code is exchanged in a running process.

    Attributes:
        symbols: Path and qualified name of each function.
        tests: Ids to run, the most telling first: of very many, only those see every version.
        mutants: Small changes of the functions, tried one by one.
        lazy: Whether versions that return a constant are tried.
    """

    symbols: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]
    mutants: tuple[Mutant, ...] = ()
    lazy: bool = True


@dataclass(frozen=True, slots=True)
class SwapResult:
    """What came of a try.

    Attributes:
        failing: Tests that pass on their own, and not while the functions raise
            ``NotImplementedError``.
        weak: Of these, the ones that pass while the functions return a constant (or their last
            argument), and what that was.
        untried: Of these, the ones of which that is not known: they are more than is worth a try.
        survivors: Mutants that none of the others notices, for people.
        mutants: How many were tried.
        waits: Whether a test ran out of time while the functions raise.
        problem: Why the try says nothing, or "".
        complete: Whether the process came to it.
    """

    failing: frozenset[str] = frozenset()
    weak: Mapping[str, str] = field(default_factory=dict)
    untried: frozenset[str] = frozenset()
    survivors: tuple[str, ...] = ()
    mutants: int = 0
    waits: bool = False
    problem: str = ""
    complete: bool = True

    @property
    def strong(self) -> frozenset[str]:
        """Tests that need the functions, and tell them from lazy ones."""
        return self.failing - self.weak.keys() - self.untried


@dataclass(frozen=True)
class CoverageMap:
    """Which tests execute which lines.

    Attributes:
        lines: Path -> line -> indices into ``tests``.
        imported: Path -> lines executed outside any test (at import or collection).
        tests: Test ids.
    """

    tests: tuple[str, ...]
    lines: Mapping[str, Mapping[int, frozenset[int]]]
    imported: Mapping[str, frozenset[int]]

    @cached_property
    def executed(self) -> Mapping[str, frozenset[int]]:
        """Path -> lines that any test executes."""
        return {
            path: frozenset(line for line, tests in found.items() if tests)
            for path, found in self.lines.items()
        }

    def running(self, lines: Iterable[tuple[str, int]]) -> frozenset[str]:
        """Return the tests that execute any of some lines, each given with its path."""
        indices = {i for path, line in lines for i in self.lines.get(path, {}).get(line, ())}
        return frozenset(self.tests[index] for index in indices)

    def common(self, other: "CoverageMap") -> "CoverageMap":
        """Return what two runs agree on; ``imported`` is what either saw.

        A thread that outlives its test, or a cache that the first comer fills, is charged to
        whichever test runs at the time; in another order that is another test.
        """
        position = {test: index for index, test in enumerate(self.tests)}
        translate = {i: position[t] for i, t in enumerate(other.tests) if t in position}
        lines = {}
        for path, found in self.lines.items():
            theirs = other.lines.get(path, {})
            lines[path] = {
                line: mine & {translate[i] for i in theirs.get(line, ()) if i in translate}
                for line, mine in found.items()
            }
        imported = {
            path: self.imported.get(path, frozenset()) | other.imported.get(path, frozenset())
            for path in sorted({*self.imported, *other.imported})
        }
        return CoverageMap(self.tests, lines, imported)


@dataclass(frozen=True)
class SplitRun:
    """A run of tests that asked the code under test over a pipe.

    Attributes:
        run: What it reported.
        licences: What objects of the code under test were asked, if that was to be learnt.
        opinionated: Tests that asked them more than for attributes: whether they equal something.
    """

    run: "TestRun"
    licences: tuple[str, ...] = ()
    opinionated: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TestRun:
    """What a run of the test suite reported over the private channel.

    Attributes:
        collected: Ids in collection order; duplicates appear as often as they were collected.
        results: Outcome per id that ran.
        complete: Whether the runner reported its end (no crash, no ``os._exit``, no deadline).
        exit_code: Of the process.
        timed_out: Whether the deadline ended it.
        errors: Path or id -> message, for what could not be collected.
        log: Tail of the terminal output, for people only.
        coverage: If asked for.
        duration: Seconds.
        starved: Whether it ran out of memory.
    """

    collected: tuple[str, ...]
    results: Mapping[str, TestResult]
    complete: bool
    exit_code: int
    timed_out: bool = False
    errors: Mapping[str, str] = field(default_factory=dict)
    log: str = ""
    coverage: CoverageMap | None = None
    duration: float = 0.0
    starved: bool = False

    __test__ = False

    @property
    def messages(self) -> tuple[str, ...]:
        """Why files could not be collected, then what results say."""
        told = (result.message for result in self.results.values() if result.message)
        return (*self.errors.values(), *told)

    @property
    def passed(self) -> frozenset[str]:
        """Ids that passed and were collected exactly once."""
        times = Counter(self.collected)
        good = (i for i, r in self.results.items() if r.outcome == "passed")
        return frozenset(i for i in good if times[i] == 1)

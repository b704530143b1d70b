"""One environment that is tried: what it is made of, and what the tests do in it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from codeenv.images.base import Base
from codeenv.images.built import Built
from codeenv.images.install import Installed, without
from codeenv.images.layers import ENV, compose, store_layer
from codeenv.images.rungs import INSTALLERS, project
from codeenv.images.venv import add_project
from codeenv.languages.base import InstallPlan, Language, Layout, TestRequest, TestRun
from codeenv.sandbox.base import Backend, Limits
from codeenv.sandbox.capacity import available_memory
from codeenv.sandbox.image import Image
from codeenv.tree import Tree

_NO_OWN_OPTIONS = ("-o", "addopts=")
_FAILED = ("failed", "error")
_CLEAN_SHARE = 0.02
_USAGE_ERROR = 4
TEST_TIMEOUT = 120.0
"""Seconds that a test may hang while environments are searched and judged."""


_MIB = 1024**2
_MOST_MEMORY = 8192


def most_memory() -> int:
    """Return the MiB that a box may be given here: half of what is available, and not too much."""
    return min(_MOST_MEMORY, (available_memory() or 0) // (2 * _MIB))


@dataclass(frozen=True)
class Parts:
    """What an environment is made of.

    Attributes:
        base: What it stands on.
        installed: The virtual environment, without the project.
        added: Requirements that a run showed to be missing.
        variables: Environment variables that tests and agents run with.
        services: Servers that every box starts.
        memory: MiB that a box has at least.
    """

    base: Base
    installed: Installed
    added: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    services: tuple[str, ...] = ()
    memory: int = 0


@dataclass(frozen=True)
class Attempt:
    """An environment that was tried."""

    parts: Parts
    image: Image
    run: TestRun
    options: tuple[str, ...] = ()

    @property
    def score(self) -> int:
        """How many tests passed."""
        return len(self.run.passed)

    @property
    def is_clean(self) -> bool:
        """Whether there is no sign that another environment would do better."""
        results = self.run.results.values()
        failed = sum(result.outcome in _FAILED for result in results)
        return (
            self.run.complete
            and not self.run.errors
            and bool(self.run.passed)
            and failed <= _CLEAN_SHARE * len(results)
        )

    @property
    def summary(self) -> str:
        """The outcomes, for people."""
        run = self.run
        counts = Counter(result.outcome for result in run.results.values())
        told = [f"{counts[outcome]} {outcome}" for outcome in sorted(counts)]
        first = next((f"{where}: {why}" for where, why in run.errors.items()), "")
        told += [f"{len(run.errors)} not collected ({first[:200]})"] if run.errors else []
        told += ["out of time"] if run.timed_out else []
        return ", ".join(told) or f"nothing ran (exit code {run.exit_code})"


@dataclass(frozen=True)
class Tester:
    """Runs a repository's tests in environments.

    Attributes:
        tree: The repository.
        layout: Where things are in it.
        plan: What it asks for.
        language: Runs its tests.
        backend: Where.
        built: Modules of the repository that only a build makes.
    """

    tree: Tree
    layout: Layout
    plan: InstallPlan
    language: Language
    backend: Backend
    built: Built | None = None

    def attempt(self, parts: Parts, ids: tuple[str, ...] | None = None) -> Attempt:
        """Run all tests, or some, with more memory if they run out of it and that helps."""
        best = last = self._attempt(parts, ids)
        memory = max(parts.memory, Limits().memory // _MIB)
        while last.run.starved and not last.is_clean and (memory := 2 * memory) <= most_memory():
            last = self._attempt(replace(parts, memory=memory), ids)
            best = max(best, last, key=lambda attempt: attempt.score)
        return best

    def _attempt(self, parts: Parts, ids: tuple[str, ...] | None) -> Attempt:
        """Run tests; without own options, if only these stop the runner."""
        tree = add_project(parts.installed.tree, self.plan, self.layout.import_roots, self.built)
        layers = (store_layer(tree, ENV),)
        image = compose(parts.base, layers, parts.variables, parts.services, parts.memory)
        run = self._run(image, (), ids)
        if run.exit_code == _USAGE_ERROR and not run.results:
            again = self._run(image, _NO_OWN_OPTIONS, ids)
            if again.passed and not self.missing(run):
                return Attempt(parts, image, again, _NO_OWN_OPTIONS)
        return Attempt(parts, image, run)

    def helps(self, parts: Parts, attempt: Attempt) -> bool:
        """Return whether a test that does not pass in an attempt may pass with other parts.

        These tests alone are run, and files that could not be collected are looked at.  Of a suite
        that did not end in time nothing is known, and nobody waits for it again.
        """
        run = attempt.run
        if not run.complete:
            return not run.timed_out
        others = tuple(dict.fromkeys(id_ for id_ in run.collected if id_ not in run.passed))
        files = tuple(f"{path}::" for path in run.errors)
        if not others and not files:
            return False
        other = self.attempt(parts, (*others, *files)).run
        return len(other.errors) < len(run.errors) or bool(other.passed - run.passed)

    def without_own(self, installed: Installed, asked: Iterable[str]) -> Installed:
        """Return what is installed without the project, and installers that nobody asked for."""
        own = project(self.plan.name)
        return without(installed, {own, *(INSTALLERS - set(map(project, asked)))})

    def missing(self, run: TestRun) -> tuple[str, ...]:
        """Return the distributions whose absence explains errors of a run."""
        return self.language.missing_requirement(run, self.layout)

    def wanted(self, run: TestRun) -> tuple[str, ...]:
        """Return the optional requirements that reasons of skipped tests name."""
        named = self.language.skipped_for(run) - INSTALLERS
        return tuple(text for text in self.plan.optional if project(text) in named)

    def _run(self, image: Image, options: tuple[str, ...], ids: tuple[str, ...] | None) -> TestRun:
        request = TestRequest(ids, test_timeout=TEST_TIMEOUT, options=options)
        with self.backend.open(image, self.tree, role="build") as box:
            return self.language.run_tests(box, image, request)

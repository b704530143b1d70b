"""Finding an environment that a repository's tests run in: versions of pytest, missing modules."""

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from codeenv.images.base import Base
from codeenv.images.built import Built
from codeenv.images.install import Installed, Installer, InstallFailed, culprits, without
from codeenv.images.layers import ENV, compose, store_layer
from codeenv.images.rungs import INSTALLERS, Rung, loosen, project, rungs_of
from codeenv.images.venv import add_project
from codeenv.languages.base import InstallPlan, Language, Layout, TestRequest, TestRun
from codeenv.sandbox.base import Backend
from codeenv.sandbox.image import Image
from codeenv.tree import Tree

Log = Callable[[str], None]
_ROUNDS = 8
_NO_OWN_OPTIONS = ("-o", "addopts=")
_FAILED = ("failed", "error")
_CLEAN_SHARE = 0.02
_USAGE_ERROR = 4


@dataclass(frozen=True)
class Attempt:
    """One environment that was tried, and what the tests did in it."""

    added: tuple[str, ...]
    """Requirements that a run showed to be missing."""
    installed: Installed
    image: Image
    run: TestRun
    options: tuple[str, ...] = ()

    @property
    def score(self) -> int:
        """How many tests passed."""
        return len(self.run.passed)

    @property
    def is_clean(self) -> bool:
        """Whether there is no sign that another rung would do better."""
        results = self.run.results.values()
        failed = sum(result.outcome in _FAILED for result in results)
        return (
            self.run.complete
            and not self.run.errors
            and bool(self.run.passed)
            and failed <= _CLEAN_SHARE * len(results)
        )


@dataclass(frozen=True)
class Climber:
    """Tries one rung after the other.

    Attributes:
        tree: The repository.
        layout: Where things are in it.
        plan: What it asks for.
        base: What environments stand on.
        language: Runs its tests.
        backend: Where.
        installer: Installs.
        log: Told what happens, for people.
        built: Modules of the repository that only a build makes.
    """

    tree: Tree
    layout: Layout
    plan: InstallPlan
    base: Base
    language: Language
    backend: Backend
    installer: Installer
    log: Log
    built: Built | None = None

    def climb(self) -> Attempt | None:
        """Return the attempt in which most tests passed; the first clean one ends the search."""
        best: Attempt | None = None
        added: tuple[str, ...] = ()
        for rung in rungs_of(self.plan.requirements, self.base.python):
            attempt = self._rung(Rung(rung.runner, (*rung.others, *added)), forgiving=best is None)
            if attempt is None:
                continue
            added = tuple(dict.fromkeys((*added, *attempt.added)))
            self.log(f"{rung.runner}: {_summary(attempt.run)}")
            if best is None or attempt.score > best.score:
                best = attempt
            if attempt.is_clean:
                break
        return best

    def _rung(self, rung: Rung, *, forgiving: bool) -> Attempt | None:
        """Install and run, adding what the run says is missing, until nothing new is."""
        attempt: Attempt | None = None
        wanted, tried = [rung.runner, *rung.others], list[str]()
        for _ in range(_ROUNDS):
            found = self._install(wanted, forgiving=forgiving or attempt is not None)
            if found is None:
                return attempt
            wanted, installed = found
            added = tuple(r for r in tried if r in wanted)
            installed = without(
                installed, {project(self.plan.name), *INSTALLERS} - set(map(project, added))
            )
            attempt = self._try(added, installed)
            known = {project(r) for r in (*wanted, *tried)} | {p.name for p in installed.packages}
            known |= {project(self.plan.name)}
            missing = self.language.missing_requirement(attempt.run, self.layout)
            new = sorted({m for m in missing if project(m) not in known})
            if not new:
                return attempt
            self.log(f"missing: {', '.join(new)}")
            tried += new
            wanted += new
        return attempt

    def _install(
        self, requirements: Sequence[str], *, forgiving: bool
    ) -> tuple[list[str], Installed] | None:
        """Install; if ``forgiving``, loosen or leave out what pip cannot get."""
        wanted = list(requirements)
        while True:
            try:
                return wanted, self.installer.install(wanted)
            except InstallFailed as error:
                if not forgiving:
                    self.log(f"{wanted[0]}: {error.message}")
                    return None
                if len(wanted) == 1:
                    raise
                guilty = culprits(error.log, wanted[1:]) or set(wanted[1:])
                wanted = self._without(wanted, guilty)

    def _without(self, wanted: Sequence[str], guilty: AbstractSet[str]) -> list[str]:
        """Return requirements with the guilty ones unpinned, or gone if they have no pin."""
        loosened = {r: loosen(r) for r in guilty}
        gone = sorted(r for r in guilty if loosened[r] == r)
        self.log(f"cannot be installed as asked: {', '.join(sorted(guilty))}")
        return [loosened.get(r, r) for r in wanted if r not in gone]

    def _try(self, added: tuple[str, ...], installed: Installed) -> Attempt:
        roots = self.layout.import_roots
        tree = add_project(installed.tree, self.plan, roots, self.built)
        image = compose(self.base, (store_layer(tree, ENV),), {})
        attempt = Attempt(added, installed, image, self._run(image, ()))
        if attempt.run.exit_code == _USAGE_ERROR and not attempt.run.results:
            again = self._run(image, _NO_OWN_OPTIONS)
            if again.passed and not self.language.missing_requirement(attempt.run, self.layout):
                return replace(attempt, run=again, options=_NO_OWN_OPTIONS)
        return attempt

    def _run(self, image: Image, options: tuple[str, ...]) -> TestRun:
        with self.backend.open(image, self.tree, role="build") as box:
            return self.language.run_tests(box, image, TestRequest(options=options))


def _summary(run: TestRun) -> str:
    counts = Counter(result.outcome for result in run.results.values())
    told = [f"{counts[outcome]} {outcome}" for outcome in sorted(counts)]
    first = next((f"{where}: {why}" for where, why in run.errors.items()), "")
    told += [f"{len(run.errors)} not collected ({first[:200]})"] if run.errors else []
    return ", ".join(told) or f"nothing ran (exit code {run.exit_code})"

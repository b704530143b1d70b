"""Finding an environment that a repository's tests run in: the ladder, and repairs on each rung."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from codeenv.errors import BuildError, SandboxError
from codeenv.images.allowed import is_package
from codeenv.images.attempts import Attempt, Parts, Tester
from codeenv.images.base import Base, extended_base
from codeenv.images.install import Installed, Installer, InstallFailed, culprits
from codeenv.images.own import own_packages, system_copy
from codeenv.images.rungs import Rung, as_stated, loosen, project, rungs_of
from codeenv.images.services import packages_of_services, servers_missing
from codeenv.images.system import system_packages

Log = Callable[[str], None]
_ROUNDS = 8


@dataclass(frozen=True)
class Hints:
    """What a repository's files say beside its requirements: tried where tests do not pass.

    Attributes:
        packages: Debian packages.
        variables: Environment variables.
        services: Servers.
    """

    packages: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    services: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """The variables, for people."""
        return " ".join(f"{name}={value}" for name, value in self.variables.items())


class Climber:
    """Tries one rung after the other.

    Attributes:
        tester: Runs the tests.
        installer: Installs.
        hints: What is tried where no rung is clean.
        log: Told what happens, for people.
    """

    def __init__(self, tester: Tester, installer: Installer, hints: Hints, log: Log) -> None:
        self.tester, self.installer, self.hints, self.log = tester, installer, hints, log
        self._base = installer.base
        self._asked_for: set[str] = set()
        self._own = own_packages(tester.plan, tester.layout)

    def climb(self) -> Attempt | None:
        """Return the attempt in which most tests passed; the first clean one ends the search."""
        best: Attempt | None = None
        added: tuple[str, ...] = ()
        for rung in rungs_of(self.tester.plan.requirements, self._base.python):
            wanted = Rung(rung.runner, (*rung.others, *added))
            attempt = self._rung(wanted, best)
            if attempt is None:
                continue
            added = tuple(dict.fromkeys((*added, *attempt.parts.added)))
            self.log(f"{rung.runner}: {attempt.summary}")
            if best is None or attempt.score > best.score:
                best = attempt
            if attempt.is_clean or attempt.run.timed_out:
                break
        return best and self._hinted(best)

    def _rung(self, rung: Rung, best: Attempt | None) -> Attempt | None:
        """Install and run, adding what the run says is missing, until nothing new is."""
        forgiving = best is None
        attempt: Attempt | None = None
        base = self._base
        wanted, tried = [rung.runner, *rung.others], list[str]()
        for _ in range(_ROUNDS):
            found = self._install(wanted, forgiving=forgiving or attempt is not None)
            if found is None:
                break
            wanted, installed = found
            added = tuple(r for r in tried if r in wanted)
            installed = self.tester.without_own(installed, added)
            parts = Parts(base, installed, added)
            if best and not attempt and not self.tester.helps(parts, best):
                self.log(f"{rung.runner}: no more tests pass")
                break
            attempt = self.tester.attempt(parts)
            new = self._missing(attempt, (*wanted, *tried))
            before, base = base, self._equipped(base, attempt)
            if not new and base == before:
                break
            tried += new
            wanted += new
        return attempt and self._lightened(attempt)

    def _missing(self, attempt: Attempt, asked: Iterable[str]) -> list[str]:
        """Return the requirements that a run misses and nobody asked for yet."""
        known = {project(r) for r in asked} | {p.name for p in attempt.parts.installed.packages}
        known |= {project(self.tester.plan.name), ""}
        optional = self.tester.plan.optional
        missing = {as_stated(name, optional) for name in self.tester.missing(attempt.run)}
        missing.update(self.tester.wanted(attempt.run))
        new = sorted({m for m in missing if project(m) not in known})
        if new:
            self.log(f"missing: {', '.join(new)}")
        return new

    def _equipped(self, base: Base, attempt: Attempt) -> Base:
        """Return the base with what a run lacked in the system."""
        reasons = system_packages(attempt.run)
        new = self._unasked(reasons)
        if not new:
            return base
        self.log(f"missing in the system: {', '.join(new)} ({reasons[new[0]]})")
        return self._extended(base, new)

    def _lightened(self, attempt: Attempt) -> Attempt:
        """Return the attempt without the packages that were added to its base if they help none."""
        if attempt.parts.base == self._base:
            return attempt
        bare = self.tester.attempt(replace(attempt.parts, base=self._base))
        self.log(f"with more packages: {attempt.summary}; without: {bare.summary}")
        if bare.score >= attempt.score:
            return bare
        self._base = attempt.parts.base
        return attempt

    def _unasked(self, packages: Iterable[str]) -> list[str]:
        """Return the packages that were not asked for before; the project itself is none."""
        new = sorted({p for p in packages if is_package(p)} - self._asked_for - self._own)
        self._asked_for.update(new)
        return new

    def _extended(self, base: Base, packages: Sequence[str]) -> Base:
        """Return the base with more packages, or as it is if that cannot or must not be made."""
        try:
            made = extended_base(base, packages)
        except BuildError as error:
            self.log(f"{', '.join(packages)} cannot be had: {error.message}")
            return base
        twin = system_copy(made, self.tester.layout.packages)
        if twin:
            self.log(f"{', '.join(packages)} would bring the project itself ({twin})")
            return base
        return made

    def _better(self, attempt: Attempt, parts: Parts, what: str) -> Attempt:
        """Return what comes of other parts, if more tests pass with them."""
        if parts == attempt.parts:
            return attempt
        try:
            if not self.tester.helps(parts, attempt):
                self.log(f"with {what}: no more tests pass")
                return attempt
            other = self.tester.attempt(parts)
        except SandboxError as error:
            self.log(f"with {what}: {error.message}")
            return attempt
        self.log(f"with {what}: {other.summary}")
        return other if other.score > attempt.score else attempt

    def _hinted(self, best: Attempt) -> Attempt:
        """Try what the repository's files do for their tests beside requirements."""
        if not best.is_clean:
            parts = replace(best.parts, variables=self.hints.variables)
            best = self._better(best, parts, self.hints.told)
        if not best.is_clean:
            best = self._served(best)
        packages = [] if best.is_clean else self._unasked(self.hints.packages)
        if packages:
            self.log(f"the repository's files install {', '.join(packages)}")
            base = self._extended(best.parts.base, packages)
            best = self._better(best, replace(best.parts, base=base), "these")
        return best

    def _served(self, best: Attempt) -> Attempt:
        """Return the attempt beside the servers that tests miss, if more tests pass there.

        Servers are often of no use without the variables that say where they are.
        """
        named = {service.split(" ")[0]: service for service in self.hints.services}
        missed = servers_missing(best.run)
        wanted = tuple(named.get(server, server) for server in sorted({*missed, *named}))
        base = self._extended(best.parts.base, packages_of_services(wanted)) if wanted else None
        if base is None or base == best.parts.base:
            return best
        parts = replace(best.parts, base=base, services=wanted)
        what = f"servers ({', '.join(wanted)})"
        served = self._better(best, parts, what)
        if not served.is_clean and self.hints.variables:
            both = replace(parts, variables=self.hints.variables)
            served = self._better(served, both, f"{what}, {self.hints.told}")
        return served

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

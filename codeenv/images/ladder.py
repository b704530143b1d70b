"""Finding an environment that a repository's tests run in: the ladder, and repairs on each rung."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from codeenv.errors import BuildError, SandboxError
from codeenv.images.attempts import Attempt, Parts, Tester
from codeenv.images.base import Base, extended_base
from codeenv.images.install import Installed, Installer, InstallFailed, culprits, without
from codeenv.images.rungs import INSTALLERS, Rung, loosen, project, rungs_of
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

    def climb(self) -> Attempt | None:
        """Return the attempt in which most tests passed; the first clean one ends the search."""
        best: Attempt | None = None
        added: tuple[str, ...] = ()
        for rung in rungs_of(self.tester.plan.requirements, self._base.python):
            wanted = Rung(rung.runner, (*rung.others, *added))
            attempt = self._rung(wanted, forgiving=best is None)
            if attempt is None:
                continue
            added = tuple(dict.fromkeys((*added, *attempt.parts.added)))
            self.log(f"{rung.runner}: {attempt.summary}")
            if best is None or attempt.score > best.score:
                best = attempt
            if attempt.is_clean or attempt.run.timed_out:
                break
        return best and self._hinted(best)

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
            installed = self._cleaned(installed, added)
            attempt = self._equipped(self.tester.attempt(Parts(self._base, installed, added)))
            known = {project(r) for r in (*wanted, *tried)} | {p.name for p in installed.packages}
            known |= {project(self.tester.plan.name)}
            missing = self.tester.missing(attempt.run)
            new = sorted({m for m in missing if project(m) not in known})
            if not new:
                return attempt
            self.log(f"missing: {', '.join(new)}")
            tried += new
            wanted += new
        return attempt

    def _cleaned(self, installed: Installed, added: Iterable[str]) -> Installed:
        own = project(self.tester.plan.name)
        return without(installed, {own, *INSTALLERS} - set(map(project, added)))

    def _equipped(self, attempt: Attempt) -> Attempt:
        """Return the attempt on a base that has what its run lacked, if more tests pass there."""
        reasons = system_packages(attempt.run)
        new = sorted(reasons.keys() - self._asked_for)
        if not new:
            return attempt
        self.log(f"missing in the system: {', '.join(new)} ({reasons[new[0]]})")
        better = self._on_more(attempt, new)
        self._base = better.parts.base
        return better

    def _on_more(self, attempt: Attempt, packages: Sequence[str]) -> Attempt:
        """Return the attempt on a base with more packages, if more tests pass there."""
        self._asked_for.update(packages)
        before = attempt.parts.base
        base = self._extended(before, packages)
        if base == before:
            return attempt
        return self._better(attempt, replace(attempt.parts, base=base), "more packages")

    def _extended(self, base: Base, packages: Sequence[str]) -> Base:
        try:
            return extended_base(base, packages)
        except BuildError as error:
            self.log(f"{', '.join(packages)} cannot be had: {error.message}")
            return base

    def _better(self, attempt: Attempt, parts: Parts, what: str) -> Attempt:
        other = self.tester.attempt(parts)
        self.log(f"with {what}: {other.summary}")
        return other if other.score > attempt.score else attempt

    def _hinted(self, best: Attempt) -> Attempt:
        """Try what the repository's files do for their tests beside requirements."""
        if not best.is_clean and self.hints.variables:
            told = " ".join(f"{name}={value}" for name, value in self.hints.variables.items())
            best = self._better(best, replace(best.parts, variables=self.hints.variables), told)
        if not best.is_clean:
            best = self._served(best)
        packages = [p for p in self.hints.packages if p not in self._asked_for]
        if not best.is_clean and packages:
            self.log(f"the repository's files install {', '.join(packages)}")
            best = self._on_more(best, packages)
        return best

    def _served(self, best: Attempt) -> Attempt:
        """Return the attempt beside the servers that tests miss, if more tests pass there."""
        named = {service.split(" ")[0]: service for service in self.hints.services}
        missed = servers_missing(best.run)
        wanted = tuple(named.get(server, server) for server in sorted({*missed, *named}))
        if not wanted:
            return best
        base = self._extended(best.parts.base, packages_of_services(wanted))
        parts = replace(best.parts, base=base, services=wanted)
        try:
            return self._better(best, parts, f"servers ({', '.join(wanted)})")
        except SandboxError as error:
            self.log(f"{', '.join(wanted)}: {error.message}")
            return best

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

"""The bench of a planner: a shell in build boxes, installations, and the tests after each."""

from collections.abc import Sequence
from dataclasses import asdict

from codeenv.errors import BuildError, SandboxError
from codeenv.images.allowed import packages_in
from codeenv.images.attempts import Attempt, Parts, Tester
from codeenv.images.base import extended_base
from codeenv.images.causes import causes_of
from codeenv.images.install import Installer, InstallFailed
from codeenv.images.layers import ENV
from codeenv.images.own import system_copy
from codeenv.images.planners.base import Brief, Install, Planner, Run
from codeenv.images.planning.facts import Check
from codeenv.images.planning.plan import EnvironmentPlan
from codeenv.images.services import packages_of_services
from codeenv.images.verdict import run_check
from codeenv.tree import Entry, Tree

MOST_ACTIONS = 40
_SAID = 8000
_SHELL = f"""\
cp -R env/. {ENV}/ 2> /dev/null || true
cp -R src own
mkdir -p bin pip
/usr/bin/python3 -m zipfile -e pip-*.whl pip
printf '#!/bin/sh\\nexec python3 /build/pip/pip "$@"\\n' > bin/pip
chmod +x bin/pip
export PATH={ENV}/bin:/build/bin:$PATH
cd own
code=0
bash /build/command.sh < /dev/null || code=$?
rm -rf {ENV}/* {ENV}/.[!.]*  # nobody reads it
exit $code
"""


class Workshop:
    """Does what a planner decides, and keeps the attempt in which most tests passed.

    Attributes:
        tester: Runs the tests.
        installer: Installs.
        checks: The ones that a planner may see.
        best: The best attempt so far.
    """

    def __init__(
        self, tester: Tester, installer: Installer, checks: Sequence[Check], best: Attempt | None
    ) -> None:
        self.tester, self.installer, self.checks, self.best = tester, installer, checks, best
        self._last = best
        self._left = MOST_ACTIONS

    def act(self, action: Run | Install) -> dict[str, object]:
        """Do it, and return what came of it, as JSON values."""
        if not self._left:
            return {"problem": f"{MOST_ACTIONS} actions are enough: only done is left"}
        self._left -= 1
        try:
            if isinstance(action, Run):
                self.installer.log(f"planner runs: {action.command[:200]}")
                return self._run(action.command)
            told = ", ".join((*action.requirements, *action.packages, *action.variables))
            self.installer.log(f"planner installs: {told[:400]}")
            return self._install(action)
        except (BuildError, SandboxError) as error:
            output = error.log if isinstance(error, InstallFailed) else error.hint
            return {"installed": False, "problem": error.message, "output": output[-_SAID:]}

    def _run(self, command: str) -> dict[str, object]:
        env = self._last.parts.installed.tree if self._last else Tree({})
        base = self._last.parts.base if self._last else self.installer.base
        inputs = Tree({
            **{f"env/{path}": entry for path, entry in env.items()},
            **{f"src/{path}": entry for path, entry in self.tester.tree.items()},
            **self.installer.pip,
            "command.sh": Entry(command.encode("utf-8", "replace")),
        })  # fmt: skip
        result = self.installer.attempt(base, _SHELL, inputs, ENV)
        return {"exit_code": result.exit_code, "output": result.log[-_SAID:]}

    def _install(self, action: Install) -> dict[str, object]:
        packages = (*action.packages, *packages_of_services(action.services))
        base = extended_base(self.installer.base, packages)
        if twin := system_copy(base, self.tester.layout.packages):
            raise BuildError(f"these packages would bring the project itself ({twin})")
        installed = self.installer.install(action.requirements)
        installed = self.tester.without_own(installed, action.requirements)
        parts = Parts(base, installed, variables=action.variables, services=action.services)
        attempt = self.tester.attempt(parts)
        self.installer.log(f"planner: {attempt.summary}")
        self._last = attempt
        if self.best is None or attempt.score > self.best.score:
            self.best = attempt
        return {**describe(attempt), "checks": [self._check(attempt, c) for c in self.checks]}

    def _check(self, attempt: Attempt, check: Check) -> dict[str, object]:
        result = run_check(self.tester.backend, attempt.image, self.tester.tree, check)
        return {"command": check.command, "holds": result.holds, "said": result.said}


def improve(
    planner: Planner, plan: EnvironmentPlan, workshop: Workshop, log: Sequence[str]
) -> Attempt | None:
    """Let a planner go on from where the rules ended, and return the best attempt.

    Raises:
        BuildError: If the planner fails, and there is nothing to go on with.
    """
    install = plan.install
    facts = {
        part: [f"{fact.value} ({fact.place})" for fact in getattr(plan, part)]
        for part in ("pythons", "apt", "variables", "services", "tests")
    }
    told = [f"{r} ({install.reasons.get(r, '')})" for r in install.requirements]
    brief = Brief(
        project=f"{install.name} {install.version}".strip(),
        python=workshop.installer.base.python,
        facts={"requirements": told, **facts},
        checks=[{"command": c.command, "why": c.why, "from": str(c.place)} for c in plan.shown],
        log=log,
        state=describe(workshop.best) if workshop.best else {"installed": False},
    )
    try:
        planner.plan(brief, workshop)
    except BuildError as error:
        if workshop.best is None:
            raise
        workshop.installer.log(f"the planner failed: {error.message}")
    return workshop.best


def describe(attempt: Attempt) -> dict[str, object]:
    """Return an attempt as JSON values."""
    parts = attempt.parts
    return {
        "installed": True,
        "requirements": [f"{p.name}=={p.version}" for p in parts.installed.packages],
        "packages": list(packages_in(parts.base.name)),
        "variables": dict(parts.variables),
        "services": list(parts.services),
        "passed": attempt.score,
        "collected": len(attempt.run.collected),
        "summary": attempt.summary,
        "causes": [asdict(cause) for cause in causes_of(attempt.run)],
        "output": attempt.run.log[-_SAID:],
    }

"""From a repository to an environment its tests run in, and its lock."""

import hashlib
import json
import platform
from collections.abc import Callable

from codeenv._paths import cache_folder
from codeenv.errors import BuildError
from codeenv.images.allowed import is_variable
from codeenv.images.attempts import Attempt, Tester
from codeenv.images.base import Base, ensure_base
from codeenv.images.built import Built, published
from codeenv.images.compiled import compile_project, may_compile
from codeenv.images.install import Installer, InstallFailed
from codeenv.images.ladder import Climber, Hints
from codeenv.images.layers import Environment
from codeenv.images.locking import locked
from codeenv.images.planners.base import Planner
from codeenv.images.planners.workshop import Workshop, improve
from codeenv.images.planning.plan import EnvironmentPlan, make_environment_plan
from codeenv.images.records import passed_of, recall, remember
from codeenv.languages.base import InstallPlan, Language, Layout
from codeenv.sandbox.base import Backend
from codeenv.tasks.models import EnvironmentLock, SourcePin
from codeenv.tree import Tree

_VERSION = 8
"""Raised when the way environments are made changes, so that cached ones are made again."""


class NotBuilt(BuildError):
    """Raised when a repository gets no environment; ``reason`` is one word."""

    def __init__(self, message: str, *, hint: str = "", reason: str = "") -> None:
        """Keep the reason beside the message."""
        super().__init__(message, hint=hint)
        self.reason = reason


def _silent(message: str) -> None:
    """Tell nobody."""


def build_environment(
    tree: Tree,
    language: Language,
    layout: Layout,
    backend: Backend,
    *,
    pin: SourcePin | None = None,
    planner: Planner | None = None,
    log: Callable[[str], None] = _silent,
) -> Environment:
    """Find out what a repository's tests need, install it, and lock it; cached by content.

    Tries the repository's own pin of pytest, then the newest, then older ones, and keeps the
    environment in which most tests pass.  The repository's code runs in boxes without network
    only, its own and its dependencies' build code in build boxes only.  Modules that only a build
    makes are taken from the wheel of a published version, else built.  A planner goes on where
    these rules end; with one, what the cache has is made anew, and kept if it is better.

    Raises:
        BuildError: If nothing can be installed, no test passes in any environment, or the project
            must be compiled and cannot be.
    """
    base = ensure_base()
    plan = make_environment_plan(tree, language, layout)
    install = plan.install
    key = _key(tree, install, layout, language, base, pin)
    with locked(cache_folder("environments"), key):
        cached = recall(key, base)
        if cached is not None and planner is None:
            return cached
        installer = Installer(base, backend, log=log)
        built = _built(pin, tree, install, layout, installer)
        tester = Tester(tree, layout, install, language, backend, built)
        best = _search(tester, installer, plan, planner)
        if best is None or not best.score:
            raise _nothing_passes(best, layout)
        if cached is not None and passed_of(key) > best.score:
            log(f"the environment that was there is kept: {passed_of(key)} tests pass in it")
            return cached
        made = Environment(_lock(best, install, layout, built), best.image)
        remember(key, made, best.score)
        return made


def _key(
    tree: Tree,
    plan: InstallPlan,
    layout: Layout,
    language: Language,
    base: Base,
    pin: SourcePin | None,
) -> str:
    facts = [_VERSION, tree.digest, plan.requirements, layout.import_roots, language.name]
    wheel = f"{pin.location} {pin.version}" if pin and pin.kind == "pypi" else ""
    return hashlib.sha256(json.dumps([*facts, base.digest, wheel]).encode()).hexdigest()


def _built(
    pin: SourcePin | None, tree: Tree, plan: InstallPlan, layout: Layout, installer: Installer
) -> Built | None:
    """Return the modules that only a build makes: published ones, else built here."""
    python = installer.base.python
    built = published(pin, tree, layout.import_roots, python, installer.client)
    if built:
        installer.log(f"{len(built.modules)} modules that a build makes, from the wheel")
    elif plan.compiler or may_compile(tree):
        try:
            built = compile_project(installer, tree, plan, layout.import_roots)
        except InstallFailed as error:
            if plan.compiler:
                raise _cannot_be_compiled(plan, error) from error
            installer.log(f"the project's extensions cannot be built: {error.message}")
        if built:
            installer.log(f"{len(built.modules)} modules that a build makes, built here")
    return built


def _search(
    tester: Tester, installer: Installer, plan: EnvironmentPlan, planner: Planner | None
) -> Attempt | None:
    """Return the best attempt of the rules, then of the planner."""
    said, tell = list[str](), installer.log

    def log(text: str) -> None:
        said.append(text)
        tell(text)

    stated = [fact.value.partition("=") for fact in plan.variables]
    variables = {name: value for name, _, value in stated if is_variable(name, value)}
    hints = Hints(tuple(fact.value for fact in plan.apt), variables, plan.servers)
    best = Climber(tester, installer, hints, log).climb()
    if planner is None:
        return best
    return improve(planner, plan, Workshop(tester, installer, plan.shown, best), said)


def _lock(best: Attempt, plan: InstallPlan, layout: Layout, built: Built | None) -> EnvironmentLock:
    own = (built.package,) if built else ()
    parts = best.parts
    return EnvironmentLock(
        base=parts.base.name,
        python=parts.base.python,
        platform=platform.machine(),
        packages=tuple(sorted((*parts.installed.packages, *own), key=lambda p: p.name)),
        import_roots=layout.import_roots,
        metadata=(f"{plan.name}=={plan.version}",) if plan.name else (),
        variables=dict(parts.variables),
        services=parts.services,
        memory=parts.memory,
        test_options=best.options,
    )


def _cannot_be_compiled(plan: InstallPlan, error: InstallFailed) -> NotBuilt:
    return NotBuilt(
        f"this project must be compiled ({plan.compiler}) before its tests can run, and its build "
        f"fails: {error.message}",
        hint="name a published version that has a wheel for this machine (pypi:NAME==VERSION)\n"
        f"{error.hint}",
        reason="compile",
    )


def _nothing_passes(best: Attempt | None, layout: Layout) -> NotBuilt:
    if best is None:
        return NotBuilt("no environment for the tests could be installed", reason="install")
    if not best.run.collected and not best.run.errors and best.run.complete:
        return NotBuilt(
            f"pytest finds no test here, although there seem to be some in {layout.test_files[0]}",
            hint="let its configuration in the repository say where they are: "
            "testpaths, python_files, python_classes and python_functions",
            reason="no_tests",
        )
    reasons = [f"{where}: {why}" for where, why in best.run.errors.items()]
    detail = (reasons or [r.message for r in best.run.results.values() if r.message] or ["?"])[0]
    return NotBuilt(
        f"no test passes in any environment that was tried; first problem: {detail[:300]}",
        hint=best.run.log[-2000:],
        reason="nothing_passes",
    )

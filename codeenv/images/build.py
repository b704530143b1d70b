"""From a repository to an environment its tests run in, and from a lock to the same again."""

import hashlib
import json
import platform
from collections.abc import Callable

from codeenv._paths import cache_folder
from codeenv.errors import BuildError
from codeenv.images.base import Base, ensure_base
from codeenv.images.bundled import is_bundled, restore_bundled
from codeenv.images.install import Installer
from codeenv.images.ladder import Attempt, Climber
from codeenv.images.layers import ENV, Environment, compose, store_layer
from codeenv.images.locking import locked
from codeenv.images.records import recall, recall_by_lock, remember
from codeenv.images.venv import add_project
from codeenv.languages import detect_language
from codeenv.languages.base import InstallPlan, Language, Layout
from codeenv.sandbox.base import Backend
from codeenv.sources import fetch
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import EnvironmentLock, SourcePin
from codeenv.tree import Tree

_VERSION = 2
"""Raised when the way environments are made changes, so that cached ones are made again."""


def _silent(message: str) -> None:
    """Tell nobody."""


def build_environment(
    tree: Tree,
    language: Language,
    layout: Layout,
    backend: Backend,
    *,
    log: Callable[[str], None] = _silent,
) -> Environment:
    """Find out what a repository's tests need, install it, and lock it; cached by content.

    Tries the repository's own pin of pytest, then the newest, then older ones, and keeps the
    environment in which most tests pass.  The repository's code runs in boxes without network
    only, its dependencies' build code in build boxes only.

    Raises:
        BuildError: If nothing can be installed, or no test passes in any environment.
    """
    base = ensure_base()
    plan = language.plan(tree, layout)
    key = _key(tree, plan, layout, language, base)
    with locked(cache_folder("environments"), key):
        cached = recall(key, base)
        if cached is not None:
            return cached
        climber = Climber(
            tree, layout, plan, base, language, backend, Installer(base, backend), log
        )
        best = climber.climb()
        if best is None or not best.score:
            raise _nothing_passes(best, layout)
        made = Environment(_lock(best, plan, layout, base), best.image)
        remember(key, made)
        return made


def restore_environment(
    lock: EnvironmentLock, backend: Backend, *, pin: SourcePin | None = None
) -> Environment:
    """Return an environment with exactly the locked packages: from the cache, else installed.

    Args:
        lock: What to restore.
        backend: Where to install.
        pin: The repository; gives the project's own metadata, if the cache has no copy.

    Raises:
        BuildError: If the lock is for another kind of machine, or its packages cannot be had.
    """
    if is_bundled(lock):
        return restore_bundled(lock, backend)
    if lock.platform != platform.machine():
        raise BuildError(
            f"the environment is locked for {lock.platform}, this machine is {platform.machine()}"
        )
    base = ensure_base("registry" if lock.base.startswith("registry") else "debian")
    name = f"{digest_of(lock)}-{base.digest[:16]}"
    with locked(cache_folder("environments"), name):
        cached = recall_by_lock(lock, base)
        if cached is not None:
            return cached
        made = _restore(lock, base, backend, pin)
        remember(name, made)
        return made


def _restore(
    lock: EnvironmentLock, base: Base, backend: Backend, pin: SourcePin | None
) -> Environment:
    if lock.python.rsplit(".", 1)[0] != base.python.rsplit(".", 1)[0]:
        raise BuildError(
            f"the environment is locked for Python {lock.python}, the base has {base.python}"
        )
    installed = Installer(base, backend).restore(lock.packages)
    if installed.packages != lock.packages:
        raise BuildError("the restored packages are not those of the lock")
    tree = add_project(installed.tree, _plan_of(lock, pin), lock.import_roots)
    layer = store_layer(tree, ENV)
    return Environment(lock, compose(base, (layer,), lock.variables))


def _plan_of(lock: EnvironmentLock, pin: SourcePin | None) -> InstallPlan:
    """Return the project's metadata: read from its source, else name and version alone."""
    if pin is not None:
        tree = fetch(pin).tree
        language = detect_language(tree)
        return language.plan(tree, language.layout(tree))
    name, _, version = next(iter(lock.metadata), "").partition("==")
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    return InstallPlan(name, version, "", (), {"METADATA": metadata} if name else {})


def _key(tree: Tree, plan: InstallPlan, layout: Layout, language: Language, base: Base) -> str:
    facts = [_VERSION, tree.digest, plan.requirements, layout.import_roots, language.name]
    return hashlib.sha256(json.dumps([*facts, base.digest]).encode()).hexdigest()


def _lock(best: Attempt, plan: InstallPlan, layout: Layout, base: Base) -> EnvironmentLock:
    return EnvironmentLock(
        base=base.name,
        python=base.python,
        platform=platform.machine(),
        packages=best.installed.packages,
        import_roots=layout.import_roots,
        metadata=(f"{plan.name}=={plan.version}",) if plan.name else (),
        test_options=best.options,
    )


def _nothing_passes(best: Attempt | None, layout: Layout) -> BuildError:
    if best is None:
        return BuildError("no environment for the tests could be installed")
    if not best.run.collected and not best.run.errors and best.run.complete:
        return BuildError(
            f"pytest finds no test here, although there seem to be some in {layout.test_files[0]}",
            hint="let its configuration in the repository say where they are: "
            "testpaths, python_files, python_classes and python_functions",
        )
    reasons = [f"{where}: {why}" for where, why in best.run.errors.items()]
    detail = (reasons or [r.message for r in best.run.results.values() if r.message] or ["?"])[0]
    return BuildError(
        f"no test passes in any environment that was tried; first problem: {detail[:300]}",
        hint=best.run.log[-2000:],
    )

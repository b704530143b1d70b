"""From the lock of an environment to the same environment again."""

import platform

from packaging.utils import canonicalize_name

from codeenv._paths import cache_folder
from codeenv.errors import BuildError
from codeenv.images.base import Base, named_base
from codeenv.images.built import Built, published
from codeenv.images.bundled import is_bundled, restore_bundled
from codeenv.images.compiled import compile_project
from codeenv.images.install import Installer
from codeenv.images.layers import ENV, Environment, compose, store_layer
from codeenv.images.locking import locked
from codeenv.images.records import recall_by_lock, remember
from codeenv.images.venv import add_project
from codeenv.languages import detect_language
from codeenv.languages.base import InstallPlan
from codeenv.sandbox.base import Backend
from codeenv.sources import fetch
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import EnvironmentLock, LockedPackage, SourcePin
from codeenv.tree import Tree


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
    base = named_base(lock.base)
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
    installer = Installer(base, backend)
    own = _own_wheel(lock)
    others = tuple(package for package in lock.packages if package != own)
    installed = installer.restore(others)
    if installed.packages != others:
        raise BuildError("the restored packages are not those of the lock")
    source = fetch(pin).tree if pin else None
    built = _built_again(own, lock, pin, source, installer) if own else None
    tree = add_project(installed.tree, _plan_of(lock, source), lock.import_roots, built)
    layer = store_layer(tree, ENV)
    return Environment(lock, compose(base, (layer,), lock.variables, lock.services, lock.memory))


def _own_wheel(lock: EnvironmentLock) -> LockedPackage | None:
    """Return the project's own wheel, of which only what a build makes is taken."""
    name = canonicalize_name(next(iter(lock.metadata), "").partition("==")[0])
    return next((package for package in lock.packages if package.name == name), None)


def _built_again(
    own: LockedPackage,
    lock: EnvironmentLock,
    pin: SourcePin | None,
    source: Tree | None,
    installer: Installer,
) -> Built:
    """Return the modules of the project's locked wheel."""
    if source is None:
        raise BuildError("the environment has modules of the project's wheel: its source is needed")
    if not own.sha256:
        plan = _plan_of(lock, source)
        built = compile_project(installer, source, plan, lock.import_roots)
    else:
        built = published(pin, source, lock.import_roots, lock.python, installer.client)
    if built is None or built.package != own:
        raise BuildError(f"the wheel of {own.name} {own.version} is not the locked one any more")
    return built


def _plan_of(lock: EnvironmentLock, source: Tree | None) -> InstallPlan:
    """Return the project's metadata: read from its source, else name and version alone."""
    if source is not None:
        language = detect_language(source)
        return language.plan(source, language.layout(source))
    name, _, version = next(iter(lock.metadata), "").partition("==")
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    return InstallPlan(name, version, "", (), {"METADATA": metadata} if name else {})

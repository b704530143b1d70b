"""The environments of bundled repositories: made offline, from what codeenv came with.

pytest and what it needs are copied from codeenv's own installation into a virtual environment that
is written by hand, so no network, no pip and no build is needed.  They are pure Python, so they
also work on a base with another Python than codeenv's own.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import Distribution

from codeenv.errors import BuildError
from codeenv.images.base import Base, cached_base, ensure_base
from codeenv.images.layers import ENV, Environment, compose, store_layer
from codeenv.images.records import recall, remember
from codeenv.images.venv import add_project
from codeenv.images.wheels import installed_closure, installed_files, locked, with_bytecode
from codeenv.languages import detect_language
from codeenv.languages.base import InstallPlan
from codeenv.sandbox.base import Backend
from codeenv.sources import checkout
from codeenv.sources.bundled import bundled_names, bundled_tree
from codeenv.tasks.models import EnvironmentLock
from codeenv.tree import Entry, Tree

_VERSION = 1
_SCRIPT = f"""\
#!{ENV}/bin/python
import sys

from pytest import console_main

sys.exit(console_main())
"""
_PYVENV = "home = {home}\ninclude-system-site-packages = false\nversion = {version}\n"


def bundled_environment(backend: Backend, name: str = "toy") -> Environment:
    """Return the environment of a bundled repository, for a backend.

    Bubblewrap and local use this machine's own Python; Docker needs a base image, which is made if
    the cache has none (the only case that needs a network).

    Raises:
        BuildError: If pytest is not installed beside codeenv, or Docker has no base.
    """
    base = _base_for(backend)
    source = checkout(f"bundled:{name}")
    distributions = installed_closure("pytest")
    facts = [_VERSION, base.digest, source.pin.tree, [str(locked(d)) for d in distributions]]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    cached = recall(key, base)
    if cached is None:
        cached = _make(base, source.tree, distributions)
        remember(key, cached)
    return cached


def _make(base: Base, tree: Tree, distributions: Sequence[Distribution]) -> Environment:
    language = detect_language(tree)
    layout = language.layout(tree)
    plan = language.plan(tree, layout)
    files = {path: e for d in distributions for path, e in installed_files(d).items()}
    venv = add_project(_venv(base, files), plan, layout.import_roots)
    if base.python.rsplit(".", 1)[0] == "{}.{}".format(*sys.version_info):
        venv = with_bytecode(venv, ENV)
    lock = EnvironmentLock(
        base=base.name,
        python=base.python,
        platform="any",
        packages=tuple(locked(d) for d in distributions),
        import_roots=layout.import_roots,
        metadata=(_named(plan),),
    )
    return Environment(lock, compose(base, (store_layer(venv, ENV),), {}))


def is_bundled(lock: EnvironmentLock) -> bool:
    """Return whether a lock is that of a bundled environment: copied, so without hashes."""
    return bool(lock.packages) and not any(package.sha256 for package in lock.packages)


def restore_bundled(lock: EnvironmentLock, backend: Backend) -> Environment:
    """Return the bundled environment under the lock a recipe names.

    What is copied cannot be pinned to archives, so versions may differ from the lock's.

    Raises:
        BuildError: If no bundled repository is the project that the lock names.
    """
    for name in bundled_names():
        if lock.metadata == (_project(name),):
            return Environment(lock, bundled_environment(backend, name).image)
    raise BuildError(f"no bundled repository is {', '.join(lock.metadata) or 'without a name'}")


@lru_cache(maxsize=64)
def _project(name: str) -> str:
    """Return what a lock calls a bundled repository."""
    tree = bundled_tree(name)
    language = detect_language(tree)
    return _named(language.plan(tree, language.layout(tree)))


def _named(plan: InstallPlan) -> str:
    return f"{plan.name}=={plan.version}"


def _base_for(backend: Backend) -> Base:
    if backend.name != "docker":
        return ensure_base("host")
    try:
        return cached_base() or ensure_base()
    except BuildError as error:
        raise BuildError(
            f"Docker needs a base image even for the bundled repository: {error.message}",
            hint=f"{error.hint}; or use --backend bubblewrap, which needs none",
        ) from error


def _venv(base: Base, files: dict[str, Entry]) -> Tree:
    """Return a virtual environment without pip, with ``files`` in its ``site-packages``."""
    version = base.python.rsplit(".", 1)[0]
    home = base.interpreter.rsplit("/", 1)[0]
    python = Entry(b"python", "link")
    return Tree(
        {
            "pyvenv.cfg": Entry(_PYVENV.format(home=home, version=base.python).encode()),
            "bin/python": Entry(base.interpreter.encode(), "link"),
            "bin/python3": python,
            f"bin/python{version}": python,
            "bin/pytest": Entry(_SCRIPT.encode(), "exec"),
            **{f"lib/python{version}/site-packages/{path}": e for path, e in files.items()},
        }
    )

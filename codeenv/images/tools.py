"""Tools that only the generator needs in a box, apart from the environment agents see."""

from importlib.metadata import PackageNotFoundError, distribution

from codeenv.errors import BuildError, CodeEnvError
from codeenv.images.layers import TOOLS, Environment
from codeenv.images.wheels import installed_files, unpack_wheel, wheel_for
from codeenv.sandbox.base import Backend
from codeenv.sandbox.image import Mount
from codeenv.sources.index import IndexClient
from codeenv.tree import Tree

_COVERAGE = "coverage"


def coverage_layer(environment: Environment, backend: Backend) -> Mount:
    """Return ``coverage`` for the environment's Python, to be mounted at ``/opt/tools``.

    The copy installed beside codeenv is used if it fits, else a wheel from the package index.

    Raises:
        BuildError: If neither can be had.
    """
    del backend  # the same files for every backend
    python = environment.lock.python
    return Mount(TOOLS, _installed(python) or _downloaded(python))


def _installed(python: str) -> Tree | None:
    """Return our own copy, if it has the C tracer for that Python."""
    try:
        found = distribution(_COVERAGE)
    except PackageNotFoundError:
        return None
    tree = installed_files(found, pure=False)
    tag = f".cpython-{''.join(python.split('.')[:2])}-"
    return tree if any(p.endswith(".so") and tag in p for p in tree) else None


def _downloaded(python: str) -> Tree:
    try:
        client = IndexClient()
        return unpack_wheel(client, wheel_for(client, _COVERAGE, python))
    except CodeEnvError as error:
        raise BuildError(
            f"coverage cannot be had for Python {python}: {error.message}", hint=error.hint
        ) from error

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

    The copy installed beside codeenv is used if it fits, else a wheel from the package index, else
    (no network) the installed copy's tracer in Python, which is slower.

    Raises:
        BuildError: If none can be had.
    """
    del backend  # the same files for every backend
    python = environment.lock.python
    own = _installed()
    if _has_c_tracer(own, python):
        return Mount(TOOLS, own)
    try:
        return Mount(TOOLS, _downloaded(python))
    except CodeEnvError as error:
        if not own:
            raise BuildError(
                f"coverage cannot be had for Python {python}: {error.message}", hint=error.hint
            ) from error
        return Mount(TOOLS, Tree({p: e for p, e in own.items() if not p.endswith(".so")}))


def _installed() -> Tree:
    """Return our own copy, or nothing."""
    try:
        return installed_files(distribution(_COVERAGE), pure=False)
    except PackageNotFoundError:
        return Tree({})


def _has_c_tracer(tree: Tree, python: str) -> bool:
    tag = f".cpython-{''.join(python.split('.')[:2])}-"
    return any(path.endswith(".so") and tag in path for path in tree)


def _downloaded(python: str) -> Tree:
    client = IndexClient()
    return unpack_wheel(client, wheel_for(client, _COVERAGE, python))

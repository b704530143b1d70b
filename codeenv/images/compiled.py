"""Modules that only a build makes, of a project that has published no wheel of them: built here.

The build runs in a build box, where it may reach the network and nothing of this machine; of the
wheel that comes out only what the repository lacks is kept, as of a published one.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.utils import canonicalize_name

from codeenv.errors import SourceError
from codeenv.images.built import Built, read_wheel
from codeenv.images.install import PIP_OPTIONS, STEADY, UNPACK_PIP, Installer, InstallFailed
from codeenv.images.layers import ENV
from codeenv.images.wheels import unpack_file
from codeenv.languages.base import InstallPlan
from codeenv.tasks.models import LockedPackage
from codeenv.tree import Tree

_SOURCES = re.compile(r"\.(c|cc|cpp|cxx|pyx|pxd|f90|rs)$")
_MANIFESTS = ("setup.py", "setup.cfg", "pyproject.toml")
_BUILDS = re.compile(rb"ext[_-]modules|\bExtension\(|cffi_modules|rust_extensions|cythonize")
_SCRIPT = f"""\
{STEADY}
export SETUPTOOLS_SCM_PRETEND_VERSION={{version}} PBR_VERSION={{version}}
/usr/bin/python3 -m venv --without-pip /build/venv
{UNPACK_PIP}
cp -R src own
/build/venv/bin/python /build/pip/pip wheel {PIP_OPTIONS} --no-deps -w {ENV} /build/own
"""


def may_compile(tree: Tree) -> bool:
    """Return whether build files speak of compiled modules, and their sources are there."""
    told = any(_BUILDS.search(tree[path].data) for path in _MANIFESTS if path in tree)
    return told and any(_SOURCES.search(path) for path in tree)


def compile_project(
    installer: Installer, tree: Tree, plan: InstallPlan, roots: tuple[str, ...]
) -> Built | None:
    """Build a repository's wheel and return the modules that it adds, if it adds any.

    Raises:
        InstallFailed: If it cannot be built.
    """
    inputs = Tree({**installer.pip, **{f"src/{path}": entry for path, entry in tree.items()}})
    version = re.sub(r"[^\w.+!-]", "", plan.version)
    output = installer.run(_SCRIPT.format(version=version), inputs, ENV)
    package = LockedPackage(name=canonicalize_name(plan.name or "project"), version=plan.version)
    return read_wheel(package, _unpacked(output), tree, roots)


def _unpacked(output: Tree) -> Tree:
    name = next((path for path in output if path.endswith(".whl") and "/" not in path), "")
    if not name:
        raise InstallFailed("the project's build made no wheel")
    with TemporaryDirectory() as folder:
        file = Path(folder, "project.whl")
        file.write_bytes(output[name].data)
        try:
            return unpack_file(file, name)
        except SourceError as error:
            raise InstallFailed(f"the project's wheel is none: {error.message}") from error

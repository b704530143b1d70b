"""Modules that only a build makes, taken from the wheel that the project itself has published.

Compiled extensions and files that a build generates are not in a repository.  They are put into the
environment, beside the repository and not in it: agents can neither change nor delete them.  What
the repository has as a Python file is never taken, also where the wheel has it compiled: tests must
run the repository's code.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from codeenv.errors import SourceError
from codeenv.images.wheels import unpack_wheel, wheel_for
from codeenv.sources.index import IndexClient
from codeenv.tasks.models import LockedPackage, SourcePin
from codeenv.tree import Entry, Tree

_FOLDER = "_codeenv_built"
_START = b"import _codeenv_built; _codeenv_built.install()\n"


@dataclass(frozen=True)
class Built:
    """What a wheel adds to a repository.

    Attributes:
        package: The wheel.
        files: Its files that the repository lacks and imports may ask for, as in the wheel.
        modules: Module -> file.
    """

    package: LockedPackage
    files: Tree
    modules: Mapping[str, str]

    def site_files(self) -> Mapping[str, Entry]:
        """Return what is put into ``site-packages``."""
        finder = (resources.files("codeenv.guest") / "built_modules.py").read_bytes()
        table = json.dumps(dict(sorted(self.modules.items())), indent=1)
        own = {"__init__.py": Entry(finder), "modules.json": Entry(table.encode())}
        inside = {**own, **self.files}
        started = {"_codeenv_built.pth": Entry(_START)}
        return started | {f"{_FOLDER}/{path}": entry for path, entry in inside.items()}


def published(
    pin: SourcePin | None, tree: Tree, roots: tuple[str, ...], python: str, client: IndexClient
) -> Built | None:
    """Return what the wheel of exactly this version adds, if there is one for this machine.

    A pure-Python wheel adds nothing.

    Raises:
        SourceError: If the index, or the wheel that it has, cannot be had.
    """
    if pin is None or pin.kind != "pypi":
        return None
    client.archives(pin.location)
    try:
        wheel = wheel_for(client, pin.location, python, Version(pin.version))
    except SourceError:
        return None
    if all(tag.platform == "any" for tag in parse_wheel_filename(wheel.filename)[3]):
        return None
    _, sha256 = client.get(wheel)
    name = canonicalize_name(pin.location)
    package = LockedPackage(name=name, version=str(wheel.version), sha256=sha256)
    return read_wheel(package, unpack_wheel(client, wheel), tree, roots)


def read_wheel(
    package: LockedPackage, wheel: Tree, tree: Tree, roots: tuple[str, ...]
) -> Built | None:
    """Return the modules of a wheel that a repository does not have as Python files."""
    modules = dict(_modules(wheel, tree, roots))
    kept = {path: wheel[path] for path in modules.values()}
    kept |= {path: entry for path, entry in wheel.items() if path.split("/")[0].endswith(".libs")}
    return Built(package, Tree(kept), modules) if modules else None


def _modules(wheel: Tree, tree: Tree, roots: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for path in wheel:
        folder, _, file = path.rpartition("/")
        stem, _, ending = file.partition(".")
        if folder.endswith(".dist-info") or not (ending == "py" or ending.endswith("so")):
            continue
        place = folder if stem == "__init__" else f"{folder}/{stem}".lstrip("/")
        own = (f"{root}/{place}".removeprefix("./") for root in roots)
        if not any(f"{p}.py" in tree or f"{p}/__init__.py" in tree for p in own):
            yield place.replace("/", "."), path

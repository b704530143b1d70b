"""Layers and environments in the cache: folders named by the digest of what they hold."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from codeenv._paths import cache_folder
from codeenv.images.allowed import demand_variables
from codeenv.images.base import Base
from codeenv.images.services import startup
from codeenv.sandbox.image import Image, Layer
from codeenv.sources.folder import write_folder
from codeenv.tasks.digest import digest_of
from codeenv.tasks.models import EnvironmentLock
from codeenv.tree import Tree

ENV = "/opt/env"
TOOLS = "/opt/tools"
_VARIABLES = {
    "PATH": f"{ENV}/bin:/usr/local/bin:/usr/bin:/bin",
    "VIRTUAL_ENV": ENV,
    "LANG": "C.UTF-8",
}
_MTIME = 1_577_836_800  # of every file in a layer


@dataclass(frozen=True)
class Environment:
    """What tests and agents run in: its lock, and the image that realises it here."""

    lock: EnvironmentLock
    image: Image

    @property
    def digest(self) -> str:
        """Digest of the lock, as recipes name it."""
        return digest_of(self.lock)


def store_layer(tree: Tree, target: str) -> Layer:
    """Write a tree into the cache, unless it is there, and return it as a layer.

    Files get fixed times and modes, so the same tree is the same folder on every machine.
    """
    digest = tree.digest
    folder = cache_folder("layers")
    place = folder / digest
    if not place.is_dir():
        with TemporaryDirectory(dir=folder, prefix=".new-") as work:
            made = Path(work, "layer")
            made.mkdir()
            _write(tree, made)
            try:
                made.rename(place)
            except OSError:
                if not place.is_dir():  # else someone else was faster
                    raise
    _mark(place)
    return Layer(digest, place, target)


def load_layer(digest: str, target: str) -> Layer | None:
    """Return a layer of the cache, or None."""
    place = cache_folder("layers") / digest
    if not place.is_dir():
        return None
    _mark(place)
    return Layer(digest, place, target)


def _mark(place: Path) -> None:
    """Mark a layer as used now, for ``images prune``."""
    with suppress(OSError):  # a shared cache may belong to someone else
        os.utime(place)


def compose(
    base: Base,
    layers: Sequence[Layer],
    variables: Mapping[str, str],
    services: Sequence[str] = (),
    memory: int = 0,
) -> Image:
    """Return an image of a base and layers, the environment's interpreter first on its path.

    Args:
        base: What it stands on.
        layers: On top of it.
        variables: Of every command.
        services: Servers that every box starts.
        memory: MiB that a box has at least.

    Raises:
        BuildError: If a service is unknown, or a variable may not be set.
    """
    demand_variables(variables)
    merged = {**_VARIABLES, **variables}
    script = startup(services)
    facts: dict[str, object] = {
        "base": base.digest,
        "layers": [(layer.target, layer.digest) for layer in layers],
        "variables": merged,
    }
    facts |= {"startup": script} if script else {}
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    python = f"{ENV}/bin/python"
    room = memory * 1024**2
    return Image(digest, base.digest, base.rootfs, tuple(layers), merged, python, script, room)


def _write(tree: Tree, folder: Path) -> None:
    write_folder(folder, tree)
    for below in (folder, *folder.rglob("*")):
        if below.is_dir() and not below.is_symlink():
            below.chmod(0o755)
        os.utime(below, (_MTIME, _MTIME), follow_symlinks=False)

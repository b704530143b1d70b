"""Base root file systems: Python, git and tools, without any installer; made once, then cached."""

import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from codeenv._paths import cache_folder, data_folder
from codeenv.errors import BackendUnavailable, BuildError
from codeenv.images import debian, registry
from codeenv.images.allowed import demand_packages, packages_in
from codeenv.images.debian import UnknownPackages
from codeenv.images.locking import locked
from codeenv.images.rootfs import clean_tar, digest_of_base, packages_of, python_of, unpack_tar
from codeenv.sandbox.image import Image

Kind = Literal["auto", "debian", "registry", "host"]
_FACTS = "base.json"
_ROOM = 1024**3


@dataclass(frozen=True)
class Base:
    """A root file system that environments stand on.

    Attributes:
        name: What an ``EnvironmentLock`` calls it, e.g. ``debian:trixie``.
        digest: Names its packages and how it was made.
        rootfs: Folder on this machine; ``/`` for the host itself.
        tar: The same as a tar, for Docker; None for the host.
        python: Full version of its interpreter.
    """

    name: str
    digest: str
    rootfs: Path
    tar: Path | None
    python: str

    @property
    def image(self) -> Image:
        """The base alone, as an image that installations start from."""
        return Image(self.digest, self.digest, self.rootfs, ())

    @property
    def interpreter(self) -> str:
        """Absolute path of the interpreter in a box."""
        return "/usr/bin/python3" if self.tar else host_interpreter()


@dataclass(frozen=True)
class _Maker:
    """How one kind of base is made: its source, more packages, and what writes its tar."""

    source: str
    write_tar: Callable[[Path, Sequence[str]], None]
    packages: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What a lock calls the base: ``debian:trixie``, or ``debian:trixie+graphviz,libgl1``."""
        return "+".join(filter(None, (self.source, ",".join(self.packages))))

    @property
    def key(self) -> str:
        """Folder name in the cache; changes when our own scripts change."""
        recipe = hashlib.sha256(f"{self.name} {platform.machine()} {_recipe()}".encode())
        return f"{self.source.replace(':', '-').replace('/', '-')}-{recipe.hexdigest()[:12]}"


def ensure_base(kind: Kind = "auto", packages: Sequence[str] = ()) -> Base:
    """Return a base, making it if the cache has none.

    Args:
        kind: ``auto`` is ``debian`` where it is cached or mmdebstrap is installed, else
            ``registry`` where a Docker daemon answers.  ``host`` is this machine's own system, for
            offline use.
        packages: Debian packages that the base has beside the usual ones.

    Raises:
        UnknownPackages: If the distribution does not have all of the packages.
        BuildError: If it cannot be made; the hint says what is missing.
    """
    if kind == "host":
        return _host_base()
    maker = _MAKERS[_choose() if kind == "auto" else kind]
    maker = replace(maker, packages=demand_packages(packages))
    return _load(maker) or _make(maker)


def named_base(name: str) -> Base:
    """Return the base that a lock names, as ``ensure_base`` does."""
    return ensure_base(_kind_of(name), packages_in(name))


def extended_base(base: Base, packages: Iterable[str]) -> Base:
    """Return a base with more packages, as far as its distribution has them."""
    wanted = {*packages_in(base.name), *packages}
    while True:
        try:
            return ensure_base(_kind_of(base.name), sorted(wanted))
        except UnknownPackages as error:
            if wanted.isdisjoint(error.names):
                raise
            wanted -= set(error.names)


def _kind_of(name: str) -> Kind:
    kind = name.partition("+")[0].partition(":")[0]
    return "registry" if kind == "registry" else "host" if kind == "host" else "debian"


def cached_base() -> Base | None:
    """Return a base that needs no making, or None (never the host)."""
    return next((base for maker in _MAKERS.values() if (base := _load(maker))), None)


def _choose() -> Literal["debian", "registry"]:
    if _load(_MAKERS["debian"]) or shutil.which("mmdebstrap"):
        return "debian"
    if _load(_MAKERS["registry"]) or registry.docker_answers():
        return "registry"
    raise BuildError(
        "there is nothing to make a base image with",
        hint="install mmdebstrap (apt-get install mmdebstrap), or start Docker",
    )


def _make(maker: _Maker) -> Base:
    folder = cache_folder("bases")
    with locked(folder, maker.key):
        made = _load(maker)
        if made is not None:
            return made
        if shutil.disk_usage(folder).free < _ROOM:
            raise BuildError(
                f"less than 1 GiB is free where the cache is ({folder})",
                hint="free some disk, or set CODEENV_CACHE",
            )
        with TemporaryDirectory(dir=folder, prefix=".new-", ignore_cleanup_errors=True) as work:
            _fill(maker, Path(work))
            Path(work, "done").rename(folder / maker.key)
    base = _load(maker)
    if base is None:
        raise BuildError(f"the base {maker.name} was made, but cannot be read back")
    return base


def _fill(maker: _Maker, work: Path) -> None:
    done = work / "done"
    done.mkdir()
    try:
        maker.write_tar(work / "raw.tar", maker.packages)
        clean_tar(work / "raw.tar", done / "rootfs.tar")
        unpack_tar(done / "rootfs.tar", done / "rootfs")
    except OSError as error:
        raise BuildError(
            f"the base {maker.name} cannot be stored: {error.strerror or error}",
            hint=f"is there room in {work.parent}?",
        ) from error
    python = python_of(done / "rootfs")
    digest = digest_of_base(maker.name, _recipe(), packages_of(done / "rootfs"), python)
    facts = {"name": maker.name, "digest": digest, "python": python}
    (done / _FACTS).write_text(json.dumps(facts))
    done.chmod(0o755)


def _load(maker: _Maker) -> Base | None:
    folder = cache_folder("bases") / maker.key
    if not (folder / _FACTS).is_file():
        return None
    facts = json.loads((folder / _FACTS).read_text())
    with suppress(OSError):  # a shared cache may belong to someone else
        os.utime(folder)  # for ``images prune``
    rootfs, tar = folder / "rootfs", folder / "rootfs.tar"
    return Base(facts["name"], facts["digest"], rootfs, tar, facts["python"])


def _host_base() -> Base:
    if sys.platform != "linux":
        raise BackendUnavailable("the host base needs Linux", hint="use the docker backend")
    python = platform.python_version()
    facts = f"host {platform.machine()} {python} {host_interpreter()}"
    return Base("host", hashlib.sha256(facts.encode()).hexdigest(), Path("/"), None, python)


def host_interpreter() -> str:
    """Return the real path of the interpreter codeenv runs with, not a virtual one."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def _recipe() -> str:
    """Return a hash of our own scripts that make bases."""
    total = hashlib.sha256()
    for name in ("bootstrap-debian.sh", "finish-base.sh", "base.Dockerfile"):
        total.update((data_folder("docker") / name).read_bytes())
    return total.hexdigest()


_MAKERS = {
    "debian": _Maker(f"debian:{debian.SUITE}", debian.write_tar),
    "registry": _Maker(f"registry:{registry.SOURCE}", registry.write_tar),
}

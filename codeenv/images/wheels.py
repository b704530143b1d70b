"""Wheels and installed distributions as trees: put together on the host, and never run there."""

import importlib.util
import re
import warnings
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from marshal import dumps
from pathlib import Path

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from codeenv.errors import BuildError, SourceError
from codeenv.sources.archive import unpack
from codeenv.sources.index import Archive, IndexClient
from codeenv.tasks.models import LockedPackage
from codeenv.tree import Entry, Tree


def wheel_for(
    client: IndexClient, name: str, python: str, version: Version | None = None
) -> Archive:
    """Return a wheel of a project for a Python version on this machine's platform.

    Args:
        client: The indexes.
        name: Of the project.
        python: Version of the interpreter.
        version: Of the project; the newest final one, if it is not given.

    Raises:
        SourceError: If the index has none.
    """
    ranks = {tag: rank for rank, tag in enumerate(_tags(python))}
    fitting = []
    for archive in client.archives(name):
        final = not archive.yanked and not archive.version.is_prerelease
        wanted = archive.version == version if version else final
        if archive.kind == "wheel" and wanted:
            tags = parse_wheel_filename(archive.filename)[3]
            rank = min((ranks[tag] for tag in tags if tag in ranks), default=None)
            if rank is not None:
                fitting.append((archive.version, -rank, archive))
    if not fitting:
        raise SourceError(f"no package index has a wheel of {name} for Python {python}")
    return max(fitting, key=lambda item: item[:2])[2]


def unpack_wheel(client: IndexClient, archive: Archive) -> Tree:
    """Return a wheel's files as they lie in ``site-packages`` (wheels with scripts not needed)."""
    path, _ = client.get(archive)
    return unpack_file(path, archive.filename)


def unpack_file(path: Path, name: str) -> Tree:
    """Return the files of a wheel on this machine as they lie in ``site-packages``."""
    tree = unpack(path, name=name, strip=False)
    return Tree({p: e for p, e in tree.items() if ".data/" not in p})


def _tags(python: str) -> Iterator[Tag]:
    major, minor = (int(part) for part in python.split(".")[:2])
    yield from cpython_tags((major, minor))
    yield from compatible_tags((major, minor), interpreter=f"cp{major}{minor}")


def installed_closure(*names: str) -> tuple[Distribution, ...]:
    """Return distributions installed beside codeenv with all they need, sorted by name.

    Raises:
        BuildError: If one is missing.
    """
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError as error:
            raise BuildError(
                f"{name} is not installed beside codeenv", hint=f"pip install {name}"
            ) from error
        needs = (Requirement(text) for text in found[name].requires or ())
        waiting += [r.name for r in needs if r.marker is None or r.marker.evaluate({"extra": ""})]
    return tuple(found[name] for name in sorted(found))


def installed_files(dist: Distribution, *, pure: bool = True) -> Tree:
    """Return an installed distribution's files, relative to ``site-packages``, without bytecode.

    Raises:
        BuildError: If its files are not listed, or ``pure`` is asked for and it has compiled ones.
    """
    if not dist.files:
        raise BuildError(
            f"the files of {dist.name} are not listed", hint="install codeenv with pip"
        )
    entries = {}
    for file in dist.files:
        name = file.as_posix()
        if name.startswith("..") or "__pycache__" in name or _is_local(name):
            continue
        if pure and name.endswith((".so", ".pyd")):
            raise BuildError(f"{dist.name} is not pure Python, so it cannot be copied")
        entries[name] = Entry(Path(str(dist.locate_file(file))).read_bytes())
    return Tree(entries)


def locked(dist: Distribution) -> LockedPackage:
    """Return a distribution as it stands in a lock; what is copied has no archive to hash."""
    return LockedPackage(name=canonicalize_name(dist.name), version=dist.version)


def _is_local(name: str) -> bool:
    """Return whether a file is about how it was installed here."""
    return re.search(r"\.dist-info/(RECORD|REQUESTED|direct_url\.json)$", name) is not None


def with_bytecode(tree: Tree, root: str) -> Tree:
    """Add bytecode for this Python, as if the tree lay at ``root``; it depends on nothing else."""
    made = {}
    for path, entry in tree.items():
        if path.endswith(".py") and entry.mode != "link":
            code = _compile(entry.data, f"{root}/{path}")
            if code:
                made[importlib.util.cache_from_source(path, optimization="")] = Entry(code)
    return Tree({**tree, **made})


def _compile(source: bytes, path: str) -> bytes:
    """Return an unchecked, hash-based ``.pyc`` (PEP 552), or nothing if it does not compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            code = SourceFileLoader("", path).source_to_code(source, path)
        except (SyntaxError, ValueError):
            return b""
    flags = (1).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + flags + importlib.util.source_hash(source) + dumps(code)

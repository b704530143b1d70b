"""From what a user writes to a pinned, verified tree, and from a pin to the same tree again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from codeenv.errors import SourceError
from codeenv.sources import git
from codeenv.sources.archive import unpack
from codeenv.sources.bundled import bundled_tree
from codeenv.sources.entries import below
from codeenv.sources.folder import read_project
from codeenv.sources.index import IndexClient, cached_download
from codeenv.sources.licence import find_licence
from codeenv.sources.pip_settings import local_folder
from codeenv.sources.pointers import refuse_pointers
from codeenv.sources.store import (
    recall_tree,
    recall_version,
    remember_tree,
    remember_version,
)
from codeenv.sources.versions import freeze_version
from codeenv.tasks.models import SourcePin
from codeenv.tree import Tree

_URL = re.compile(r"^(https?|ssh|git|file)://")
_SCP = re.compile(r"^[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:(?!//)")
_TOLD = 5
_PYPI = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+_-]+)")


@dataclass(frozen=True)
class Checkout:
    """A pristine tree and what pins it.

    Attributes:
        pin: Enough to get the same bytes again.
        tree: The files, already below the pin's ``subdir``, with the version files of a build.
        notes: What was left out or written and why, for people.
    """

    pin: SourcePin
    tree: Tree
    notes: tuple[str, ...] = field(default=(), compare=False)


def checkout(spec: str, *, ref: str = "", subdir: str = "") -> Checkout:
    """Get a repository.

    Args:
        spec: A git address (https, ssh, file, ``user@host:path``), a folder, ``pypi:NAME==VERSION``
            or ``bundled:NAME``.  Of a folder that is a git work tree the committed state (HEAD) is
            taken, without uncommitted changes; any other folder is taken as it is, without caches.
        ref: Branch, tag or commit, for git only.
        subdir: Folder of the repository to use instead of its root.

    Raises:
        SourceError: If it cannot be had or used; the message says why, the hint what to do.
    """
    kind, _, rest = spec.partition(":")
    if ref and kind in ("pypi", "bundled"):
        raise SourceError(f"{spec} has no refs", hint="--ref is for git repositories")
    if kind == "pypi":
        return _from_index(rest, subdir)
    if kind == "bundled":
        tree = bundled_tree(rest)
        return _pinned("bundled", rest, "", tree.digest, tree, subdir)
    folder = Path(spec).expanduser()
    if spec.strip() and folder.exists():
        return _from_folder(folder.resolve(), ref, subdir)
    if _URL.match(spec) or _SCP.match(spec):
        return _from_git("git", spec, spec, ref, subdir)
    raise SourceError(
        f"{spec!r} is neither a folder here nor an address",
        hint="use a git address, a folder, pypi:NAME==VERSION or bundled:toy",
    )


def fetch(pin: SourcePin) -> Checkout:
    """Get exactly what a pin says, from the cache if it is there.

    Raises:
        SourceError: If it cannot be had, or is not what the pin says.
    """
    if pin.kind == "pypi":
        tree = _pinned_sdist(pin)
    elif pin.kind == "bundled":
        tree = bundled_tree(pin.location)
    else:
        tree = recall_tree(pin.sha256) or _fetch_again(pin)
    if pin.kind != "pypi" and tree.digest != pin.sha256:
        raise _changed(pin)
    part = below(tree, pin.subdir, pin.location)
    made, notes = freeze_version(part, _fallback(pin.kind, pin.version))
    if pin.tree not in (made.digest, part.digest):
        raise _changed(pin)
    return Checkout(pin, made, notes) if made.digest == pin.tree else Checkout(pin, part)


def _pinned(
    kind: str, location: str, version: str, sha256: str, tree: Tree, subdir: str
) -> Checkout:
    part = below(tree, subdir, location)
    made, notes = freeze_version(part, _fallback(kind, version))
    pin = SourcePin.model_validate(
        {
            "kind": kind,
            "location": location,
            "version": version,
            "sha256": sha256,
            "subdir": subdir.strip("/") if part is not tree else "",
            "tree": made.digest,
            "licence": _licence(part, tree),
        }
    )
    return Checkout(pin, made, notes)


def _fallback(kind: str, version: str) -> str:
    """Return the version of a source that states none."""
    if kind == "pypi":
        return version
    return f"0.0.0+g{version[:9]}" if version else "0.0.0+local"


def _licence(part: Tree, whole: Tree) -> str:
    found = find_licence(part)
    return find_licence(whole) if found == "unknown" else found


def _from_index(requirement: str, subdir: str) -> Checkout:
    match = _PYPI.fullmatch(requirement.strip())
    if match is None:
        raise SourceError(
            f"pypi:{requirement} does not name one version", hint="write pypi:NAME==VERSION"
        )
    name, version = match.groups()
    client = IndexClient()
    settings = client.http.settings
    places = (*settings.indexes, *settings.find_links)
    sha256 = recall_version(places, name, version)
    path = cached_download(sha256) if sha256 else None
    if path is None:
        archive = client.sdist(name, version)
        path, sha256 = client.get(archive)
        if local_folder(archive.url) is None:  # who serves a version does not change it
            remember_version(places, name, version, sha256)
    tree = unpack(path)
    refuse_pointers(tree, subdir, "pypi")
    return _pinned("pypi", name, version, sha256, tree, subdir)


def _pinned_sdist(pin: SourcePin) -> Tree:
    path = cached_download(pin.sha256)
    if path is None:
        client = IndexClient()
        path, sha256 = client.get(client.sdist(pin.location, pin.version))
        if sha256 != pin.sha256:
            raise _changed(pin)
    return unpack(path)


def _from_git(kind: str, location: str, url: str, ref: str, subdir: str) -> Checkout:
    found = git.snapshot(url, ref)
    refuse_pointers(found.tree, subdir, "git")
    remember_tree(found.tree)
    made = _pinned(kind, location, found.commit, found.tree.digest, found.tree, subdir)
    notes = [f"the submodule {path} is left out" for path in found.submodules]
    if kind == "path":
        notes.insert(0, f"commit {found.commit[:12]} is taken; uncommitted changes are not")
    return replace(made, notes=(*notes, *made.notes))


def _from_folder(folder: Path, ref: str, subdir: str) -> Checkout:
    if not folder.is_dir():
        raise SourceError(f"{folder} is not a folder")
    if (folder / ".git").exists() or git.is_bare_repository(folder):
        return _from_git("path", str(folder), folder.as_uri(), ref, subdir)
    if ref:
        raise SourceError(f"{folder} is not a git repository, so it has no ref {ref!r}")
    left_out: list[str] = []
    tree = read_project(folder, leave_out=left_out.append)
    refuse_pointers(tree, subdir, "folder")
    remember_tree(tree)
    made = _pinned("path", str(folder), "", tree.digest, tree, subdir)
    return replace(made, notes=(*_left_out(left_out), *made.notes))


def _left_out(paths: list[str]) -> Iterator[str]:
    if paths:
        more = f" and {len(paths) - _TOLD} more" if len(paths) > _TOLD else ""
        yield f"left out, as tools made them: {', '.join(paths[:_TOLD])}{more}"


def _fetch_again(pin: SourcePin) -> Tree:
    """Read a git repository or a folder once more."""
    if pin.kind == "git":
        found = git.snapshot(pin.location, pin.version).tree
    elif pin.version:
        found = git.snapshot(Path(pin.location).as_uri(), pin.version).tree
    elif Path(pin.location).is_dir():
        found = read_project(Path(pin.location))
    else:
        raise SourceError(f"the folder {pin.location} is gone, and the cache does not hold it")
    if found.digest == pin.sha256:
        remember_tree(found)
    return found


def _changed(pin: SourcePin) -> SourceError:
    what = f"{pin.kind} source {pin.location} {pin.version}".rstrip()
    return SourceError(f"the {what} is not what the recipe was made from (its bytes differ)")

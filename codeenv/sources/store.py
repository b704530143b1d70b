"""What was fetched once: trees by their digest, and which archive a version of a project is."""

import hashlib
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

from packaging.utils import canonicalize_name

from codeenv._paths import cache_folder
from codeenv.tree import Tree


def remember_tree(tree: Tree) -> None:
    """Keep a tree, so that a pin can be had again without its source."""
    folder = cache_folder("downloads", "trees")
    target = folder / f"{tree.digest}.tar"
    if target.exists():
        return
    with NamedTemporaryFile(dir=folder, prefix=".new-", delete=False) as file:
        file.write(tree.to_tar())
    Path(file.name).replace(target)


def recall_tree(digest: str) -> Tree | None:
    """Return the tree with that digest, checked, or None."""
    file = cache_folder("downloads", "trees") / f"{digest}.tar"
    if not file.is_file():
        return None
    try:
        tree = Tree.from_tar(file.read_bytes())
    except (tarfile.TarError, ValueError):
        tree = Tree({})
    if tree.digest == digest:
        return tree
    file.unlink(missing_ok=True)
    return None


def remember_version(indexes: Sequence[str], name: str, version: str, sha256: str) -> None:
    """Keep which archive a version is in some served indexes: they never change it."""
    file = _version_file(indexes, name, version)
    with NamedTemporaryFile("w", dir=file.parent, prefix=".new-", delete=False) as waiting:
        waiting.write(sha256)
    Path(waiting.name).replace(file)


def recall_version(indexes: Sequence[str], name: str, version: str) -> str:
    """Return the sha256 of the archive that a version is in some indexes, or ""."""
    file = _version_file(indexes, name, version)
    return file.read_text().strip() if file.is_file() else ""


def _version_file(indexes: Sequence[str], name: str, version: str) -> Path:
    facts = json.dumps([list(indexes), canonicalize_name(name), version])
    return cache_folder("downloads", "versions") / hashlib.sha256(facts.encode()).hexdigest()

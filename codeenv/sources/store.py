"""Trees that were fetched once, kept in the cache by their digest."""

import tarfile
from pathlib import Path
from tempfile import NamedTemporaryFile

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

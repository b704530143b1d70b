"""The repositories that ship with codeenv, as data: they need no network."""

import json

from codeenv._paths import data_folder
from codeenv.errors import SourceError
from codeenv.tree import Entry, Tree

_FILE = "repository.json"


def bundled_tree(name: str) -> Tree:
    """Return a shipped repository.

    ``tasks/<name>/repository.json`` maps each path to the lines of its text; a name may have two
    parts, where a suite has several repositories.

    Raises:
        SourceError: If there is none of that name.
    """
    names = bundled_names()
    if name not in names:
        raise SourceError(
            f"no repository {name!r} is bundled", hint=f"bundled: {', '.join(names) or 'none'}"
        )
    files = json.loads((data_folder("tasks") / name / _FILE).read_text("utf-8"))
    return Tree(
        {
            path: Entry("".join(f"{line}\n" for line in lines).encode())
            for path, lines in files.items()
        }
    )


def bundled_names() -> tuple[str, ...]:
    """Return the names of the shipped repositories, those of a suite's only one first."""
    root = data_folder("tasks")
    found = [*root.glob(f"*/{_FILE}"), *root.glob(f"*/*/{_FILE}")]
    names = (file.parent.relative_to(root).as_posix() for file in found)
    return tuple(sorted(names, key=lambda name: (name.count("/"), name)))

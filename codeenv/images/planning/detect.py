"""All that a repository's files say about setting it up: each kind of file by its reader."""

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch

from codeenv.images.planning.documents import (
    read_conda,
    read_dockerfile,
    read_makefile,
    read_readme,
    read_shell,
)
from codeenv.images.planning.facts import Fact, Script
from codeenv.images.planning.reading import facts_in
from codeenv.images.planning.sessions import read_nox, read_pyproject, read_tox
from codeenv.images.planning.shell import Command, commands_of
from codeenv.images.planning.workflows import ci_files, read_workflow
from codeenv.tree import Tree

Reader = Callable[[str, str], Iterable[Script | Fact]]
_LIMIT = 1024 * 1024
_READERS: tuple[tuple[str, Reader], ...] = (
    ("tox.ini", read_tox),
    ("setup.cfg", read_tox),
    ("pyproject.toml", read_pyproject),
    ("noxfile.py", read_nox),
    ("[Mm]akefile", read_makefile),
    ("GNUmakefile", read_makefile),
    ("Dockerfile", read_dockerfile),
    ("*/Dockerfile", read_dockerfile),
    ("environment*.y*ml", read_conda),
    ("CONTRIBUTING.*", read_readme),
    ("README*", read_readme),
)
_DEPTH = 2


def detect(tree: Tree) -> tuple[Fact, ...]:
    """Return the facts of a tree in the order of trust: CI and tox first, then what people read.

    Shell scripts of the repository that a command names are read as well.
    """
    found: dict[Fact, None] = {}
    for path in ci_files(tree):
        found |= dict.fromkeys(_facts(tree, read_workflow(path, text_of(tree, path))))
    for pattern, reader in _READERS:
        for path in tree:
            if fnmatch(path, pattern) and path.count("/") == pattern.count("/"):
                found |= dict.fromkeys(_facts(tree, reader(path, text_of(tree, path))))
    return tuple(found)


def text_of(tree: Tree, path: str) -> str:
    """Return a file as text; "" for a link, or what is too large to have been written by hand."""
    entry = tree[path]
    if entry.mode == "link" or len(entry.data) > _LIMIT:
        return ""
    return entry.data.decode("utf-8", "replace")


def _facts(tree: Tree, found: Iterable[Script | Fact], depth: int = 0) -> Iterator[Fact]:
    for item in found:
        if isinstance(item, Fact):
            yield item
            continue
        for command in commands_of(item):
            yield from facts_in(command)
            called = _called(command, tree)
            if called and depth < _DEPTH:
                yield from _facts(tree, read_shell(called, text_of(tree, called)), depth + 1)


def _called(command: Command, tree: Tree) -> str:
    """Return the shell script of the repository that a command runs, or ""."""
    words = [word for word in command.words if not word.startswith("-")]
    if words[:1] and words[0] in ("bash", "sh", "source", "."):
        words = words[1:]
    path = words[0].removeprefix("./") if words else ""
    return path if path.endswith((".sh", ".bash")) and path in tree else ""

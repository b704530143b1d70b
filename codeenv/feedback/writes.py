"""The files that a command line plainly writes; what cannot be told is not said."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codeenv.feedback.options import inside
from codeenv.feedback.shell import redirected_to
from codeenv.feedback.words import Command, commands, positional, program

_IN_PLACE = re.compile(r"-[A-Za-z0]*i|--in-place")
_SCRIPTS = ("-e", "-f", "--expression", "--file", "-pe", "-ne")
_UNCLEAR = re.compile(r"[$`~(){}]")


class Write(NamedTuple):
    """A path in the workspace, and whether it was put back to what it was committed as."""

    path: str
    restored: bool = False


def written(command: str, folder: str = "") -> tuple[Write, ...]:
    """Return what a command line writes in the workspace, if it succeeds.

    Args:
        command: The line.
        folder: Where it is run, relative to the workspace.
    """
    found: list[Write] = []
    at: str | None = folder
    for one in commands(command) or ():
        if one.words[:1] == ("cd",):
            there = one.words[1] if len(one.words) == 2 else "-"
            clear = at is not None and there != "-" and not _UNCLEAR.search(there)
            at = posixpath.join(at or "", there) if clear else None
        found += _placed(_writes(one), at)
    return tuple(dict.fromkeys(found))


def _placed(found: Iterator[Write], folder: str | None) -> Iterator[Write]:
    for write in found:
        if _UNCLEAR.search(write.path) or (folder is None and not write.path.startswith("/")):
            continue
        path = inside(posixpath.join(folder or "", write.path))
        if path not in ("", ".", "..") and not path.startswith(("/", "../")):
            yield Write(path, write.restored)


def _writes(command: Command) -> Iterator[Write]:
    yield from map(Write, redirected_to(command))
    words, name = command.words, program(command.words)
    if name == "git":
        restored = words[1:2] in (("checkout",), ("restore",))
        if restored or words[1:2] in (("rm",), ("mv",)):
            yield from (Write(path, restored) for path in positional(words[2:], ("-b", "-B")))
    else:
        yield from map(Write, _named(name, words[1:]))


def _named(name: str, arguments: Sequence[str]) -> list[str]:
    if name in ("sed", "perl"):
        return _edited(name, arguments)
    paths = positional(arguments)
    if name in ("tee", "rm", "unlink"):
        return paths
    if name == "patch":
        return positional(arguments, ("-p", "-d", "-i", "-o", "-F"))[:1]
    if name not in ("cp", "mv") or len(paths) < 2:
        return []
    *sources, target = paths
    into = target.endswith("/") or target in (".", "..")
    made = [posixpath.join(target, posixpath.basename(s)) for s in sources] if into else [target]
    return [*made, *(sources if name == "mv" else ())]


def _edited(name: str, arguments: Sequence[str]) -> list[str]:
    """Return what ``sed -i`` and ``perl -pi`` edit; without ``-e`` the first word is the script."""
    if not any(_IN_PLACE.match(word) for word in arguments):
        return []
    paths = [path for path in positional(arguments, _SCRIPTS) if path]
    given = name == "perl" or any(word.startswith(_SCRIPTS) for word in arguments)
    return paths if given else paths[1:]

"""Entries of a source that is not trusted: capped as they arrive, checked at the end."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from codeenv.errors import SourceError
from codeenv.tree import Entry, Tree, check_path

_MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Caps:
    """How large a source may be."""

    download: int = 256 * _MIB
    """Bytes of an archive, or of a clone's objects."""
    total: int = 512 * _MIB
    """Bytes of all files together."""
    entries: int = 100_000
    file: int = 128 * _MIB
    """Bytes of one file."""


DEFAULT_CAPS = Caps()


@dataclass
class Collector:
    """Takes entries one by one, refuses what is too large or badly named, and makes the tree.

    Attributes:
        origin: What the entries come from, for messages.
        caps: Its limits.
    """

    origin: str
    caps: Caps = DEFAULT_CAPS
    entries: dict[str, Entry] = field(default_factory=dict)
    _total: int = 0
    _seen: int = 0

    def expect(self, path: str, size: int) -> None:
        """Count an entry before its bytes are read.

        Raises:
            SourceError: If it, or all together, are over the caps.
        """
        self._seen += 1
        self._total += size
        if size > self.caps.file:
            raise too_large(self.origin, f"{path!r} has {size} bytes")
        if self._total > self.caps.total:
            raise too_large(self.origin, f"its files hold more than {self.caps.total} bytes")
        if self._seen > self.caps.entries:
            raise too_large(self.origin, f"it has more than {self.caps.entries} entries")

    def add(self, path: str, entry: Entry) -> None:
        """Keep an entry; of two with one name the later wins, as it would on disk."""
        self.entries[self.clean(path)] = entry

    def clean(self, path: str) -> str:
        """Return a member's name without a leading ``./``.

        Raises:
            SourceError: If it is absolute or has ``..`` in it.
        """
        name = path.rstrip("/")
        while name.startswith("./"):
            name = name[2:].lstrip("/")
        try:
            check_path(name)
        except ValueError:
            raise SourceError(f"{self.origin} has an unsafe file name: {path!r}") from None
        return name

    def tree(self, *, strip: bool = False) -> Tree:
        """Return the tree, without the single top folder if ``strip``.

        Raises:
            SourceError: If it is empty, a link leaves it, or a file is also a folder.
        """
        entries = _strip_top(self.entries) if strip else self.entries
        if not entries:
            raise SourceError(f"{self.origin} is empty")
        check_entries(entries, self.origin)
        return Tree(entries)


def too_large(origin: str, detail: str) -> SourceError:
    """Return the error for a source over its caps."""
    return SourceError(f"{origin} is too large: {detail}", hint="use a smaller --subdir or source")


def check_entries(entries: Mapping[str, Entry], origin: str) -> None:
    """Refuse links out of the tree, and files below files or links.

    Raises:
        SourceError: With the first such path.
    """
    for path in entries:
        for parent in _parents(path):
            if parent in entries:
                raise SourceError(f"{origin}: {parent!r} is a file or link and also a folder")
    for path, entry in entries.items():
        if entry.mode == "link" and not _stays_inside(path, entries):
            target = entry.data.decode("utf-8", "replace")
            raise SourceError(f"{origin}: the link {path!r} points out of it, to {target!r}")


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def _stays_inside(path: str, entries: Mapping[str, Entry]) -> bool:
    """Follow a link through the other links of the tree, as the kernel would."""
    at: list[str] = path.split("/")[:-1]
    todo = _target(entries[path])
    hops = 0
    while todo:
        if todo[0] == "":
            return False
        part = todo.pop(0)
        if part == "..":
            if not at:
                return False
            at.pop()
        elif part != ".":
            at.append(part)
            entry = entries.get("/".join(at))
            if entry is not None and entry.mode == "link":
                hops += 1
                if hops > 40:
                    return True  # a loop leads nowhere
                at.pop()
                todo = _target(entry) + todo
    return True


def _target(entry: Entry) -> list[str]:
    """Return the parts of a link's target; the first is empty if it is absolute."""
    target = entry.data.decode("utf-8", "surrogateescape")
    if target.startswith("/") or "\0" in target or not target:
        return [""]
    return [part for part in target.split("/") if part]


def _strip_top(entries: Mapping[str, Entry]) -> Mapping[str, Entry]:
    tops = {path.split("/", 1)[0] for path in entries}
    if len(tops) != 1 or any("/" not in path for path in entries):
        return entries
    skip = len(tops.pop()) + 1
    return {path[skip:]: entry for path, entry in entries.items()}


def below(tree: Tree, subdir: str, origin: str) -> Tree:
    """Return the tree below ``subdir``, checked again on its own.

    Raises:
        SourceError: If there is nothing, or a link leaves the folder.
    """
    folder = posixpath.normpath(subdir.strip("/")) if subdir.strip("/.") else ""
    if not folder:
        return tree
    part = tree.under(folder) if not folder.startswith("..") else Tree({})
    if not part:
        folders = sorted({path.split("/")[0] for path in tree if "/" in path})
        listed = ", ".join(folders[:12]) or "none"
        raise SourceError(
            f"{origin} has no folder {subdir!r}", hint=f"its top-level folders: {listed}"
        )
    check_entries(part, f"{origin} below {subdir!r}")
    return part

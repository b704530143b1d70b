"""A tree of files as a value: what is pinned, damaged, sent to a box, exported and compared.

Owns: entries, digests, differences, tar in and out.  Does not own: reading from disk or from an
archive that is not trusted (``sources``), or from a box (``sandbox``).
"""

import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal, Self

Mode = Literal["file", "exec", "link"]
_UNIX_MODE = {"file": 0o644, "exec": 0o755, "link": 0o777}


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: its bytes, or for a ``link`` the target's bytes."""

    data: bytes
    mode: Mode = "file"


@dataclass(frozen=True, slots=True)
class Delta:
    """What turns one tree into another: entries to write, paths to delete."""

    write: Mapping[str, Entry] = field(default_factory=dict)
    delete: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Return whether anything changes."""
        return bool(self.write or self.delete)

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths the delta touches, sorted."""
        return tuple(sorted({*self.write, *self.delete}))

    def only(self, keep: Iterable[str]) -> "Delta":
        """Return the part of the delta that touches ``keep``."""
        kept = frozenset(keep)
        return Delta({p: e for p, e in self.write.items() if p in kept}, self.delete & kept)


@dataclass(frozen=True)
class Tree(Mapping[str, Entry]):
    """An immutable set of files by POSIX path relative to the root; empty folders do not exist."""

    entries: Mapping[str, Entry]

    def __post_init__(self) -> None:
        """Keep the entries sorted, and refuse paths that could leave the root."""
        for path in self.entries:
            check_path(path)
        object.__setattr__(self, "entries", dict(sorted(self.entries.items())))

    def __getitem__(self, path: str) -> Entry:
        return self.entries[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(len(entry.data) for entry in self.entries.values())

    @cached_property
    def digest(self) -> str:
        """Return the sha256 over paths, modes and contents (hex)."""
        total = hashlib.sha256()
        for path, entry in self.entries.items():
            content = hashlib.sha256(entry.data).hexdigest()
            total.update(f"{entry.mode} {content} {path}\0".encode("utf-8", "surrogateescape"))
        return total.hexdigest()

    def apply(self, delta: Delta) -> Self:
        """Return the tree with the delta applied."""
        kept = {p: e for p, e in self.entries.items() if p not in delta.delete}
        return type(self)({**kept, **delta.write})

    def diff(self, newer: "Tree") -> Delta:
        """Return what turns this tree into ``newer``."""
        write = {p: e for p, e in newer.items() if self.entries.get(p) != e}
        return Delta(write, frozenset(self.entries) - frozenset(newer))

    def under(self, folder: str) -> Self:
        """Return the sub-tree below ``folder`` with paths relative to it."""
        prefix = folder.strip("/") + "/" if folder.strip("/.") else ""
        return type(self)(
            {p[len(prefix) :]: e for p, e in self.entries.items() if p.startswith(prefix)}
        )

    def to_tar(self, *, mtime: int = 0) -> bytes:
        """Return an uncompressed tar, owners and times normalised: same tree, same bytes."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, entry in self.entries.items():
                archive.addfile(*_member(path, entry, mtime))
        return buffer.getvalue()

    @classmethod
    def from_tar(cls, data: bytes) -> Self:
        """Read a tar made by ``to_tar`` or by our own guest code (files and links only)."""
        entries = {}
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                if member.issym():
                    entries[member.name] = Entry(_encode(member.linkname), "link")
                elif member.isreg():
                    content = archive.extractfile(member)
                    mode: Mode = "exec" if member.mode & 0o100 else "file"
                    entries[member.name] = Entry(content.read() if content else b"", mode)
        return cls(entries)


def check_path(path: str) -> None:
    """Raise ValueError unless ``path`` is a clean relative POSIX path below the root."""
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"not a clean relative path: {path!r}")


def suffix(path: str) -> str:
    """Return the file name's last suffix, lower case (``.py``)."""
    return PurePosixPath(path).suffix.lower()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _member(path: str, entry: Entry, mtime: int) -> tuple[tarfile.TarInfo, io.BytesIO | None]:
    info = tarfile.TarInfo(path)
    info.mode, info.mtime = _UNIX_MODE[entry.mode], mtime
    if entry.mode == "link":
        info.type, info.linkname = tarfile.SYMTYPE, entry.data.decode("utf-8", "surrogateescape")
        return info, None
    info.size = len(entry.data)
    return info, io.BytesIO(entry.data)

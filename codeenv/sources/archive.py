"""Unpacking sdists that are not trusted: nothing is written to disk, everything is capped.

Files keep their exact bytes.  Folders, owners, times and modes but the executable bit are dropped;
device nodes, fifos, encrypted members and names or links that leave the archive are refused.
"""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Protocol

from codeenv.errors import SourceError
from codeenv.sources.entries import DEFAULT_CAPS, Caps, Collector, too_large
from codeenv.tree import Entry, Mode, Tree

_OPENERS: dict[bytes, Callable[[IO[bytes]], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
_ZIP = b"PK\x03\x04"
_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def unpack(path: Path, *, caps: Caps = DEFAULT_CAPS, name: str = "", strip: bool = True) -> Tree:
    """Return an archive's files (``.tar``, ``.tar.gz|bz2|xz``, ``.zip``).

    Args:
        path: The archive.
        caps: How large it may be.
        name: What messages call it.
        strip: Whether a single top folder is left out of the paths.

    Raises:
        SourceError: If it is damaged, too large, empty or unsafe.
    """
    origin = name or path.name
    if path.stat().st_size > caps.download:
        raise too_large(origin, f"the archive has {path.stat().st_size} bytes")
    collector = Collector(origin, caps)
    try:
        with path.open("rb") as file:
            if file.read(4) == _ZIP:
                _read_zip(file, collector)
            else:
                file.seek(0)
                read_tar(_decompressed(file), collector)
    except SourceError:
        raise
    except (*_DAMAGED, RuntimeError, NotImplementedError, ValueError) as error:
        raise SourceError(f"{origin} cannot be unpacked: {error}") from error
    return collector.tree(strip=strip)


class _Capped(io.RawIOBase):
    """A stream that fails after so many bytes (a decompression bomb)."""

    def __init__(self, inner: _Readable, limit: int, origin: str) -> None:
        self._inner, self._left, self._limit, self._origin = inner, limit, limit, origin

    def read(self, size: int = -1, /) -> bytes:
        data = self._inner.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise too_large(self._origin, f"it unpacks to more than {self._limit} bytes")
        return data


def read_tar(file: _Readable, collector: Collector) -> None:
    """Feed the files and links of an uncompressed tar stream to a collector.

    Raises:
        SourceError: If a member is unsafe or over the caps.
    """
    caps = collector.caps
    limit = caps.total + caps.entries * 2048
    capped = _Capped(file, limit, collector.origin)
    with tarfile.open(
        fileobj=capped, mode="r|", encoding="utf-8", errors="surrogateescape"
    ) as archive:
        for member in archive:
            _read_member(archive, member, collector)


def _read_member(archive: tarfile.TarFile, member: tarfile.TarInfo, collector: Collector) -> None:
    if member.isdir():
        collector.expect(member.name, 0)
    elif member.issym():
        collector.expect(member.name, len(member.linkname))
        target = member.linkname.encode("utf-8", "surrogateescape")
        collector.add(member.name, Entry(target, "link"))
    elif member.islnk():
        earlier = collector.entries.get(collector.clean(member.linkname))
        if earlier is None:
            raise SourceError(
                f"{collector.origin}: the hard link {member.name!r} points to "
                f"{member.linkname!r}, which is not a file before it"
            )
        collector.expect(member.name, len(earlier.data))
        collector.add(member.name, earlier)
    elif member.isreg():
        collector.expect(member.name, member.size)
        content = archive.extractfile(member)
        data = content.read() if content is not None else b""
        collector.add(member.name, Entry(data, _mode(member.mode)))
    else:
        raise SourceError(
            f"{collector.origin}: {member.name!r} is a device or another special file"
        )


def _read_zip(file: IO[bytes], collector: Collector) -> None:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            collector.expect(info.filename, info.file_size)
            if info.is_dir():
                continue
            unix = info.external_attr >> 16
            kind = stat.S_IFMT(unix)
            if kind not in (0, stat.S_IFREG, stat.S_IFLNK):
                raise SourceError(f"{collector.origin}: {info.filename!r} is a special file")
            data = archive.read(info)
            mode: Mode = "link" if kind == stat.S_IFLNK else _mode(unix)
            collector.add(info.filename, Entry(data, mode))


def _mode(unix: int) -> Mode:
    return "exec" if unix & 0o100 else "file"


def _decompressed(file: IO[bytes]) -> _Readable:
    head = file.read(8)
    file.seek(0)
    for magic, opener in _OPENERS.items():
        if head.startswith(magic):
            return opener(file)
    return file

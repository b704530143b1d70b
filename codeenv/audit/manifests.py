"""What packages say of their own files: these belong to other projects, byte for byte."""

import base64
import csv
import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path


class Manifests:
    """The files that the packages in a tree brought: wheels by RECORD, Debian's by md5sums."""

    def __init__(self, root: Path) -> None:
        """Look nowhere yet.

        Args:
            root: Of the tree.
        """
        self._root = root

    def brought(self, file: Path) -> bool:
        """Return whether a file came with a package, and is as it came."""
        if file in self._wheels:
            return _sha256(file) == self._wheels[file]
        known = self._debian.get(str(file.relative_to(self._root)))
        return known is not None and known == _digest(file, "md5").hex()

    @cached_property
    def _wheels(self) -> Mapping[Path, str]:
        found = {}
        for record in self._root.glob("lib/python3*/site-packages/*.dist-info/RECORD"):
            folder = record.parent.parent
            for row in csv.reader(record.read_text("utf-8", "replace").splitlines()):
                if len(row) == 3 and row[1].startswith("sha256="):
                    found[folder / row[0]] = row[1].removeprefix("sha256=")
        return found

    @cached_property
    def _debian(self) -> Mapping[str, str]:
        found = {}
        for sums in self._root.glob("var/lib/dpkg/info/*.md5sums"):
            for line in sums.read_text("utf-8", "replace").splitlines():
                digest, _, path = line.partition("  ")
                found[path] = digest
        return found


def _sha256(file: Path) -> str:
    return base64.urlsafe_b64encode(_digest(file, "sha256")).rstrip(b"=").decode()


def _digest(file: Path, name: str) -> bytes:
    with file.open("rb") as data:
        return hashlib.file_digest(data, lambda: hashlib.new(name, usedforsecurity=False)).digest()

"""Root file systems as tars: cleaned, unpacked, and named by the packages they hold."""

import hashlib
import json
import platform
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

from codeenv.errors import BuildError

_KEPT = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE)
_EMPTY = ("dev", "proc", "sys", "run", "tmp")
_STATUS = "var/lib/dpkg/status"


def clean_tar(source: Path, target: Path) -> None:
    """Copy a root file system's tar: sorted, without device nodes and what boxes mount over."""
    with (
        tarfile.open(source) as given,
        tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as made,
    ):
        members = [m for m in given if m.type in _KEPT and not _is_volatile(m.name)]
        for member in _hard_links_last(members):
            member.uname = member.gname = ""
            member.pax_headers = {}
            member.mtime = int(member.mtime)
            made.addfile(member, given.extractfile(member) if member.isreg() else None)


def unpack_tar(source: Path, target: Path) -> None:
    """Unpack a cleaned tar; owners are kept if this user may."""
    target.mkdir()
    with tarfile.open(source) as archive:
        if hasattr(tarfile, "tar_filter"):  # Python has it since 3.11.4; the tar is our own
            archive.extraction_filter = tarfile.tar_filter
        archive.extractall(target)
    for name in _EMPTY:
        folder = target / name
        folder.mkdir(exist_ok=True)
        folder.chmod(0o1777 if name == "tmp" else 0o755)


def packages_of(rootfs: Path) -> tuple[str, ...]:
    """Return ``name=version`` of the packages dpkg lists, sorted; nothing in it is run."""
    text = (rootfs / _STATUS).read_text("utf-8", "replace") if (rootfs / _STATUS).exists() else ""
    found = []
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"(?m)^(Package|Version|Architecture): (.*)$", block))
        if "Package" in fields:
            found.append("{Package}:{Architecture}={Version}".format(**fields))
    return tuple(sorted(found))


def python_of(rootfs: Path) -> str:
    """Return the full version of the interpreter that ``/usr/bin/python3`` is, e.g. ``3.13.5``.

    Raises:
        BuildError: If it cannot be told.
    """
    for root in ("usr/include", "usr/local/include"):
        for header in sorted((rootfs / root).glob("python3.*/patchlevel.h"), reverse=True):
            match = re.search(r'#define PY_VERSION\s+"([^"+]+)', header.read_text())
            if match:
                return match[1]
    for package in packages_of(rootfs):
        match = re.match(r"python3\.\d+(?:-minimal)?:\w+=(3\.\d+\.\d+(?:(?:a|b|rc)\d+)?)", package)
        if match:
            return match[1]
    raise BuildError("the base root file system has no Python 3")


def digest_of_base(name: str, recipe: str, packages: tuple[str, ...], python: str) -> str:
    """Return what names a base: its packages and how it was made, not its bytes."""
    facts = {
        "name": name,
        "recipe": recipe,
        "packages": packages,
        "python": python,
        "machine": platform.machine(),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def remove_tree(folder: Path) -> None:
    """Remove a folder, whatever modes its own folders have."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)


def _is_volatile(name: str) -> bool:
    top, _, rest = name.removeprefix("./").partition("/")
    return (bool(rest) and top in _EMPTY) or top == ".dockerenv"


def _hard_links_last(members: list[tarfile.TarInfo]) -> Iterator[tarfile.TarInfo]:
    """Sort by name, but every hard link after the file it names."""
    yield from sorted((m for m in members if not m.islnk()), key=lambda m: m.name)
    yield from sorted((m for m in members if m.islnk()), key=lambda m: m.name)

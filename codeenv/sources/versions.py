"""Files that a build writes the project's version to: a checkout gets them with a fixed version.

Version control does not hold them, and without them few such projects can be imported.  The version
depends on the pin and the files alone, never on tags, which move: one pin, one tree everywhere.
"""

import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from string import Formatter

from packaging.version import InvalidVersion, Version

from codeenv.tree import Entry, Tree, check_path

Table = Mapping[str, object]
_MODULE = '''\
"""The version of this checkout, in the place of the file that a build writes."""

version = __version__ = {version!r}
version_tuple = __version_tuple__ = {version_tuple!r}
commit_id = __commit_id__ = None
'''
_FIELDS = ("", "version", "version_tuple")
_IN_SETUP_PY = re.compile(r"""\b(?:write_to|version_file)["']?\s*[:=]\s*["']([^"'\n]+)["']""")
_ARCHIVED = re.compile(r"(?m)^describe-name:[^$\n]*?(\d[^$\s]*?)(?:-\d+-g[0-9a-f]+)?\s*$")


@dataclass(frozen=True)
class VersionFile:
    """A file that a build writes the version to.

    Attributes:
        path: Where, as the manifest says; perhaps outside of the tree.
        template: The manifest's own form of the content, or "".
    """

    path: str
    template: str = ""


def version_files(tree: Tree) -> tuple[VersionFile, ...]:
    """Return the version files that the manifests at the top of a tree name, each once."""
    tool = _table(_pyproject(tree), "tool")
    found = (
        *_of_setuptools(_table(tool, "setuptools_scm")),
        *_of_hatch(_table(tool, "hatch", "build")),
        _file(_table(tool, "versioningit", "write"), "file", "template"),
        _of_pdm(tree, _table(tool, "pdm")),
        *_of_setup_py(tree),
    )
    named = {posixpath.normpath(file.path): file for file in reversed(found) if file.path}
    return tuple(VersionFile(path, named[path].template) for path in sorted(named))


def declared_version(tree: Tree) -> str:
    """Return the version that the top of a tree states for a build without tags, or ""."""
    pyproject = _pyproject(tree)
    tool = _table(pyproject, "tool")
    hatch = _table(tool, "hatch", "version")
    stated = (
        HeaderParser().parsestr(_text(tree, "PKG-INFO"), headersonly=True).get("Version"),
        _table(pyproject, "project").get("version"),
        _table(tool, "poetry").get("version"),
        *_ARCHIVED.findall(_text(tree, ".git_archival.txt")),
        _table(tool, "setuptools_scm").get("fallback_version"),
        hatch.get("fallback-version"),
        _table(hatch, "raw-options").get("fallback_version"),
        _table(tool, "versioningit").get("default-version"),
        _table(tool, "pdm", "version").get("fallback_version"),
    )
    return next((found for value in stated if (found := _normal(value))), "")


def freeze_version(tree: Tree, fallback: str) -> tuple[Tree, tuple[str, ...]]:
    """Write the version files that a tree lacks.

    Args:
        tree: A checkout.
        fallback: The version where the tree states none.

    Returns:
        The tree with them, and a note for people about each.
    """
    version, notes = declared_version(tree) or fallback, []
    for file in version_files(tree):
        if file.path in tree:
            continue
        if _has_room(tree, file.path):
            tree = Tree({**tree, file.path: Entry(_content(file, version).encode())})
            notes.append(f"{file.path} is written with version {version}: builds make it")
        else:
            notes.append(f"the version file {file.path!r} is left out: it has no place in the tree")
    return tree, tuple(notes)


def _of_setuptools(scm: Table) -> Iterator[VersionFile]:
    yield _file(scm, "version_file", "version_file_template")
    file = _file(scm, "write_to", "write_to_template")
    parts = file.path.split("/")
    root = posixpath.normpath(str(scm.get("root") or "."))
    if set(root.split("/")) == {".."}:  # of a larger repository; paths count from its root
        del parts[: root.count("..")]
    yield VersionFile("/".join(parts), file.template)


def _of_hatch(build: Table) -> Iterator[VersionFile]:
    targets = (_table(target) for target in _table(build, "targets").values())
    for hooks in (_table(build, "hooks"), *(_table(target, "hooks") for target in targets)):
        yield _file(_table(hooks, "vcs"), "version-file", "template")
        yield _file(_table(hooks, "version"), "path", "template")


def _of_pdm(tree: Tree, pdm: Table) -> VersionFile:
    """Return the file; its path counts from the folder of the packages."""
    file = _file(_table(pdm, "version"), "write_to", "write_template")
    folder = _table(pdm, "build").get("package-dir")
    if not isinstance(folder, str):
        folder = "src" if any(path.startswith("src/") for path in tree) else ""
    return VersionFile(posixpath.join(folder, file.path) if file.path else "", file.template)


def _of_setup_py(tree: Tree) -> Iterator[VersionFile]:
    text = _text(tree, "setup.py")
    if "use_scm_version" in text:
        yield from map(VersionFile, _IN_SETUP_PY.findall(text))


def _file(table: Table, path: str, template: str) -> VersionFile:
    found = [table.get(key) for key in (path, template)]
    return VersionFile(*(value if isinstance(value, str) else "" for value in found))


def _has_room(tree: Tree, path: str) -> bool:
    """Return whether a file of that path can be added: inside, and among folders."""
    try:
        check_path(path)
    except ValueError:
        return False
    parts = path.split("/")
    parents = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return not tree.under(path) and not any(parent in tree for parent in parents)


def _content(file: VersionFile, version: str) -> str:
    usual = _MODULE if file.path.endswith(".py") else "{version}"
    for template in filter(None, (file.template, usual)):
        try:
            fields = [field for field in Formatter().parse(template) if field[1] is not None]
            if all(name in _FIELDS and not spec for _, name, spec, _ in fields):
                return template.format(version, version=version, version_tuple=_parts(version))
        except (ValueError, IndexError):
            continue
    return version


def _parts(version: str) -> tuple[int | str, ...]:
    """Return a version as numbers and words, in the usual form of ``version_tuple``."""
    if not _normal(version):
        return (version,)
    parsed = Version(version)
    words = (
        "".join(map(str, parsed.pre or ())),
        f"post{parsed.post}" if parsed.post is not None else "",
        f"dev{parsed.dev}" if parsed.dev is not None else "",
        parsed.local or "",
    )
    return (*parsed.release, *filter(None, words))


def _normal(version: object) -> str:
    try:
        return str(Version(version.strip())) if isinstance(version, str) else ""
    except InvalidVersion:
        return ""


def _pyproject(tree: Tree) -> Table:
    try:
        return tomllib.loads(_text(tree, "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        return {}


def _text(tree: Tree, path: str) -> str:
    entry = tree.get(path)
    return entry.data.decode("utf-8-sig", "replace") if entry and entry.mode != "link" else ""


def _table(data: object, *keys: str) -> Table:
    """Return a nested table, empty where the keys lead nowhere."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}

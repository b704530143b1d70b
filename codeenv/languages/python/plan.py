"""Plan an installation: what to install, and metadata that stands for the project itself."""

import ast
import re
from collections.abc import Iterator, Mapping

from packaging.version import InvalidVersion, Version

from codeenv.languages.base import InstallPlan, Layout
from codeenv.languages.python.manifests import (
    Manifests,
    Table,
    as_table,
    strings,
    table,
    text,
    text_of,
)
from codeenv.languages.python.requirements import collect, optional_requirements
from codeenv.languages.python.syntax import parse_module
from codeenv.sources.versions import declared_version, version_files
from codeenv.tree import Tree

_HEADERS = ("summary", "home-page", "author", "license", "license-expression", "classifier")
_VERSION_NAMES = ("__version__", "VERSION", "version")


def make_plan(tree: Tree, layout: Layout) -> InstallPlan:
    """Read names, versions, requirements and entry points; nothing is executed."""
    manifests = Manifests.read(tree)
    name = manifests.name or layout.packages[0]
    version = find_version(tree, layout, manifests)
    python = _requires_python(manifests)
    reasons = {**collect(tree, manifests)}
    metadata = _metadata(tree, manifests, name, version)
    return InstallPlan(
        name,
        version,
        python,
        tuple(reasons),
        metadata,
        reasons,
        manifests.compiler,
        optional_requirements(manifests),
    )


def find_version(tree: Tree, layout: Layout, manifests: Manifests) -> str:
    """Return the project's version as its files state it, else ``0``."""
    candidates = (
        *manifests.pkg_info.get("version", ()),
        text(manifests.project.get("version")),
        text(manifests.poetry.get("version")),
        _from_setup_cfg(tree, manifests),
        text(manifests.setup_py.get("version")),
        *_version_literals(tree, layout),
        *re.findall(r"(?m)^Version:\s*(\S+)", _egg_info(tree, "PKG-INFO")),
        *(found for file in version_files(tree) for found in _written(tree, file.path)),
        declared_version(tree),
    )
    return next((v for v in map(_normal, candidates) if v), "0")


def _normal(version: str) -> str:
    try:
        return str(Version(version.strip()))
    except InvalidVersion:
        return ""


def _from_setup_cfg(tree: Tree, manifests: Manifests) -> str:
    value = manifests.setup_cfg.get("metadata", {}).get("version", "")
    if value.startswith("file:"):
        return text_of(tree, value[5:].strip())
    return value


def _version_literals(tree: Tree, layout: Layout) -> Iterator[str]:
    files = [f"{r}/{p}" if r != "." else p for r in layout.import_roots for p in layout.packages]
    names = ("__init__.py", "_version.py", "version.py", "__version__.py", "__about__.py")
    for place in files:
        for path in (f"{place}.py", *(f"{place}/{name}" for name in names)):
            yield from _literals(tree, path)


def _written(tree: Tree, path: str) -> Iterator[str]:
    """Yield what a version file of a build may say."""
    yield from _literals(tree, path) if path.endswith(".py") else (text_of(tree, path),)


def _literals(tree: Tree, path: str) -> Iterator[str]:
    entry = tree.get(path)
    module = parse_module(entry.data) if entry is not None else None
    for node in module.body if module else ():
        yield from _version_in(node)


def _version_in(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    value = getattr(node, "value", None)
    for target in targets:
        named = isinstance(target, ast.Name) and target.id in _VERSION_NAMES
        if named and isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value


def _requires_python(manifests: Manifests) -> str:
    flit = table(manifests.pyproject, "tool", "flit", "metadata")
    found = (
        text(manifests.project.get("requires-python")),
        manifests.setup_cfg.get("options", {}).get("python_requires", ""),
        text(manifests.setup_py.get("python_requires")),
        next(iter(manifests.pkg_info.get("requires-python", ())), ""),
        text(flit.get("requires-python")),
    )
    return next((value.strip() for value in found if value.strip()), "")


def _metadata(tree: Tree, manifests: Manifests, name: str, version: str) -> Mapping[str, bytes]:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    for header in _HEADERS:
        for value in manifests.pkg_info.get(header, ()):
            if value and "\n" not in value:
                lines.append(f"{header.title()}: {value}")
    if not manifests.pkg_info:
        summary = text(
            manifests.project.get("description") or manifests.setup_py.get("description")
        )
        lines += [f"Summary: {summary.splitlines()[0]}"] if summary.strip() else []
    python = _requires_python(manifests)
    lines += [f"Requires-Python: {python}"] if python else []
    lines += [f"Requires-Dist: {line}" for line in _runtime(manifests)]
    files = {"METADATA": ("\n".join(lines) + "\n").encode(), "INSTALLER": b"codeenv\n"}
    points = _entry_points(tree, manifests)
    if points:
        files["entry_points.txt"] = points.encode()
    return files


def _runtime(manifests: Manifests) -> tuple[str, ...]:
    given = manifests.pkg_info.get("requires-dist") or strings(
        manifests.project.get("dependencies")
    )
    return tuple(given or strings(manifests.setup_py.get("install_requires")))


def _entry_points(tree: Tree, manifests: Manifests) -> str:
    groups: dict[str, dict[str, str]] = {}
    project = manifests.project
    _add(groups, "console_scripts", as_table(project.get("scripts")))
    _add(groups, "gui_scripts", as_table(project.get("gui-scripts")))
    _add(groups, "console_scripts", table(manifests.poetry, "scripts"))
    for source in (table(project, "entry-points"), table(manifests.poetry, "plugins")):
        for group, points in source.items():
            _add(groups, group, as_table(points))
    declared = as_table(manifests.setup_py.get("entry_points"))
    for group, lines in (
        *manifests.setup_cfg.get("options.entry_points", {}).items(),
        *declared.items(),
    ):
        pairs = (line.partition("=") for line in strings(lines))
        _add(groups, group, {k.strip(): v.strip() for k, _, v in pairs})
    if not groups:
        return _egg_info(tree, "entry_points.txt")
    parts = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in sorted(points.items()))
        for group, points in sorted(groups.items())
    ]
    return "\n".join(parts)


def _add(groups: dict[str, dict[str, str]], group: str, points: Table) -> None:
    found = {k: v for k, v in points.items() if isinstance(v, str) and k and v}
    if found:
        groups.setdefault(group, {}).update(found)


def _egg_info(tree: Tree, name: str) -> str:
    found = [p for p in tree if p.endswith(f".egg-info/{name}") and p.count("/") <= 2]
    return text_of(tree, found[0]) if found else ""

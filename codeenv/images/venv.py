"""A virtual environment as a tree: cleaned, and with the project's own traces put in.

The project's code is never installed: a ``.pth`` file names its import roots in the workspace, and
a ``.dist-info`` folder carries its metadata (version, entry points), so that
``importlib.metadata``, plug-in discovery and its commands work as after a real installation.
"""

import csv
import posixpath
import re
from collections.abc import Iterable, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigParserError

from packaging.utils import canonicalize_name

from codeenv.errors import BuildError
from codeenv.images.built import Built
from codeenv.languages.base import InstallPlan
from codeenv.tree import Entry, Tree

WORKSPACE = "/workspace"
REPORT = ".codeenv-report.json"
_DROPPED_NAMES = frozenset({
    REPORT, ".gitignore", "direct_url.json", "REQUESTED", "Activate.ps1", "activate.csh",
    "activate.fish",
})  # fmt: skip
_PROGRAM = re.compile(r"\w[\w.-]*")
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_SCRIPT = """\
#!/opt/env/bin/python
import sys

from {module} import {top}

if __name__ == "__main__":
    sys.exit({function}())
"""
_INTERPRETER = re.compile(r"/usr/(local/)?bin/python3?[0-9.]*")


def clean_venv(tree: Tree) -> Tree:
    """Return a virtual environment without what differs between installs or leads out of it."""
    kept = {path: entry for path, entry in tree.items() if _is_kept(path, entry)}
    records = {p: _without_dropped(e) for p, e in kept.items() if p.endswith(".dist-info/RECORD")}
    return Tree({**kept, **records})


def _without_dropped(record: Entry) -> Entry:
    """Return a RECORD without the files that are not kept."""
    lines = record.data.splitlines(keepends=True)
    return Entry(b"".join(line for line in lines if not _names_dropped(line)))


def _names_dropped(line: bytes) -> bool:
    path = line.split(b",")[0].decode("utf-8", "replace")
    return path.rsplit("/", 1)[-1] in _DROPPED_NAMES


def _is_kept(path: str, entry: Entry) -> bool:
    if entry.mode == "link":
        return _is_own_link(path, entry.data.decode("utf-8", "replace"))
    return path.rsplit("/", 1)[-1] not in _DROPPED_NAMES


def _is_own_link(path: str, target: str) -> bool:
    """Return whether a link is one of those ``venv`` makes; build code may have left others."""
    if path.startswith("bin/"):
        return "/" not in target or _INTERPRETER.fullmatch(target) is not None
    return path == "lib64" and target == "lib"


def remove_distribution(tree: Tree, name: str) -> Tree:
    """Return the environment without the files an installed distribution lists as its own."""
    site = site_packages(tree)
    gone: set[str] = set()
    for path, entry in tree.items():
        if path.endswith(".dist-info/RECORD") and _name_of(path) == name:
            rows = csv.reader(entry.data.decode("utf-8", "replace").splitlines())
            gone |= {posixpath.normpath(f"{site}/{row[0]}") for row in rows if row}
    return Tree({p: e for p, e in tree.items() if p not in gone and _source(p) not in gone})


def _name_of(record: str) -> str:
    folder = record.split("/")[-2].removesuffix(".dist-info")
    return canonicalize_name(folder.rsplit("-", 1)[0])


def _source(path: str) -> str:
    """Return the source file that a bytecode file is of."""
    return re.sub(r"__pycache__/([^/]+?)\.[^/]*\.pyc$", r"\1.py", path)


def add_project(
    tree: Tree, plan: InstallPlan, import_roots: Iterable[str], built: Built | None = None
) -> Tree:
    """Return the environment with all that stands for the project, built modules among it."""
    site = site_packages(tree)
    made = {
        f"{site}/{path}": entry for path, entry in (built.site_files() if built else {}).items()
    }
    own = {**_project_files(site, plan, import_roots), **_programs(plan)}
    return Tree({**tree, **own, **made})


def programs_of(metadata: Mapping[str, bytes]) -> Mapping[str, str]:
    """Return the commands that a ``.dist-info`` folder declares: name -> ``module:attribute``."""
    parser = ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(metadata.get("entry_points.txt", b"").decode("utf-8", "replace"))
    except ConfigParserError:
        return {}
    stated = {
        name: target.partition("[")[0].strip()
        for section in ("console_scripts", "gui_scripts")
        if parser.has_section(section)
        for name, target in parser.items(section)
    }
    return {n: t for n, t in stated.items() if _PROGRAM.fullmatch(n) and _TARGET.fullmatch(t)}


def _programs(plan: InstallPlan) -> Mapping[str, Entry]:
    return {
        f"bin/{name}": Entry(
            _SCRIPT.format(
                module=target.partition(":")[0],
                top=target.partition(":")[2].partition(".")[0],
                function=target.partition(":")[2],
            ).encode(),
            "exec",
        )
        for name, target in programs_of(plan.metadata).items()
    }


def _project_files(
    site: str, plan: InstallPlan, import_roots: Iterable[str]
) -> Mapping[str, Entry]:
    lines = [
        f"{WORKSPACE}/{root.strip('/')}" if root not in (".", "") else WORKSPACE
        for root in import_roots
    ]
    files = {f"{site}/_codeenv_project.pth": Entry("".join(f"{x}\n" for x in lines).encode())}
    if plan.name and plan.metadata:
        name = re.sub(r"[-_.]+", "_", plan.name)
        folder = f"{site}/{name}-{plan.version}.dist-info"
        files |= {f"{folder}/{file}": Entry(data) for file, data in plan.metadata.items()}
        files.setdefault(f"{folder}/INSTALLER", Entry(b"codeenv\n"))
    return files


def site_packages(tree: Tree) -> str:
    """Return the path of ``site-packages`` in a virtual environment.

    Raises:
        BuildError: If there is none.
    """
    for path in tree:
        match = re.match(r"lib/python3\.\d+/site-packages/", path)
        if match:
            return match[0].rstrip("/")
    raise BuildError("the environment has no site-packages: nothing was installed")

"""``codeenv doctor``: what works here, and how to get the rest."""

import argparse
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal

from rich.text import Text

from codeenv._paths import cache_folder
from codeenv.cli.options import Subparsers, command
from codeenv.cli.parser import distribution_version
from codeenv.cli.terminal import Terminal, table
from codeenv.errors import CodeEnvError
from codeenv.sandbox.select import probe
from codeenv.sources.http import HttpClient
from codeenv.sources.index import IndexClient
from codeenv.sources.pip_settings import read_settings

WALLS = ("docker", "bubblewrap")
_ENOUGH = 2 * 1024**3
_STYLES = {"ok": "green", "missing": "yellow", "failed": "red"}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at; ``missing`` is something codeenv can do without."""

    name: str
    status: Literal["ok", "missing", "failed"]
    detail: str
    hint: str = ""


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    command(subparsers, "doctor", run)


def run(args: argparse.Namespace) -> int:
    """Look at everything; 1 if tasks cannot be played here."""
    terminal = Terminal(args.json)
    with terminal.progress("looking at this machine"):
        checks = tuple(examine())
    healthy = all(check.status != "failed" for check in checks)
    terminal.data({"ok": healthy, "checks": checks})
    rows = ((c.name, Text(c.status, _STYLES[c.status]), c.detail) for c in checks)
    terminal.show(table(("", "", ""), rows))
    for check in checks:
        if check.hint:
            terminal.note(f"hint: {check.name}: {check.hint}")
    return 0 if healthy else 1


def examine() -> Iterator[Check]:
    """Yield every check, the walls first."""
    walls = [_wall(name) for name in WALLS]
    yield from walls
    usable = [wall.name for wall in walls if wall.status == "ok"]
    if usable:
        yield Check("sandbox", "ok", f"auto takes {usable[0]}")
    else:
        yield Check(
            "sandbox", "failed", "no wall works here", "install bubblewrap, or start Docker"
        )
    yield Check("codeenv", "ok", distribution_version())
    yield Check("python", "ok", f"{platform.python_version()} at {sys.executable}")
    yield _program("git", "needed for git repositories only")
    yield _program("mmdebstrap", "needed to make the base image where no registry answers")
    yield package_index()
    yield _disk()


def _wall(name: str) -> Check:
    found = probe(name)
    detail = " ".join(part for part in (found.version, found.detail) if part)
    return Check(name, "ok" if found.ok else "missing", detail, found.hint)


def _program(name: str, purpose: str) -> Check:
    where = shutil.which(name)
    if where:
        return Check(name, "ok", where)
    return Check(name, "missing", "not found", f"{purpose}: apt-get install {name}")


def package_index() -> Check:
    """Ask the package index for one small project, quickly."""
    try:
        settings = replace(read_settings(), timeout=5.0, retries=1)
        count = len(IndexClient(HttpClient(settings)).archives("iniconfig"))
    except CodeEnvError as error:
        hint = error.hint or "only the bundled toy works without one"
        return Check("package index", "missing", error.message, hint)
    return Check("package index", "ok", f"answers ({count} files of one project)")


def _disk() -> Check:
    try:
        folder: Path = cache_folder()
        with NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        hint = "set CODEENV_CACHE to a folder that you may write to"
        return Check("disk", "failed", f"the cache cannot be written: {error}", hint)
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1024**3:.1f} GiB free at {folder}"
    if free < _ENOUGH:
        hint = "codeenv images prune, or set CODEENV_CACHE to another disk"
        return Check("disk", "failed", detail, hint)
    return Check("disk", "ok", detail)

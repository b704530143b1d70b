"""Where runs are, and what they are called in a report."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from codeenv.errors import UsageError
from codeenv_harness.records import Manifest, RunFolder

_HINT = "give the folder that codeenv run --out wrote"


@dataclass(frozen=True)
class RunPlace:
    """One run.

    Attributes:
        name: In the report.
        folder: Of the run.
        manifest: What was asked for; None if that was not written down.
    """

    name: str
    folder: RunFolder
    manifest: Manifest | None


def find_runs(paths: Iterable[Path]) -> tuple[RunPlace, ...]:
    """Find runs: each path is a run's folder, or a benchmark's folder of runs.

    A run is called by its agent; runs of one agent by as much of their folder as tells them apart.

    Raises:
        UsageError: If a path is no such folder, or a manifest is none.
    """
    folders: dict[Path, Path] = {}
    for path in paths:
        for folder in _runs_in(path.expanduser()):
            folders.setdefault(folder.resolve(), folder)
    if not folders:
        raise UsageError("no run was named", hint=_HINT)
    runs = [RunFolder(folder) for folder in folders.values()]
    manifests = [_manifest(run) for run in runs]
    agents = [manifest.agent if manifest else "" for manifest in manifests]
    names = _names(list(folders), agents)
    return tuple(map(RunPlace, names, runs, manifests))


def _runs_in(path: Path) -> list[Path]:
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "is not there"
        raise UsageError(f"{path} {what}", hint=_HINT)
    if _is_run(path):
        return [path]
    found = sorted(inner for inner in path.iterdir() if inner.is_dir() and _is_run(inner))
    if not found:
        raise UsageError(f"there is no run in {path}", hint=_HINT)
    return found


def _is_run(folder: Path) -> bool:
    return (folder / "manifest.json").is_file() or RunFolder(folder).exists()


def _manifest(run: RunFolder) -> Manifest | None:
    try:
        return run.manifest()
    except FileNotFoundError:
        return None


def _names(folders: list[Path], agents: list[str]) -> list[str]:
    """Name by the agent, then by ever more of the folder, until no two are called alike."""
    ways = [
        [*([agent] if agent else ()), *("/".join(folder.parts[-n:]) for n in _parts(folder))]
        for folder, agent in zip(folders, agents, strict=True)
    ]
    at = [0] * len(ways)
    while True:
        names = [way[place] for way, place in zip(ways, at, strict=True)]
        count = Counter(names)
        alike = [i for i, name in enumerate(names) if count[name] > 1 and at[i] + 1 < len(ways[i])]
        if not alike:
            return names
        for i in alike:
            at[i] += 1


def _parts(folder: Path) -> range:
    return range(1, len(folder.parts) + 1)

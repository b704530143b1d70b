"""The runs that are shown: what ended in them so far, and the trajectories that were opened."""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codeenv.errors import CodeEnvError, UsageError
from codeenv.monitor import TaskFacts
from codeenv.trajectory import Trajectory, plain
from codeenv_harness.records import Key, RolloutRecord, RunFolder
from codeenv_harness.report import RunPlace, find_runs
from codeenv_harness.viewer.opened import Opened

FactsOf = Callable[[Path, str], TaskFacts | None]
"""Gets a run's folder and the id of a task; None where the task cannot be had."""
_OPEN = 4
Stamp = tuple[int, int]


class Library:
    """The runs of a folder, read again when they have grown.  Thread-safe."""

    def __init__(self, folder: Path, facts: FactsOf = lambda *_: None) -> None:
        """Show a run's folder, or a benchmark's folder of runs.

        Raises:
            UsageError: If it is no such folder.
        """
        self._folder = folder.expanduser()
        self._facts = facts
        self._lock, self._opening = threading.Lock(), threading.Lock()
        self._records: dict[str, tuple[Stamp, tuple[RolloutRecord, ...]]] = {}
        self._opened: OrderedDict[tuple[str, str], Opened] = OrderedDict()
        self.places()

    def places(self) -> dict[str, RunPlace]:
        """Return the runs that are there now, by the names of their folders."""
        return {self._name(place): place for place in find_runs([self._folder])}

    def index(self, known: str = "") -> dict[str, Any]:
        """Return the runs and their rollouts; the version alone, if it is the one known."""
        with self._lock:
            places = self.places()
            version = str(hash(tuple((n, _stamp(p.folder.folder / "outcomes.jsonl"))
                                     for n, p in places.items())))  # fmt: skip
            if version == known:
                return {"version": version}
            return {"version": version, "runs": [self._run(*one) for one in places.items()]}

    def opened(self, run: str, key: Key) -> Opened:
        """Return a rollout, with its trajectory if there is one.

        Raises:
            UsageError: If there is no such rollout.
        """
        with self._lock:
            place = self.places().get(run)
            if place is None:
                raise UsageError(f"there is no run {run!r}")
            record = next((r for r in self._read(run, place.folder) if r.key == key), None)
        if record is None:
            raise UsageError(f"there is no rollout {key[1]} of {key[0]!r} that has ended")
        with self._opening:
            name = (
                run,
                record.model_dump_json(),
            )  # a rollout that is played again has another record
            if name not in self._opened:
                self._opened[name] = self._open(place.folder, record)
            self._opened.move_to_end(name)
            while len(self._opened) > _OPEN:
                self._opened.popitem(last=False)
            return self._opened[name]

    def _name(self, place: RunPlace) -> str:
        """Return what addresses call a run: its folder's name, which no other run changes."""
        folder = place.folder.folder
        return folder.name if folder.parent == self._folder else folder.resolve().name

    def _open(self, folder: RunFolder, record: RolloutRecord) -> Opened:
        trajectory: Trajectory | None = None
        missing = "It never began, so there is no trajectory."
        try:
            if folder.has_trajectory(record.key):
                trajectory, missing = folder.trajectory(record.key), ""
        except UsageError as error:
            missing = error.message
        return Opened(record, trajectory, missing, self._known(folder, record))

    def _known(self, folder: RunFolder, record: RolloutRecord) -> TaskFacts | None:
        """Return the facts of a task, which say where findings are; they are dear to make."""
        if record.monitor is None or not record.monitor.findings:
            return None
        try:
            return self._facts(folder.folder, record.task_id)
        except (CodeEnvError, OSError):
            return None

    def _run(self, name: str, place: RunPlace) -> dict[str, Any]:
        manifest, error = place.manifest, ""
        try:
            records = self._read(name, place.folder)
        except UsageError as caught:
            records, error = (), caught.message
        asked = len(manifest.recipes) * manifest.rollouts if manifest else None
        return {
            "id": name,
            "name": place.name,
            "agent": manifest.agent if manifest else "",
            "asked": asked,
            "error": error,
            "rollouts": [_row(record) for record in records],
        }

    def _read(self, name: str, folder: RunFolder) -> tuple[RolloutRecord, ...]:
        stamp = _stamp(folder.folder / "outcomes.jsonl")
        kept = self._records.get(name)
        if kept is None or kept[0] != stamp:
            kept = self._records[name] = (stamp, folder.records())
        return kept[1]


def _row(record: RolloutRecord) -> dict[str, Any]:
    """Return a line of the list; short names, for there are thousands of them."""
    monitor = record.monitor
    return {
        "task": record.task_id,
        "rollout": record.rollout,
        "reward": record.reward,
        "valid": record.reward_valid,
        "resolved": record.resolved,
        "reason": record.reason,
        "steps": record.n_steps,
        "action": monitor.action if monitor else "",
        "labels": sorted({found.label for found in monitor.findings}) if monitor else [],
    }


def answer(value: object) -> bytes:
    """Return JSON that every browser reads: numbers that are none are null."""
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":")).encode()


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)

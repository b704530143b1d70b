"""A run on disk: what was asked for, and one line per finished rollout.

``manifest.json``, ``starts.jsonl`` (a line for each time it was begun or resumed: when, on what),
``outcomes.jsonl`` (appended and synced), ``trajectories/<task>__<rollout>.json``.
"""

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from codeenv.errors import UsageError
from codeenv.export import Rollout
from codeenv.grading.models import Outcome, Reason
from codeenv.monitor import Finding, Verdict
from codeenv.monitor.models import Action
from codeenv.tasks.taskset import write_atomic
from codeenv.trajectory import (
    Trajectory,
    outcome_facts,
    read_trajectory,
    utc_now,
    write_trajectory,
)

_NAME = re.compile(r"(?!\.{1,2}$)[^/\\\0]{1,200}")
Key = tuple[str, int]
"""Task id and rollout number."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Manifest(_Model):
    """What a run was asked for; two runs with the same manifest play the same episodes."""

    schema_version: Literal[1] = 1
    codeenv: str
    agent: str
    settings: dict[str, Any] = {}
    """Of the agent."""
    backend: str
    recipes: dict[str, str]
    """Task id -> digest of its recipe."""
    rollouts: int
    seed: int
    profile: str
    max_steps: int
    wall_time: float
    output_budget: int
    tier: str | None = None
    """The strongest way to grade that was used; None: each test's own."""
    controls: float = 1.0
    """Probability of each negative control."""
    monitored: bool = False


class Monitored(_Model):
    """What a monitor said of a rollout, and the reward that the grader gave."""

    action: Action
    findings: tuple[Finding, ...] = ()
    graded_reward: float


class RolloutRecord(_Model):
    """One finished rollout."""

    task_id: str
    rollout: int
    seed: int
    attempts: int
    reward: float
    reward_valid: bool
    reason: Reason
    resolved: bool
    terminated: bool
    truncated: bool
    n_steps: int
    components: dict[str, float]
    not_passed: dict[str, str]
    accepted_paths: list[str]
    ignored_paths: list[str]
    error: str = ""
    monitor: Monitored | None = None
    """What a monitor said, if one looked; then ``reward`` is the one that stands."""

    @classmethod
    def of(
        cls,
        outcome: Outcome,
        *,
        rollout: int,
        seed: int,
        attempts: int,
        verdict: Verdict | None = None,
    ) -> "RolloutRecord":
        """Make the record of an outcome; a masked reward is 0, and not resolved."""
        facts = outcome_facts(outcome)
        if verdict is not None:
            facts["monitor"] = Monitored(
                action=verdict.action, findings=verdict.findings, graded_reward=outcome.reward
            )
            facts["reward"] = verdict.reward(outcome.reward)
            facts["resolved"] = facts["resolved"] and verdict.action != "mask"
        return cls(**facts, rollout=rollout, seed=seed, attempts=attempts)

    @property
    def key(self) -> Key:
        """Which rollout it is."""
        return (self.task_id, self.rollout)


class RunFolder:
    """A run's folder.  Thread-safe."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is written yet."""
        self.folder = folder
        self._lock = threading.Lock()

    def begin(self, manifest: Manifest, *, resume: bool) -> Mapping[Key, RolloutRecord]:
        """Write the manifest, or check that it is the same; return what is done already.

        Raises:
            UsageError: If there is a run already and it is not to be resumed, or it is another.
        """
        path = self.folder / "manifest.json"
        if path.exists():
            if not resume:
                raise UsageError(
                    f"{self.folder} holds a run already", hint="--resume, or another --out"
                )
            if path.read_bytes() != _json(manifest).encode():
                raise UsageError(
                    f"{self.folder} holds another run",
                    hint="tasks, agent, seed and limits must be the same to resume",
                )
            return {record.key: record for record in self.records() if record.reward_valid}
        (self.folder / "trajectories").mkdir(parents=True, exist_ok=True)
        write_atomic(path, _json(manifest).encode())
        return {}

    def exists(self) -> bool:
        """Return whether something was recorded there."""
        return self._outcomes.is_file()

    def manifest(self) -> Manifest:
        """Return what the run was asked for.

        Raises:
            FileNotFoundError: If that was not written down.
            UsageError: If the manifest is none.
        """
        path = self.folder / "manifest.json"
        try:
            return Manifest.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise UsageError(f"{path} is not the manifest of a run") from error

    def recipes(self) -> Mapping[str, str]:
        """Return the digest of each recipe that the run was asked to play; none if it is unknown.

        Raises:
            UsageError: If the manifest is none.
        """
        try:
            return self.manifest().recipes
        except FileNotFoundError:
            return {}

    def started(self, facts: Mapping[str, object]) -> None:
        """Write down that playing begins now, and on what machine.

        It is beside the manifest: a run may be resumed elsewhere.
        """
        with self._lock, (self.folder / "starts.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"time": utc_now(), **facts}) + "\n")

    def rollouts(self) -> Iterator[Rollout]:
        """Yield the finished rollouts with what happened in them, sorted.

        Raises:
            UsageError: If a record or a trajectory cannot be read, or that of a rollout that was
                graded is missing.
        """
        for record in self.records():
            played = record.reward_valid or self.has_trajectory(record.key)
            yield Rollout(
                task_id=record.task_id,
                rollout=record.rollout,
                reward=record.reward,
                reward_valid=record.reward_valid,
                components=record.components,
                reason=record.reason,
                truncated=record.truncated,
                error=record.error,
                monitor=record.monitor.action if record.monitor else None,
                trajectory=self.trajectory(record.key) if played else None,
            )

    def trajectory(self, key: Key) -> Trajectory:
        """Return what happened in a rollout.

        Raises:
            UsageError: If there is no trajectory of it, or it cannot be read.
        """
        return read_trajectory(self._trajectory(key))

    def has_trajectory(self, key: Key) -> bool:
        """Return whether a rollout began: then there is a trajectory of it."""
        return self._trajectory(key).exists()

    def _trajectory(self, key: Key) -> Path:
        if not _NAME.fullmatch(key[0]):  # a run that somebody sent may say anything
            raise UsageError(f"{self.folder}: {key[0]!r} is no task id")
        return self.folder / "trajectories" / f"{key[0]}__{key[1]}.json"

    def add(self, record: RolloutRecord, trajectory: Trajectory | None) -> None:
        """Write a finished rollout: first its trajectory, then its line."""
        if trajectory is not None:
            write_trajectory(self._trajectory(record.key), trajectory)
        unlooked = {"monitor"} if record.monitor is None else None
        line = record.model_dump_json(exclude=unlooked).encode() + b"\n"
        with self._lock, self._outcomes.open("a+b") as file:
            _end_last_line(file)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    @property
    def _outcomes(self) -> Path:
        return self.folder / "outcomes.jsonl"

    def records(self) -> tuple[RolloutRecord, ...]:
        """Return the finished rollouts, sorted; of a repeated one the last, a torn line never.

        Raises:
            UsageError: If a line is no record, whatever bytes it has.
        """
        path = self._outcomes
        *lines, last = path.read_bytes().split(b"\n") if path.exists() else [b""]
        found: dict[Key, RolloutRecord] = {}
        for number, line in enumerate(lines, start=1):
            record = _parsed(line)
            if record is None:
                raise UsageError(f"{path}:{number} is not a rollout's record")
            found[record.key] = record
        if (record := _parsed(last)) is not None:
            found[record.key] = record
        return tuple(found[key] for key in sorted(found))


def _parsed(line: bytes) -> RolloutRecord | None:
    try:
        return RolloutRecord.model_validate_json(line)
    except ValidationError:
        return None


def _end_last_line(file: BinaryIO) -> None:
    """End a line whose writer was killed: what is whole is kept, what is torn goes."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    if file.read() in (b"", b"\n"):
        return
    file.seek(0)
    last = file.read().rpartition(b"\n")[2]
    if _parsed(last) is not None:
        file.write(b"\n")
    else:
        file.truncate(size - len(last))


def _json(manifest: Manifest) -> str:
    unsaid = None if manifest.settings else {"settings"}
    facts = manifest.model_dump(mode="json", exclude=unsaid)
    return json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

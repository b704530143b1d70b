"""What a run has proven so far, on disk: events for people, verdicts for ``--resume``."""

import json
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from codeenv.generate.models import Event, Feature, OnEvent, Reason, Verdict
from codeenv.tasks.models import Recipe

Judge = Callable[[Sequence[Feature]], Sequence[Verdict]]
_OUR_FAULT = (Reason.INFRASTRUCTURE, Reason.INTERNAL)


class Journal:
    """Appends to ``<out>/events.jsonl``; every line is on disk before the next step starts."""

    def __init__(self, out: Path, key: str, on_event: OnEvent, *, resume: bool) -> None:
        """Open the journal of the run that ``key`` stands for (source, environment, options)."""
        out.mkdir(parents=True, exist_ok=True)
        self._path = out / "events.jsonl"
        self._key = key
        self._on_event = on_event
        self._lock = threading.Lock()
        self._end_last_line()
        self._known = self._read() if resume else {}
        self._open = True

    def tell(self, kind: str, text: str, **data: object) -> None:
        """Record an event and pass it on."""
        event = Event(kind, text, data)
        self._append({"event": kind, "text": text, **data})
        self._on_event(event)

    def judged(self, judge: Judge) -> Judge:
        """Return ``judge`` with memory: verdicts of an interrupted run are not worked out again."""

        def remembered(features: Sequence[Feature]) -> list[Verdict]:
            fresh = judge([feature for feature in features if feature.key not in self._known])
            for verdict in fresh:
                if self._open and verdict.reason not in _OUR_FAULT:
                    self._append(_record(self._key, verdict))
            verdicts = {verdict.feature.key: verdict for verdict in fresh}
            return [verdicts.get(f.key) or _restore(f, self._known[f.key]) for f in features]

        return remembered

    def close(self) -> None:
        """Record no more verdicts: what still runs loses its sandbox, and would be misjudged."""
        self._open = False

    def _read(self) -> dict[str, dict[str, object]]:
        if not self._path.exists():
            return {}
        known = {}
        for line in self._path.read_bytes().split(b"\n"):
            record = _parse(line)
            if record.get("run") == self._key:
                known[str(record["candidate"])] = record
        return known

    def _end_last_line(self) -> None:
        """End a line that a killed run left torn: what is written next has one of its own."""
        if self._path.exists() and not self._path.read_bytes().endswith(b"\n"):
            with self._path.open("ab") as file:
                file.write(b"\n")

    def _append(self, record: dict[str, object]) -> None:
        line = json.dumps(record, default=str)
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())


def _parse(line: bytes) -> dict[str, object]:
    """Return a journal line; a torn last line of a killed run is nothing."""
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _record(key: str, verdict: Verdict) -> dict[str, object]:
    recipe = verdict.recipe.model_dump(mode="json") if verdict.recipe else None
    return {
        "event": "verdict",
        "run": key,
        "candidate": verdict.feature.key,
        "reason": verdict.reason.value,
        "detail": verdict.detail,
        "recipe": recipe,
    }


def _restore(feature: Feature, record: dict[str, object]) -> Verdict:
    stored = record["recipe"]
    recipe = Recipe.model_validate(stored) if stored else None
    return Verdict(feature, Reason(str(record["reason"])), str(record["detail"]), recipe)

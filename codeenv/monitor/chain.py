"""Event logs: chaining, checking, and JSON lines in and out."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from codeenv.errors import UsageError
from codeenv.monitor.models import Event
from codeenv.tasks.taskset import write_atomic
from codeenv.trajectory.seal import GENESIS


def chained(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return events numbered from 0 and chained by their hashes."""
    return tuple(_chained(events))


def _chained(events: Iterable[Event]) -> Iterator[Event]:
    previous = GENESIS
    for seq, event in enumerate(events):
        placed = event.model_copy(update={"seq": seq, "prev_hash": previous})
        previous = placed.expected_hash()
        yield placed.model_copy(update={"hash": previous})


def first_break(events: Iterable[Event]) -> int | None:
    """Return the place of the first event that does not follow from those before it, or None."""
    previous = GENESIS
    for place, event in enumerate(events):
        whole = event.seq == place and event.prev_hash == previous
        if not whole or event.hash != event.expected_hash():
            return place
        previous = event.hash
    return None


def write_events(path: Path, events: Iterable[Event]) -> None:
    """Write an event log as JSON lines; the file appears whole or not at all."""
    lines = [event.model_dump_json(by_alias=True) for event in events]
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode())


def read_events(path: Path) -> tuple[Event, ...]:
    """Read an event log and check its chain.

    Raises:
        UsageError: If a line is no event, or the chain is broken.
    """
    events: list[Event] = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            events.append(Event.model_validate_json(line))
        except ValidationError as error:
            raise UsageError(f"{path}:{number} is no event") from error
    if (place := first_break(events)) is not None:
        raise UsageError(f"{path}:{place + 1}: the chain is broken here")
    return tuple(events)

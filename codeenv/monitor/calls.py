"""What belongs to one tool call: its programs, and the events that a finding about it rests on."""

from collections.abc import Iterator

from codeenv.monitor.models import Event, Executed
from codeenv.monitor.view import View


def runs_of(view: View, event: Event) -> Iterator[Executed]:
    """Yield the programs that the call of an event ran."""
    return (run for other, run in view.runs if other.tool_call_id == event.tool_call_id)


def evidence_of(view: View, event: Event) -> tuple[int, ...]:
    """Return an event and the result of its call, if there is one."""
    found = view.result(event)
    return (event.seq, *([found[0].seq] if found else []))

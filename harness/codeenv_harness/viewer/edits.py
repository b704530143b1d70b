"""The file around an edit, as far as a record tells it: what was read or written before."""

import re
from collections.abc import Sequence

from codeenv.tools.text import line_changes
from codeenv.trajectory import RecordedCall, Step

_ROW = re.compile(r" *(\d{1,9})\t(.*)")
_TOLD = re.compile(r"(?:edited|created) .*: \+(\d{1,9}) -(\d{1,9})(?: \((\d{1,9}) places.*)?")
_LONGEST = 256 * 1024
"""Characters of a file that is followed; of a longer one nothing is known."""
_OPEN_END = "[no newline at end of file]"
_CUT = "…[+"


def whole_edit(steps: Sequence[Step], number: int) -> tuple[str, str] | None:
    """Return a file before and after the edit of a step; None where it is not known for sure.

    A command may have changed the file meanwhile, so the edit must have added and removed as many
    lines as it said then, at as many places: text that only seems to be there does not grow by
    each edit again.
    """
    made = _only_call(steps[number - 1])
    if made is None or made.function_name != "edit_file":
        return None
    before: str | None = None
    for step in steps[: number - 1]:
        call = _only_call(step)
        if call is not None and call.arguments.get("path") == made.arguments.get("path"):
            before = _known(step, call, before)
    after = _known(steps[number - 1], made, before)
    told = _TOLD.fullmatch(_first_line(steps[number - 1]))
    if before is None or after is None or told is None:
        return None
    return (before, after) if line_changes(before, after) == (int(told[1]), int(told[2])) else None


def _known(step: Step, call: RecordedCall, before: str | None) -> str | None:
    """Return what a file holds after a step; None if that is not known."""
    if call.function_name == "read_file":
        return _read(_content(step)) or before
    old, new = call.arguments.get("old_str"), call.arguments.get("new_str")
    told = _TOLD.fullmatch(_first_line(step))
    if call.function_name != "edit_file" or not told:
        return before
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    if not old:
        return new if len(new) <= _LONGEST else None
    places = int(told[3] or 1)
    if before is None or before.count(old) != places:
        return None
    longer = len(before) + places * (len(new) - len(old))
    return before.replace(old, new) if longer <= _LONGEST else None


def _read(content: str) -> str | None:
    """Return a file that was shown from its first line to its last; None if it was not."""
    if len(content) > _LONGEST:
        return None
    rows = content.split("\n")
    end = "" if rows[-1] == _OPEN_END else "\n"
    found = [_ROW.fullmatch(row) for row in (rows if end else rows[:-1])]
    lines = [match[2] for place, match in enumerate(found, 1) if match and int(match[1]) == place]
    if len(lines) != len(found) or _CUT in content:
        return None
    return "\n".join(lines) + end


def _only_call(step: Step) -> RecordedCall | None:
    calls = step.tool_calls or ()
    return calls[0] if len(calls) == 1 else None


def _content(step: Step) -> str:
    results = step.observation.results if step.observation else ()
    return (results[0].content or "") if results else ""


def _first_line(step: Step) -> str:
    return _content(step).partition("\n")[0]

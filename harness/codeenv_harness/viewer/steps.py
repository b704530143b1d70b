"""One step of a trajectory, as a line of the list and in full."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from codeenv.feedback import FeedbackEvent
from codeenv.tools.text import readable, shorten
from codeenv.trajectory import RecordedCall, Step, arguments_text, plain
from codeenv_harness.viewer import lines

_SUMMARY = 140
_SHORT = 120
_SOME = 10
_WHOLE = 200_000
_TOLD = ("path", "command", "query", "pattern", "message")
"""Arguments that tell a call best, in this order."""


def row(step: Step) -> dict[str, Any]:
    """Return a step on one line; short names, for there are thousands of them.

    ``t``: the tool or who spoke, ``s``: a summary, ``e``: what went wrong.
    """
    calls = step.tool_calls or ()
    found: dict[str, Any] = {"t": _title(step), "s": _line(_summary(step, calls))}
    if wrong := _wrong(_tool(step)):
        found["e"] = wrong
    return found


def details(
    step: Step, events: Sequence[FeedbackEvent], edit: tuple[str, str] | None, *, full: bool
) -> dict[str, Any]:
    """Return all of a step.

    Args:
        step: The step.
        events: Feedback on it.
        edit: The file before and after it, if it is an edit and that is known.
        full: Whether long texts are whole.
    """
    calls = step.tool_calls or ()
    by_id = {call.tool_call_id: call for call in calls}
    results = step.observation.results if step.observation else ()
    tool = _tool(step)
    return {
        "n": step.step_id,
        "title": _title(step),
        "source": step.source,
        "copied": bool(step.is_copied_context),
        "time": step.timestamp or "",
        "wrong": _wrong(tool),
        "exit": number(tool.get("exit_code")),
        "truncated": bool(tool.get("truncated")),
        "message": whole(step.message),
        "reasoning": whole(step.reasoning_content or ""),
        "metrics": _metrics(step),
        "reward": number((step.extra or {}).get("reward")),
        "calls": [_call(call, edit, full) for call in calls],
        "results": [
            lines.block(
                lines.output(r.content or "", _path(by_id.get(r.source_call_id or ""))), full
            )
            for r in results
        ],
        "feedback": [_event(event, calls) for event in events],
    }


def text_of(step: Step, events: Sequence[FeedbackEvent]) -> str:
    """Return everything in a step that can be searched for."""
    parts = [_title(step), step.message, step.reasoning_content or ""]
    for call in step.tool_calls or ():
        parts += (v if isinstance(v, str) else _json(v) for v in call.arguments.values())
    if step.observation:
        parts += (readable(result.content or "") for result in step.observation.results)
    parts += (f"{event.kind} {event.hint}" for event in events)
    return "\n".join(parts)


def whole(text: str) -> str:
    """Return what an agent said; of a text that nobody reads to its end, what fits."""
    return shorten(text, _WHOLE)


def number(value: object) -> float | None:
    """Return what a record says is a number, if it is one."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _title(step: Step) -> str:
    names = [call.function_name for call in step.tool_calls or ()]
    if names:
        return _line(" + ".join(names[:_SOME]))
    if step.is_copied_context:
        return "context"
    return "message" if step.source == "agent" else step.source


def _summary(step: Step, calls: Sequence[RecordedCall]) -> str:
    if not calls:
        return step.message
    arguments = calls[0].arguments
    texts = {name: value for name, value in arguments.items() if isinstance(value, str)}
    best = next((texts[name] for name in _TOLD if texts.get(name)), "")
    return best or next((text for text in texts.values() if text), step.message)


def _line(text: str) -> str:
    """Return the first of a text on one line."""
    line = " ".join(text[: 4 * _SUMMARY].split())
    return line if len(line) <= _SUMMARY else line[: _SUMMARY - 1] + "…"


def _tool(step: Step) -> Mapping[str, Any]:
    found = (step.extra or {}).get("tool")
    return found if isinstance(found, Mapping) else {}


def _wrong(tool: Mapping[str, Any]) -> str:
    if error := tool.get("error"):
        return str(error)[:_SHORT]
    if tool.get("timed_out"):
        return "timeout"
    code = number(tool.get("exit_code"))
    return f"exit {code}"[:_SHORT] if code else ""


def _metrics(step: Step) -> dict[str, Any]:
    found = step.metrics
    if found is None:
        return {}
    return {
        "prompt tokens": found.prompt_tokens,
        "completion tokens": found.completion_tokens,
        "cached tokens": found.cached_tokens,
        "cost, USD": found.cost_usd,
    }


def _path(call: RecordedCall | None) -> str:
    """Return the file that a call is about, for the colours of what it gave."""
    path = call.arguments.get("path") if call else None
    return path if isinstance(path, str) else ""


def _call(call: RecordedCall, edit: tuple[str, str] | None, full: bool) -> dict[str, Any]:
    """Return a call: its long arguments as blocks, an edit as a diff."""
    arguments = dict(call.arguments)
    path, found = _path(call), None
    old, new = arguments.get("old_str"), arguments.get("new_str")
    if isinstance(old, str) and isinstance(new, str):
        texts, numbered = edit or (old, new), edit is not None or not old
        found = lines.block(lines.diff(*texts, path, numbered=numbered), full)
        del arguments["old_str"], arguments["new_str"]
    return {
        "tool": call.function_name,
        "diff": found,
        "arguments": [_argument(name, value, full) for name, value in arguments.items()],
    }


def _argument(name: str, value: object, full: bool) -> dict[str, Any]:
    text = value if isinstance(value, str) else _json(value)
    if len(text) <= _SHORT and "\n" not in text:
        return {"name": name, "text": text}
    kind = ".sh" if name == "command" else ""
    return {"name": name, "block": lines.block(lines.code(text, kind and f"x{kind}"), full)}


def _json(value: object) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _event(event: FeedbackEvent, calls: Sequence[RecordedCall]) -> dict[str, Any]:
    told = event.model_dump(mode="json", include={"kind", "severity", "hint", "source", "turn"})
    evidence = {name: value for name, value in event.evidence.items() if name not in ("args",)}
    return told | {
        "privileged": event.privileged,
        "part": event.target.part.replace("_", " "),
        "at": _pointed(event, calls),
        "evidence": [(name, _line(_shown(value))) for name, value in evidence.items()],
    }


def _shown(value: object) -> str:
    return value if isinstance(value, str) else _json(value)


def _pointed(event: FeedbackEvent, calls: Sequence[RecordedCall]) -> str:
    """Return the characters that an event points at, where they are of a call."""
    target = event.target
    if target.call >= len(calls):
        return ""
    call = calls[target.call]
    text = {"tool_name": call.function_name, "arguments": ""}.get(target.part)
    if text is None:
        return ""
    if target.part == "arguments":
        text = arguments_text(plain(call.arguments))
    return _line(text[slice(*target.chars)])

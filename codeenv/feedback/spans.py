"""Exact places in what an agent wrote: of a tool's name, an argument, a message."""

import json
import re
from collections.abc import Mapping, Sequence

from codeenv.feedback.models import Target
from codeenv.feedback.turns import Turn
from codeenv.trajectory import Message, arguments_text

Span = tuple[int, int]
_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,:]*")


def members(text: str) -> dict[str, tuple[Span, Span]]:
    """Return where the keys and the values of a JSON object stand in its text, quotes included.

    A text that is no object gives nothing, or what of it was read before it ceased to be one.
    """
    found: dict[str, tuple[Span, Span]] = {}
    at = _skip(text, 0)
    if not text.startswith("{", at):
        return found
    at = _skip(text, at + 1)
    while text.startswith('"', at):
        try:
            key, key_end = _DECODER.raw_decode(text, at)
            start = _skip(text, key_end)
            _, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        found[key] = ((at, key_end), (start, end))
        at = _skip(text, end)
    return found


def _skip(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def on_message(turn: Turn) -> Target:
    """Return the turn's message as a whole."""
    return Target(message=turn.message, call=turn.call)


def on_content(turn: Turn) -> Target:
    """Return all that the agent wrote as content."""
    return _at(turn, "content", (0, len(turn.content)))


def on_tool(turn: Turn) -> Target:
    """Return the name of the tool; of what was no call, the content."""
    return _at(turn, "tool_name", (0, len(turn.tool))) if turn.tool else on_content(turn)


def on_arguments(turn: Turn) -> Target:
    """Return all arguments of the call; of what was no call, the content."""
    if not turn.tool:
        return on_content(turn)
    return _at(turn, "arguments", (0, len(turn.written)))


def on_value(turn: Turn, key: str) -> Target:
    """Return the value of an argument, or all arguments if there is no such one."""
    found = members(turn.written).get(key)
    return _at(turn, "arguments", found[1]) if found else on_arguments(turn)


def over(turn: Turn, spans: Sequence[Span]) -> Target:
    """Return the tightest range of the arguments over some spans; without any, all of them."""
    if not spans:
        return on_arguments(turn)
    return _at(turn, "arguments", (min(a for a, _ in spans), max(b for _, b in spans)))


def _at(turn: Turn, part: str, chars: Span) -> Target:
    values = {"message": turn.message, "call": turn.call, "part": part, "chars": chars}
    return Target.model_validate(values)


def target_text(messages: Sequence[Message], target: Target) -> str | None:
    """Return the text that a target's ``chars`` are of; of a message as a whole that is "".

    None if it points at nothing that an agent wrote.
    """
    if target.message >= len(messages) or messages[target.message]["role"] != "assistant":
        return None
    message = messages[target.message]
    if target.part in ("message", "content"):
        return "" if target.part == "message" else str(message["content"])
    calls: Sequence[Mapping[str, Mapping[str, object]]] = message.get("tool_calls", ())
    if target.call >= len(calls):
        return None
    function = calls[target.call]["function"]
    if target.part == "tool_name":
        return str(function["name"])
    arguments = function["arguments"]
    return arguments_text(arguments) if isinstance(arguments, Mapping) else str(arguments)

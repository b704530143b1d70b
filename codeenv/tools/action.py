"""From whatever an agent sends to one tool call, or to the error it gets to read."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from codeenv.tools.base import ToolCall, ToolResult

REASONING = ("reasoning", "reasoning_content")
"""Keys of an action beside its call that hold what the model thought."""
_SHAPE = 'an action is {"tool": name, "arguments": {…}} as a dict, as JSON text or as a tool call'


def parse_action(action: object) -> ToolCall | ToolResult:
    """Return the call an action stands for, or an ``invalid_action`` observation.

    Accepted are a ``ToolCall``, ``{"tool": …, "arguments": …}``, the tool calls of OpenAI's chat
    and responses interfaces (dict or model; arguments as a dict or as JSON text), and JSON text of
    any of these.  Whether the tool exists and the arguments fit is for ``perform`` to say.
    """
    if isinstance(action, ToolCall):
        return action
    if isinstance(action, BaseModel):
        action = action.model_dump()
    if isinstance(action, str | bytes):
        action = _json(action)
    if not isinstance(action, Mapping):
        return ToolResult.failed("", "invalid_action", f"not a tool call; {_SHAPE}")
    inner = action.get("function")
    return _call(inner if isinstance(inner, Mapping) else action)


def reasoning_of(action: object) -> str:
    """Return what an action tells of the thoughts behind it, or ""."""
    told = fields_of(action)
    return "\n".join(v for name in REASONING if isinstance(v := told.get(name), str))


def words_of(action: object) -> str:
    """Return what an action holds beside its call for people to read (``content``), or ""."""
    words = fields_of(action).get("content")
    return words if isinstance(words, str) else ""


def fields_of(action: object) -> dict[Any, Any]:
    """Return the fields of an action that is no text; nothing of anything else."""
    if isinstance(action, BaseModel):
        return action.model_dump()
    return dict(action) if isinstance(action, Mapping) else {}


def _call(action: Mapping[Any, Any]) -> ToolCall | ToolResult:
    name = action.get("tool", action.get("name"))
    if not isinstance(name, str) or not name:
        return ToolResult.failed("", "invalid_action", f"no tool is named; {_SHAPE}")
    arguments = action.get("arguments")
    if isinstance(arguments, str | bytes) and arguments.strip():
        arguments = _json(arguments)
    arguments = arguments or {}
    if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
        return ToolResult.failed(name, "invalid_action", "arguments are not a JSON object")
    return ToolCall(tool=name, arguments=dict(arguments))


def _json(text: str | bytes) -> object:
    """Return what JSON text says; a text that is none stays a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text

"""A trajectory as the chat messages its agent saw and wrote."""

import json
from collections.abc import Mapping
from typing import Any

from codeenv.trajectory.models import Trajectory
from codeenv.trajectory.segments import Segment
from codeenv.trajectory.steps import Step

Message = dict[str, Any]
"""A message of OpenAI's chat completions; a tool call's ``arguments`` are an object, as chat
templates of Hugging Face tokenizers take them.  ``reasoning_content`` is there where it is known
what the agent thought."""


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return a call's arguments as JSON text, the way most chat templates write them."""
    return json.dumps(arguments, ensure_ascii=False)


def messages_of(trajectory: Trajectory | Segment) -> list[Message]:
    """Return the messages of a trajectory, or of one segment of it, in order.

    What an agent said that was no tool call is a message with content; what was answered to it
    comes as a user message.
    """
    return [message for step in trajectory.steps for message in _of_step(step)]


def _of_step(step: Step) -> list[Message]:
    if step.source != "agent":
        return [{"role": step.source, "content": step.message}]
    calls = step.tool_calls or ()
    said: Message = {"role": "assistant", "content": step.message}
    if step.reasoning_content:
        said["reasoning_content"] = step.reasoning_content
    if calls:
        said["tool_calls"] = [
            {
                "id": call.tool_call_id,
                "type": "function",
                "function": {"name": call.function_name, "arguments": call.arguments},
            }
            for call in calls
        ]
    names = {call.tool_call_id: call.function_name for call in calls}
    results = step.observation.results if step.observation else ()
    return [said, *(_answer(r.source_call_id, r.content or "", names) for r in results)]


def _answer(call: str | None, content: str, names: Mapping[str, str]) -> Message:
    if call is None:
        return {"role": "user", "content": content}
    return {"role": "tool", "tool_call_id": call, "name": names[call], "content": content}

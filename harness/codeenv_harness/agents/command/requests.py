"""What a program may ask of its model: checked here, because everything in a box is hostile."""

from collections.abc import Mapping
from typing import Any

from codeenv.trajectory import plain

_OWN = (
    *("tools", "tool_choice", "parallel_tool_calls", "response_format", "stop"),
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort"),
    *("presence_penalty", "frequency_penalty", "logit_bias"),
)
"""Fields that a program may set; where an option says otherwise, that counts."""
_MOST = 10_000
"""Messages, and tools."""
_INLINE = "data:"


class BadRequest(Exception):
    """Raised with what is wrong with a request."""


def checked(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a request goes on to the server: messages, and fields that it may set.

    A server can do more than to answer: search the web, run tools, fetch pictures.  A program
    without network must not have it do so: tools are functions, and content is there as it is.

    Raises:
        BadRequest: If there are no messages, too many, or something beside text in them.
    """
    messages, tools = request.get("messages"), request.get("tools") or []
    for what, value in (("messages", messages), ("tools", tools)):
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise BadRequest(f"{what} must be a list of objects")
        if len(value) > _MOST:
            raise BadRequest(f"there are more than {_MOST:,} {what}")
    if any(tool.get("type") != "function" for tool in (*tools, *_chosen(request))):
        raise BadRequest("tools of the server are not served: only functions are")
    for message in messages or ():
        _check_content(message.get("content"))
    own = {name: request[name] for name in _OWN if request.get(name) is not None}
    found: dict[str, Any] = plain({**own, "messages": messages, "tools": tools})
    return found


def _chosen(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    choice = request.get("tool_choice")
    return [choice] if isinstance(choice, Mapping) else []


def _check_content(content: object) -> None:
    for part in content if isinstance(content, list) else ():
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in ("text", "refusal"):
            continue
        picture = part.get("image_url") if kind == "image_url" else None
        url = picture.get("url") if isinstance(picture, Mapping) else picture
        if not isinstance(url, str) or not url.startswith(_INLINE):
            raise BadRequest("content must be text, or pictures as data: URLs")

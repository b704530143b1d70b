"""What an agent sent as text, and how many tokens a text is."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

TokenCounter = Callable[[str], int]
"""Gives the number of tokens of a text; any tokenizer's will do."""
REASONING = ("reasoning", "reasoning_content")
"""Keys of an action beside its call that hold what the model thought."""


def approximate_tokens(text: str) -> int:
    """Return about how many tokens a text is: its bytes in UTF-8 by four, rounded up.

    Good enough to compare rollouts of one policy; give the model's own counter where a number of
    tokens must hold.
    """
    return -(-len(text.encode("utf-8", "replace")) // 4)


def reasoning_of(action: object) -> str:
    """Return what an action tells of the thoughts behind it, or ""."""
    said = _mapping(action)
    return "\n".join(v for name in REASONING if isinstance(v := said.get(name), str))


def text_of(action: object) -> str:
    """Return an action as the text a model wrote, without its reasoning.

    A text is taken as it was sent, anything else as JSON.
    """
    if isinstance(action, str):
        return action
    if isinstance(action, bytes):
        return action.decode("utf-8", "replace")
    said = _mapping(action)
    plain = {name: value for name, value in said.items() if name not in REASONING}
    try:
        return json.dumps(plain if said else action, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):  # an agent may send anything
        return f"({type(action).__name__})"


def _mapping(action: object) -> dict[Any, Any]:
    if isinstance(action, BaseModel):
        return action.model_dump()
    return dict(action) if isinstance(action, Mapping) else {}

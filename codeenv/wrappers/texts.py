"""What an agent sent as text, and how many tokens a text is."""

import json
from collections.abc import Callable

from codeenv.tools.action import REASONING, fields_of, reasoning_of

__all__ = ["REASONING", "TokenCounter", "approximate_tokens", "reasoning_of", "text_of"]
TokenCounter = Callable[[str], int]
"""Gives the number of tokens of a text; any tokenizer's will do."""


def approximate_tokens(text: str) -> int:
    """Return about how many tokens a text is: its bytes in UTF-8 by four, rounded up.

    Good enough to compare rollouts of one policy; give the model's own counter where a number of
    tokens must hold.
    """
    return -(-len(text.encode("utf-8", "replace")) // 4)


def text_of(action: object) -> str:
    """Return an action as the text a model wrote, without its reasoning.

    A text is taken as it was sent, anything else as JSON.
    """
    if isinstance(action, str):
        return action
    if isinstance(action, bytes):
        return action.decode("utf-8", "replace")
    said = fields_of(action)
    plain = {name: value for name, value in said.items() if name not in REASONING}
    try:
        return json.dumps(plain if said else action, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):  # an agent may send anything
        return f"({type(action).__name__})"

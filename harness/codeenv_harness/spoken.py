"""What an agent says with an action: the call, the words beside it, and the thoughts behind it."""

from collections.abc import Mapping
from dataclasses import dataclass

from codeenv.feedback import said
from codeenv.tools import ToolCall
from codeenv.tools.action import REASONING, reasoning_of, words_of

_WORDS = {"role", "content", *REASONING}


@dataclass(frozen=True)
class Spoken:
    """An action, taken apart.

    Attributes:
        sent: What of it is for the environment.
        call: The tool call that it is, if it is one.
        words: What was said beside the call, or instead of one.
        thoughts: What was thought.
    """

    sent: object
    call: ToolCall | None
    words: str
    thoughts: str


def spoken(action: object) -> Spoken:
    """Take an action apart.

    It may hold, beside a call or without one, ``content`` (words) and ``reasoning`` or
    ``reasoning_content`` (thoughts).  Of words with thoughts the environment gets the words.
    """
    held = action if isinstance(action, Mapping) else {}
    words = words_of(action)
    alone = isinstance(held.get("content"), str) and not set(held) - _WORDS
    sent = words if alone else action
    made = said(sent)
    if not isinstance(made, ToolCall):
        return Spoken(sent, None, made, reasoning_of(action))
    return Spoken(sent, made, "" if alone else words, reasoning_of(action))

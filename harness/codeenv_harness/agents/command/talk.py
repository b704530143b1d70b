"""What a program and its model said to each other, put together from the requests it made.

A request holds a whole history.  What comes in it after an answer is what this answer gave: one
whose calls or words are the last of the model's there, or that answered the messages before it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codeenv.trajectory import utc_now
from codeenv_harness.agents.chat.answers import Answer, arguments_of
from codeenv_harness.agents.resident import Deed, Messages, Stay
from codeenv_harness.agents.texts import text_of

_KEPT = 32 * 1024**2
"""Characters of what a program told its model that are written down, in one episode."""
_MESSAGES = 200
"""Messages between two answers that are written down."""


@dataclass
class _Said:
    """An answer of the model, and whether it is known what it gave.

    Attributes:
        answer: The answer.
        deed: As it is told.
        history: How many messages were before it, and their digest.
        open: Whether what it gave is not known yet.
    """

    answer: Answer
    deed: Deed
    history: tuple[int, str]
    open: bool = True

    def is_of(self, message: Mapping[str, Any]) -> bool:
        ids = [call.get("id") for call in _mappings(message.get("tool_calls"))]
        if ids or self.answer.calls:
            return ids == [call[0] for call in self.answer.calls]
        return text_of(message.get("content")).strip() == self.answer.words.strip()


class Talk:
    """Tells a stay what was said, in the order of the answers."""

    def __init__(self, stay: Stay) -> None:
        """Begin with nothing said."""
        self._stay = stay
        self._said: list[_Said] = []
        self._before: Messages = ()
        self._history = (0, "")
        self._left = _KEPT

    def asked(self, request: Mapping[str, Any]) -> None:
        """Take up what a request tells of the answers before it; it was checked already."""
        messages: Messages = request["messages"]
        if not self._stay.tools:
            self._stay.tools += request.get("tools", ())
        last = max((n for n, one in enumerate(messages) if _is_model(one)), default=-1)
        before, whole = _digests(messages, max(last, 0))
        rest = self._kept(messages[last + 1 :])
        said = self._said_last(messages[last], (last, before)) if last >= 0 else None
        if said is not None:
            said.open, said.deed.after = False, rest
        self._before = () if said is not None else rest
        self._history = (len(messages), whole)

    def answered(self, answer: Answer) -> None:
        """Note the answer to the last request."""
        calls = tuple(
            (call["id"], call["function"]["name"], arguments_of(call["function"]["arguments"]))
            for call in answer.message.get("tool_calls", ())
        )
        deed = Deed(answer.words, utc_now(), answer.reasoning, calls, answer.metrics, self._before)
        self._said.append(_Said(answer, deed, self._history))
        self._stay.deeds.append(deed)
        self._before = ()

    def _said_last(self, message: Mapping[str, Any], place: tuple[int, str]) -> _Said | None:
        """Return the answer that a history's last words of the model are, if it is known."""
        waiting = [one for one in reversed(self._said) if one.open]
        words = (one for one in waiting if one.is_of(message))
        return next(words, next((one for one in waiting if one.history == place), None))

    def _kept(self, messages: Messages) -> Messages:
        """Return what is written down of messages: their texts, as long as there is room."""
        found = []
        for message in messages[:_MESSAGES]:
            text = text_of(message.get("content"))
            kept = text[: self._left]
            self._left -= len(kept)
            cut = "" if kept == text else "\n[cut: the record is full]"
            call = {"tool_call_id": message.get("tool_call_id")}
            found.append({"role": message.get("role"), "content": kept + cut, **call})
        return found


def _digests(messages: Messages, first: int) -> tuple[str, str]:
    """Return the digests of the first messages, and of all."""
    begun = hashlib.sha256()
    _feed(begun, messages[:first])
    whole = begun.copy()
    _feed(whole, messages[first:])
    return begun.hexdigest(), whole.hexdigest()


def _feed(digest: "hashlib._Hash", messages: Messages) -> None:
    for message in messages:
        digest.update(json.dumps(message, sort_keys=True).encode())


def _mappings(value: object) -> list[Mapping[str, Any]]:
    listed = value if isinstance(value, list) else []
    return [one for one in listed if isinstance(one, Mapping)]


def _is_model(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant"

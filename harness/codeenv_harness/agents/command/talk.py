"""What a program and its model said to each other, put together from the requests it made.

A request holds a whole history.  What comes in it after an answer is what this answer gave: one
whose calls or words are the last of the model's there, or that answered the messages before it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codeenv.trajectory import plain, utc_now
from codeenv_harness.agents.chat.answers import Answer, arguments_of
from codeenv_harness.agents.resident import Deed, Messages, Stay
from codeenv_harness.agents.texts import text_of


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
        calls = message.get("tool_calls")
        ids = [call.get("id") for call in calls or () if isinstance(call, Mapping)]
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

    def asked(self, request: Mapping[str, Any]) -> None:
        """Take up what a request tells of the answers before it."""
        messages = [plain(one) for one in _mappings(request.get("messages"))]
        if not self._stay.tools:
            self._stay.tools += [plain(tool) for tool in _mappings(request.get("tools"))]
        digests = _digests(messages)
        last = max((n for n, one in enumerate(messages) if _is_model(one)), default=-1)
        rest = messages[last + 1 :]
        said = self._said_last(messages, last, digests)
        if said is not None:
            said.open, said.deed.after = False, rest
        self._before = () if said is not None else rest
        self._history = (len(messages), digests[-1])

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

    def _said_last(self, messages: Messages, last: int, digests: Sequence[str]) -> _Said | None:
        """Return the answer that a history's last words of the model are, if it is known."""
        if last < 0:
            return None
        waiting = [one for one in reversed(self._said) if one.open]
        words = (one for one in waiting if one.is_of(messages[last]))
        place = (one for one in waiting if one.history == (last, digests[last]))
        return next(words, next(place, None))


def _digests(messages: Messages) -> list[str]:
    """Return the digest of the first 0, 1, 2 … messages."""
    total = hashlib.sha256()
    found = [total.hexdigest()]
    for message in messages:
        total.update(json.dumps(message, sort_keys=True).encode())
        found.append(total.hexdigest())
    return found


def _mappings(value: object) -> list[Mapping[str, Any]]:
    listed = value if isinstance(value, list) else []
    return [one for one in listed if isinstance(one, Mapping)]


def _is_model(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant"

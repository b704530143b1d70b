"""The turn that a teacher pair is about: its tokens, and which of them a target means."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from codeenv.errors import UsageError
from codeenv.feedback.hints import MessagePair
from codeenv.feedback.locate import Span, common_prefix, find_part
from codeenv.feedback.models import Target
from codeenv.feedback.render import Renderer
from codeenv.trajectory import Message, StepMetrics


@dataclass(frozen=True)
class Completion:
    """A turn as tokens.

    Attributes:
        ids: Its tokens, the one that ends the turn included.
        text: What they say; None if that is not known.
    """

    ids: Sequence[int]
    text: str | None
    _renderer: Renderer
    _pair: MessagePair
    _tools: Sequence[Mapping[str, Any]]

    @classmethod
    def of(
        cls,
        renderer: Renderer,
        pair: MessagePair,
        tools: Sequence[Mapping[str, Any]],
        metrics: StepMetrics | None,
    ) -> "Completion":
        """Take the sampler's tokens if it left them, else render the turn.

        Raises:
            UsageError: If the template does not write what the turn says.
        """
        recorded = metrics.completion_token_ids if metrics else None
        if recorded is not None:
            return cls(recorded, renderer.decode(recorded), renderer, pair, tools)
        text = renderer.completion([*pair.student, pair.target], tools)
        names = [call["function"]["name"] for call in pair.target.get("tool_calls", ())]
        if not all(shown_in(text, said) for said in (pair.target["content"], *names)):
            raise UsageError(
                "the chat template does not write all that the agent said or called",
                hint="use a template that writes tool calls, record the sampler's token ids, "
                "or use PlainRenderer",
            )
        return cls(renderer.encode(text).ids, text, renderer, pair, tools)

    def mask(self, target: Target) -> tuple[int, ...] | None:
        """Return ones where the target is; None if it is the message, or cannot be found."""
        if self.text is None or target.part == "message":
            return None
        span = find_part(self.text, self._pair.target, target, self._written)
        if span is None:
            return None
        mask = tuple(int(a < span[1] and b > span[0]) for a, b in self._offsets(self.text))
        return mask if any(mask) else None

    def _written(self, message: Message) -> str | None:
        """Render another message in the turn's place."""
        try:
            return self._renderer.completion([*self._pair.student, message], self._tools)
        except UsageError:
            return None

    def _offsets(self, text: str) -> Sequence[Span]:
        """Return the characters of each token; a part of a character stands for all of it."""
        encoded = self._renderer.encode(text)
        if encoded.ids == [*self.ids]:
            return encoded.offsets
        ends = [0]
        for count in range(1, len(self.ids) + 1):
            known = self._renderer.decode(self.ids[:count]) or ""
            ends.append(max(ends[-1], common_prefix(known, text)))
        spans = [*pairwise(ends)]
        for index in reversed(range(len(spans) - 1)):
            if spans[index][0] == spans[index][1]:
                spans[index] = spans[index][0], spans[index + 1][1]
        return spans


def shown_in(rendered: str, text: str) -> bool:
    """Return whether a template wrote a text, in whatever spelling."""
    return any(spelling in rendered for spelling in spellings(text))


def spellings(text: str) -> tuple[str, ...]:
    """Return how a template may write a text: as it is, or as JSON."""
    bare = text.strip()
    escaped = (json.dumps(bare, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True))
    return (bare, *escaped)

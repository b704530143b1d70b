"""An agent whose words a trainer samples: it keeps the token ids, and hands them over."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from codeenv.feedback import said
from codeenv.feedback.render import ChatTokenizer, Renderer, renderer_of
from codeenv.tools import ToolCall, ToolResult
from codeenv.trajectory import Message, StepMetrics
from codeenv_harness.agents.base import Briefing

_CALL = re.compile(r"<tool_call>\s*(\{.*\})\s*</tool_call>", re.DOTALL)


@dataclass(frozen=True)
class Sampled:
    """What a model wrote.

    Attributes:
        ids: Its tokens, the one that ends the turn included.
        logprobs: One for each of them, at the temperature that they were drawn with.
        policy_version: Which weights wrote it.
    """

    ids: Sequence[int]
    logprobs: Sequence[float] | None = None
    policy_version: int | str | None = None


class SampledAgent:
    """Plays with any model, one call at a time.

    What the model saw and wrote stays as it was, token by token: each prompt is the one before it,
    the answer to it, and what the chat template writes behind that.  Where a template rewrites
    what was said before, the prompt is rendered anew.

    Args:
        tokenizer: A Hugging Face tokenizer with a chat template, or a renderer.
        sample: Returns what the model writes behind a prompt.
        parse: Returns the action in a text; by default the JSON between ``<tool_call>`` tags, else
            all of it.
    """

    name = "sampled"

    def __init__(
        self,
        tokenizer: ChatTokenizer | Renderer,
        sample: Callable[[list[int]], Sampled],
        parse: "Callable[[str], object] | None" = None,
    ) -> None:
        """Take a model."""
        self._renderer = renderer_of(tokenizer)
        self._sample, self._parse = sample, parse or call_in
        self._metrics: StepMetrics | None = None

    def reset(self, briefing: Briefing) -> None:
        """Begin an episode."""
        self._tools: Sequence[dict[str, Any]] = briefing.tools
        self._messages: list[Message] = [{"role": "user", "content": briefing.instruction}]
        self._text, self._ids = "", list[int]()
        self._metrics = None

    def act(self, observation: ToolResult | None) -> object:
        """Let the model write, and return the action in it."""
        if observation is not None:
            self._answer(observation.text)
        prompt = self._renderer.prompt(self._messages, self._tools)
        if self._ids and prompt.startswith(self._text):
            self._ids += self._renderer.encode(prompt[len(self._text) :]).ids
        else:
            self._ids = self._renderer.encode(prompt).ids
        sampled = self._sample([*self._ids])
        self._metrics = _metrics(self._ids, sampled)
        text, ended = self._said(sampled.ids)
        action = self._parse(text)
        self._messages.append(_message(action, len(self._messages)))
        whole = self._renderer.completion(self._messages, self._tools)
        self._ids += sampled.ids
        self._text = prompt + (whole if ended else whole.removesuffix(self._end(whole)))
        return action

    def metrics(self) -> StepMetrics | None:
        """Return the tokens of the last action."""
        return self._metrics

    def _said(self, ids: Sequence[int]) -> tuple[str, bool]:
        """Return the text of tokens without the end of the turn, and whether that was there."""
        text = self._renderer.decode(ids) or ""
        end = self._end(text.rstrip())
        return text.rstrip().removesuffix(end), bool(end)

    def _end(self, text: str) -> str:
        return next((mark for mark in self._renderer.marks if mark and text.endswith(mark)), "")

    def _answer(self, text: str) -> None:
        calls = self._messages[-1].get("tool_calls")
        answer: Message = {"role": "user", "content": text}
        if calls:
            known = {"tool_call_id": calls[0]["id"], "name": calls[0]["function"]["name"]}
            answer = {"role": "tool", **known, "content": text}
        self._messages.append(answer)


def call_in(text: str) -> str:
    """Return the JSON between the tags of a tool call; the text itself if there are none."""
    found = _CALL.search(text)
    return found.group(1) if found else text.strip()


def _message(action: object, number: int) -> Message:
    """Return an action as the message that a record of the episode will have."""
    made = said(action)
    if not isinstance(made, ToolCall):
        return {"role": "assistant", "content": made}
    function = {"name": made.tool, "arguments": made.arguments}
    call = {"id": f"call_{number + 1}", "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def _metrics(prompt: Sequence[int], sampled: Sampled) -> StepMetrics:
    version = sampled.policy_version
    return StepMetrics(
        prompt_tokens=len(prompt),
        completion_tokens=len(sampled.ids),
        prompt_token_ids=[*prompt],
        completion_token_ids=[*sampled.ids],
        logprobs=[*sampled.logprobs] if sampled.logprobs is not None else None,
        extra=None if version is None else {"policy_version": version},
    )

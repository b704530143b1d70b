"""An agent whose words a trainer samples: it keeps the token ids, and hands them over."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from codeenv.feedback.render import ChatTokenizer, Renderer, renderer_of
from codeenv.tools import ToolCall, ToolResult, parse_action
from codeenv.trajectory import Message, StepMetrics
from codeenv_harness.agents.base import Briefing
from codeenv_harness.spoken import spoken

_THINK, _THOUGHT = "<think>", "</think>"
_CALL, _CALLED = "<tool_call>", "</tool_call>"
_SPACE = re.compile(r"\s*")


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
        parse: Returns the action in a text, by default ``action_in``.  Where the prompt ended with
            ``<think>``, the text begins with it.
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
        self._sample, self._parse = sample, parse or action_in
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
        action = self._parse(_THINK + text if prompt.rstrip().endswith(_THINK) else text)
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


def action_in(text: str) -> object:
    """Return the action in a text, with all that stands around it.

    The action is the first well-formed call between ``<tool_call>`` tags, else the text, without
    the tags if it is nothing but a malformed call.  What is said before and behind the call is
    its ``content``; what a text begins with between ``<think>`` tags is its ``reasoning_content``.
    """
    thoughts, words = _thoughts(text)
    beside = {"reasoning_content": thoughts} if thoughts else {}
    call, rest = _called(words) or (parse_action(words), "")
    if isinstance(call, ToolCall):
        said = {"content": rest} if rest else {}
        return {"tool": call.tool, "arguments": call.arguments, **said, **beside}
    if words.startswith(_CALL) and words.endswith(_CALLED) and words.count(_CALL) == 1:
        words = words.removeprefix(_CALL).removesuffix(_CALLED).strip()
    return {"content": words, **beside} if beside else words


def _thoughts(text: str) -> tuple[str, str]:
    """Return what a text begins with as thought, and the rest."""
    bare = text.strip()
    if not bare.startswith(_THINK):
        return "", bare
    thoughts, _, rest = bare.removeprefix(_THINK).partition(_THOUGHT)
    return thoughts.strip(), rest.strip()


def _called(text: str) -> tuple[ToolCall, str] | None:
    """Return the first well-formed call between tags, and what is said around it."""
    for opened in re.finditer(_CALL, text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, _behind_space(text, opened.end()))
        except (ValueError, RecursionError):
            continue
        call, end = parse_action(value), _behind_space(text, end)
        if text.startswith(_CALLED, end) and isinstance(call, ToolCall):
            around = text[: opened.start()].strip(), text[end + len(_CALLED) :].strip()
            return call, "\n".join(filter(None, around))
    return None


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _message(action: object, number: int) -> Message:
    """Return an action as the message that a record of the episode will have."""
    made = spoken(action)
    message: Message = {"role": "assistant", "content": made.words}
    if made.thoughts:
        message["reasoning_content"] = made.thoughts
    if made.call is not None:
        function = {"name": made.call.tool, "arguments": made.call.arguments}
        call = {"id": f"call_{number + 1}", "type": "function", "function": function}
        message["tool_calls"] = [call]
    return message


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

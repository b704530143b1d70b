"""From what a server answers to a message of the history, and the numbers of the answer."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openai.types.chat import ChatCompletion

from codeenv.trajectory import StepMetrics, plain
from codeenv_harness.agents.texts import text_of
from codeenv_harness.prices import Price

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
"""Names that servers give to what a model thought."""


@dataclass(frozen=True)
class Answer:
    """One answer of a model.

    Attributes:
        message: As it goes into the history.
        words: What it said.
        reasoning: What it thought, as far as that is told.
        calls: Its tool calls: id, name and arguments as JSON text.
        metrics: Its tokens.
        reply: All of the completion, as the server gave it.
    """

    message: dict[str, Any]
    words: str
    reasoning: str
    calls: tuple[tuple[str, str, str], ...]
    metrics: StepMetrics
    reply: Mapping[str, Any] = field(default_factory=dict)


def answer_of(
    reply: ChatCompletion, number: int, price: Price | None, *, reasoning: bool
) -> Answer:
    """Read a completion that has at least one choice.

    Args:
        reply: The completion.
        number: Of the answer in its episode; it names calls that have no id.
        price: Of the model's tokens.
        reasoning: Whether the message keeps what was thought.
    """
    whole = plain(reply.model_dump(exclude_none=True, warnings=False))
    said = whole["choices"][0]["message"]
    calls = tuple(_calls(said.get("tool_calls") or (), number))
    words = text_of(said.get("content")) or text_of(said.get("refusal"))
    message: dict[str, Any] = {"role": "assistant", "content": words}
    if calls:
        message["tool_calls"] = [_sent(*call) for call in calls]
    thoughts = {name: said[name] for name in _REASONING if said.get(name)}
    if reasoning:
        message |= thoughts
    told = next((v for v in thoughts.values() if isinstance(v, str)), "")
    return Answer(message, words, told, calls, _metrics(reply, price), whole)


def _calls(calls: Sequence[Mapping[str, Any]], number: int) -> list[tuple[str, str, str]]:
    """Return the calls of a message; each has an id that no other has."""
    made: list[tuple[str, str, str]] = []
    for place, call in enumerate(calls):
        function = call.get("function") or call.get("custom") or {}
        name, arguments = function.get("name"), function.get("arguments", function.get("input"))
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments)  # some servers send the object itself
        given = call.get("id")
        ids = {one[0] for one in made}
        unique = given if given and given not in ids else f"call_{number}_{place}"
        made.append((unique, name if isinstance(name, str) else "", arguments or "{}"))
    return made


def arguments_of(written: str) -> dict[str, Any]:
    """Return the arguments of a call that ``_sent`` made."""
    found = json.loads(written)
    return found if isinstance(found, dict) else {"malformed": written}


def _sent(identity: str, name: str, arguments: str) -> dict[str, Any]:
    """Return a call as it goes back to the server.

    Arguments that are no JSON object are wrapped, and a name is made one that a tool can have:
    servers check what they are sent, and one bad call would end the conversation.
    """
    try:
        fine = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        fine = False
    written = arguments if fine else json.dumps({"malformed": arguments})
    named = _NO_NAME.sub("_", name)[:_LONGEST_NAME] or "unnamed"
    function = {"name": named, "arguments": written}
    return {"id": identity, "type": "function", "function": function}


def _metrics(reply: ChatCompletion, price: Price | None) -> StepMetrics:
    """Return tokens and cost; token ids and log-probabilities where a server tells them."""
    usage, choice = reply.usage, reply.choices[0]
    extra = {"finish_reason": choice.finish_reason, "response_id": reply.id, "model": reply.model}
    facts: dict[str, Any] = {"extra": {k: v for k, v in extra.items() if v}}
    if usage is not None:
        details = usage.prompt_tokens_details
        prompt, completion = _count(usage.prompt_tokens), _count(usage.completion_tokens)
        cached = _count(details.cached_tokens if details else None) or 0
        cost = _amount((usage.model_extra or {}).get("cost"))
        if cost is None and price is not None and prompt is not None and completion is not None:
            cost = price.cost(prompt, completion, cached)
        facts |= {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "cached_tokens": cached,
            "cost_usd": cost,
        }
    return StepMetrics.model_validate({**facts, **_tokens(reply)})


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _amount(value: object) -> float | None:
    fine = isinstance(value, int | float) and math.isfinite(value) and value >= 0
    return float(value) if fine and isinstance(value, int | float) else None


def _tokens(reply: ChatCompletion) -> dict[str, Any]:
    choice = reply.choices[0]
    prompt = (reply.model_extra or {}).get("prompt_token_ids")
    ids = (choice.model_extra or {}).get("token_ids")
    if not isinstance(ids, list) or not _numbers(prompt) or not _numbers(ids):
        return {}
    listed = choice.logprobs.content if choice.logprobs else None
    logprobs = [one.logprob for one in listed or ()]
    told = {"logprobs": logprobs} if len(logprobs) == len(ids) else {}
    return {"prompt_token_ids": prompt, "completion_token_ids": ids, **told}


def _numbers(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, int) for one in value)

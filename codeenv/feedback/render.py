"""Conversations as tokens: chat templates of Hugging Face tokenizers, and a plain format of ours.

A renderer writes two texts: the prompt up to where the model writes, and what the model writes
for the turn after it, from its first token through the one that ends the turn.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from codeenv.errors import UsageError
from codeenv.trajectory import Message, arguments_text

Tools = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Encoded:
    """Token ids of a text, and for each the half-open range of characters it stands for."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class Renderer(Protocol):
    """Writes conversations as text and as tokens."""

    @property
    def marks(self) -> Sequence[str]:
        """The texts that steer the format; none may come from a hint."""
        ...

    def prompt(self, messages: Sequence[Message], tools: Tools) -> str:
        """Return the text up to where the model writes."""
        ...

    def completion(self, messages: Sequence[Message], tools: Tools) -> str:
        """Return what the model writes as the last of the messages, end of turn included."""
        ...

    def encode(self, text: str) -> Encoded:
        """Return a text's tokens; nothing is added to it."""
        ...

    def decode(self, ids: Sequence[int]) -> str | None:
        """Return the text of tokens, or None if that is not known."""
        ...


@runtime_checkable
class ChatTokenizer(Protocol):
    """What is used of a Hugging Face tokenizer."""

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any:  # noqa: ANN401
        """Render a conversation."""
        ...

    def __call__(self, text: str, **options: Any) -> Any:  # noqa: ANN401
        """Tokenise a text."""
        ...

    def decode(self, token_ids: Any, **options: Any) -> Any:  # noqa: ANN401
        """Return the text of tokens."""
        ...


def renderer_of(tokenizer: "ChatTokenizer | Renderer") -> "Renderer":
    """Return the renderer for a tokenizer; a renderer is returned as it is."""
    if isinstance(tokenizer, ChatTokenizer):
        return ChatTemplate(tokenizer)
    return tokenizer


@dataclass(frozen=True)
class ChatTemplate:
    """The chat template of a Hugging Face tokenizer.

    Attributes:
        tokenizer: A fast tokenizer: offsets are needed.
        options: What the template takes beside messages and tools, as the sampler gave it, e.g.
            ``{"enable_thinking": False}``.
        end_of_turn: The token that ends the model's turn; found by itself if None.
        arguments: What the template takes as a call's arguments: an object or JSON text.
    """

    tokenizer: ChatTokenizer
    options: Mapping[str, Any] = field(default_factory=dict)
    end_of_turn: str | None = None
    arguments: Literal["object", "text"] = "object"

    @property
    def marks(self) -> Sequence[str]:
        """The tokenizer's special tokens."""
        own = [self.end_of_turn] if self.end_of_turn else []
        return [*own, *getattr(self.tokenizer, "all_special_tokens", ())]

    def prompt(self, messages: Sequence[Message], tools: Tools) -> str:
        """Render all messages, and the opening of the model's turn."""
        return self._apply(messages, tools, add_generation_prompt=True)

    def completion(self, messages: Sequence[Message], tools: Tools) -> str:
        """Render all messages, and take away the prompt and what follows the end of the turn.

        Raises:
            UsageError: If the template does not open a turn the way it writes one, or ends it with
                no token of its own.
        """
        whole, prompt = self._apply(messages, tools), self.prompt(messages[:-1], tools)
        if not whole.startswith(prompt):
            raise UsageError(
                "the chat template writes the agent's turn in another way than it opens one",
                hint="give the sampler's options, ChatTemplate(tokenizer, {'enable_thinking': …}), "
                "or record the sampler's token ids",
            )
        return self._through_end(whole[len(prompt) :])

    def encode(self, text: str) -> Encoded:
        """Tokenise; special tokens in the text are what they look like."""
        if not getattr(self.tokenizer, "is_fast", True):
            raise UsageError("the tokenizer tells no offsets", hint="use its fast version")
        found = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return Encoded([*found["input_ids"]], [(a, b) for a, b in found["offset_mapping"]])

    def decode(self, ids: Sequence[int]) -> str | None:
        """Return the text, special tokens included."""
        text = self.tokenizer.decode(
            [*ids], skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return str(text)

    def _apply(self, messages: Sequence[Message], tools: Tools, **options: Any) -> str:  # noqa: ANN401
        given = {**({"tools": [*tools]} if tools else {}), **self.options, **options}
        shown = [*messages] if self.arguments == "object" else [_as_text(m) for m in messages]
        try:
            text = self.tokenizer.apply_chat_template(shown, tokenize=False, **given)
        except Exception as error:  # a template raises what it likes
            raise UsageError(
                f"the chat template refuses the conversation: {error}",
                hint="where it wants the roles to alternate: placement='append_last'; "
                "where it wants arguments as text: ChatTemplate(tokenizer, arguments='text')",
            ) from error
        return str(text)

    def _through_end(self, text: str) -> str:
        """Cut what follows the end of the turn: it is in the prompt of the next one."""
        if self.end_of_turn:
            at = text.rfind(self.end_of_turn)
            if at >= 0:
                return text[: at + len(self.end_of_turn)]
        tail = _marks_at_end(text, [mark for mark in self._ends() if mark])
        if tail is None or self.end_of_turn:
            raise UsageError(
                "the chat template ends the agent's turn with no special token",
                hint="name the token: ChatTemplate(tokenizer, end_of_turn='…')",
            )
        stop = getattr(self.tokenizer, "eos_token", None) or ""
        at = text.find(stop, tail) if stop else -1
        return text[: at + len(stop)] if at >= 0 else text.rstrip()

    def _ends(self) -> list[str]:
        """Return the special tokens; those added without being special if there are none."""
        special = [*getattr(self.tokenizer, "all_special_tokens", ())]
        added: Mapping[str, int] = getattr(self.tokenizer, "get_added_vocab", dict)()
        return special or [*added]


def _marks_at_end(text: str, marks: Sequence[str]) -> int | None:
    """Return where the marks that a text ends with begin, white space between them or not."""
    first, end = None, len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        ends = [mark for mark in marks if text.endswith(mark, 0, end)]
        if not ends:
            return first
        first = end = end - max(map(len, ends))


def _as_text(message: Message) -> Message:
    calls = [
        {**call, "function": {**f, "arguments": arguments_text(f["arguments"])}}
        for call in message.get("tool_calls", ())
        for f in (call["function"],)
    ]
    return {**message, "tool_calls": calls} if calls else message


@dataclass(frozen=True)
class PlainRenderer:
    """A plain format, for trainers whose tokenizer has no chat template.

    ``<|user|>``, a newline, the text, ``<|end|>``, a newline; calls are JSON behind ``<|call|>``.

    Attributes:
        tokenise: Returns the ids of a text, and the range of characters of each.
        detokenise: Returns the text of ids; where it is missing, spans inside of recorded tokens
            become whole messages.
    """

    tokenise: Callable[[str], tuple[list[int], list[tuple[int, int]]]]
    detokenise: Callable[[Sequence[int]], str] | None = None

    @property
    def marks(self) -> Sequence[str]:
        """What opens and ends messages and calls."""
        roles = ("system", "user", "assistant", "tool", "tools")
        return ["<|end|>", "<|call|>", *(f"<|{role}|>" for role in roles)]

    def prompt(self, messages: Sequence[Message], tools: Tools) -> str:
        """Write all messages, and the opening of the model's turn."""
        listed = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
        first = f"<|tools|>\n{listed}<|end|>\n" if tools else ""
        return first + "".join(_written(messages)) + "<|assistant|>\n"

    def completion(self, messages: Sequence[Message], tools: Tools) -> str:
        """Write the last message."""
        return _body(messages[-1])

    def encode(self, text: str) -> Encoded:
        """Tokenise."""
        return Encoded(*self.tokenise(text))

    def decode(self, ids: Sequence[int]) -> str | None:
        """Return the text, if ``detokenise`` was given."""
        return self.detokenise(ids) if self.detokenise else None


def _written(messages: Iterable[Message]) -> Iterable[str]:
    return (f"<|{message['role']}|>\n{_body(message)}\n" for message in messages)


def _body(message: Message) -> str:
    calls = "".join(
        f'<|call|>{{"name": {json.dumps(call["function"]["name"], ensure_ascii=False)}, '
        f'"arguments": {arguments_text(call["function"]["arguments"])}}}'
        for call in message.get("tool_calls", ())
    )
    return f"{message['content']}{calls}<|end|>"

"""The study's conversations as text and as ids: one format for warm-up, rollouts and hints."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

START, END, PAD = "<|im_start|>", "<|im_end|>", "<|pad|>"
TEMPLATE = """\
{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\\n' }}\
{%- if message['tool_calls'] is defined and message['tool_calls'] %}\
{%- set call = message['tool_calls'][0]['function'] %}\
{{- '{"name": "' + call['name'] + '", "arguments": ' + (call['arguments'] | tojson) + '}' }}\
{%- else %}{{- message['content'] }}{%- endif %}{{- '<|im_end|>\\n' }}{%- endfor %}\
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""
SHOWN = 640
"""Characters of an answer that the policy sees, head and tail."""


@dataclass(frozen=True)
class Turn:
    """A tool call and what it gave."""

    tool: str
    arguments: dict[str, Any]
    answer: str

    @property
    def text(self) -> str:
        """The call as the policy writes it."""
        name, arguments = json.dumps(self.tool), json.dumps(self.arguments, ensure_ascii=False)
        return f'{{"name": {name}, "arguments": {arguments}}}'


@dataclass(frozen=True)
class Said:
    """One message; ``model`` says whether the policy wrote it."""

    role: str
    text: str
    model: bool = False


@dataclass
class Sequence_:
    """Token ids, and which of them the policy is to learn."""

    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)


def instruction_shown(text: str) -> str:
    """Return what the policy sees of an instruction: what is missing, not what all tasks say."""
    _, _, missing = text.partition("## What is missing")
    return missing.partition("## What it must do")[0].strip()


def answer_shown(tool: str, text: str) -> str:
    """Return what the policy sees of an answer: cut in the middle, of an edit the first line.

    Errors end at their first semicolon.  Terse errors make the study's question a question: a
    harness that lists its tools in every error gives the hint itself.
    """
    if text.startswith("error["):
        text = text.partition(";")[0]
    elif tool == "edit_file":
        text = text.partition("\n")[0]
    if len(text) <= SHOWN:
        return text
    return f"{text[: SHOWN // 2]}\n[...]\n{text[-SHOWN // 2 :]}"


class Chat:
    """Turns messages into ids."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        """Take a tokenizer made by ``train_tokenizer``."""
        self.tokenizer = tokenizer
        self.end: int = tokenizer.convert_tokens_to_ids(END)
        self.pad: int = tokenizer.convert_tokens_to_ids(PAD)
        self.opening = self.ids(f"{START}assistant\n")

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text, special tokens among it."""
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of ids."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=False))

    def message(self, said: Said) -> list[int]:
        """Return the ids of a message that the policy reads."""
        return self.ids(f"{START}{said.role}\n{said.text}{END}\n")

    def sequences(self, conversations: Sequence[Iterable[Said]]) -> list[Sequence_]:
        """Return whole conversations; the policy learns what it wrote, the end among it."""
        pieces = [piece for one in conversations for piece in _pieces(one)]
        known = list({text for text, _ in pieces})
        encoded = self.tokenizer(known, add_special_tokens=False)["input_ids"]
        ids_of = dict(zip(known, encoded, strict=True))
        made = []
        for conversation in conversations:
            sequence = Sequence_()
            for text, learnt in _pieces(conversation):
                sequence.ids += ids_of[text]
                sequence.mask += [learnt] * len(ids_of[text])
            made.append(sequence)
        return made


def _pieces(messages: Iterable[Said]) -> Iterator[tuple[str, int]]:
    """Yield what is tokenised apart, as in rollouts, and whether the policy is to learn it."""
    for said in messages:
        if said.model:
            yield f"{START}assistant\n", 0
            yield f"{said.text}{END}", 1
            yield "\n", 0
        else:
            yield f"{START}{said.role}\n{said.text}{END}\n", 0


def train_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """Return a byte-level BPE tokenizer with the chat template."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=PAD)
    fast.chat_template = TEMPLATE
    return fast

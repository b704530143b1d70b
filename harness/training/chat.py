"""The study's conversations as text and as ids: one format for warm-up, rollouts and hints."""

import json
from collections.abc import Iterable, Sequence
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
"""Characters of an observation that the policy sees, head and tail."""


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
    """Return what the policy sees of an instruction: not how all tasks are checked."""
    return text.partition("## How it is checked")[0].strip()


def answer_shown(text: str) -> str:
    """Return what the policy sees of an answer: cut in the middle, errors without what follows ;.

    Terse errors make the study's question a question: a harness that lists its tools in every
    error gives the hint itself.
    """
    if text.startswith("error["):
        text = text.partition(";")[0]
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

    def sequence(self, messages: Iterable[Said]) -> Sequence_:
        """Return a whole conversation; the policy learns what it wrote, the end among it."""
        made = Sequence_()
        texts: list[tuple[str, int]] = []
        for said in messages:
            if said.model:
                texts += [(f"{START}assistant\n", 0), (f"{said.text}{END}", 1), ("\n", 0)]
            else:
                texts.append((f"{START}{said.role}\n{said.text}{END}\n", 0))
        encoded = self.tokenizer([text for text, _ in texts], add_special_tokens=False)["input_ids"]
        for ids, (_, learnt) in zip(encoded, texts, strict=True):
            made.ids += ids
            made.mask += [learnt] * len(ids)
        return made


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

"""Chat templates in the styles in use, and a small tokenizer to try them with."""

# ruff: noqa: E501
from functools import cache

import pytest

CHATML = """
{%- if tools %}<|im_start|>system
Functions:{% for tool in tools %}
{{ tool | tojson }}{% endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}<|im_start|>user
{% endif %}<result>
{{ message.content }}
</result>
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}<|im_end|>
{% else %}
{% endif %}
{%- else %}<|im_start|>{{ message.role }}
{{ message.content }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""Calls as JSON in tags; all results of a turn are one user message."""

HEADERS = """<|begin|>
{%- for message in messages %}<|head|>{{ message.role }}<|neck|>

{% if message.tool_calls %}{{ message.content | trim }}
{%- for call in message.tool_calls %}
{"parameters": {{ call.function.arguments | tojson(indent=2) }}, "name": {{ call.function.name | tojson }}}
{%- endfor %}
{%- elif message.role == 'tool' %}{{ {"output": message.content} | tojson }}
{%- else %}{{ message.content | trim }}{% endif %}<|eot|>
{%- endfor %}
{%- if add_generation_prompt %}<|head|>assistant<|neck|>

{% endif %}"""
"""Headers of special tokens, nothing behind the end of a turn, results escaped, calls indented."""

ALTERNATING = """<|begin|>
{%- set state = namespace(last='assistant') %}
{%- for message in messages %}
{%- set role = 'assistant' if message.role == 'assistant' else 'user' %}
{%- if message.role == 'user' and state.last != 'assistant' %}
{{- raise_exception('roles must alternate') }}
{%- endif %}
{%- set state.last = role %}
{%- if message.role == 'user' %}[INST] {{ message.content }} [/INST]
{%- elif message.role == 'tool' %}[RESULT] {{ message.content }} [/RESULT]
{%- else %} {{ message.content }}
{%- for call in message.tool_calls or [] %}[CALL] {{ call.function.name }} {{ call.function.arguments | tojson }}{% endfor %}</s>
{%- endif %}
{%- endfor %}"""
"""Refuses a user behind a user or a tool; a turn opens with nothing at all."""

FORGETFUL = """
{%- set state = namespace(last=0) %}
{%- for message in messages %}{% if message.role == 'user' %}{% set state.last = loop.index0 %}{% endif %}{% endfor %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.role == 'assistant' and loop.index0 < state.last %}
{{- message.content.split('</think>')[-1] }}
{%- else %}{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}<function={{ call.function.name }}>
{%- for key, value in call.function.arguments.items() %}<parameter={{ key }}>
{{ value }}
</parameter>{% endfor %}</function>{% endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""Strips the reasoning of turns before the last user message; parameters are written as XML."""

DEAF = """
{%- for message in messages %}{% if message.role != 'tool' %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""Knows neither results nor calls."""

TALKATIVE = CHATML.replace("{%- endfor %}<|im_end|>\n", "{%- endfor %}<|im_end|> (over)\n")
"""Writes something behind the end of a turn."""

HOISTING = """
{%- for message in messages %}{% if message.role == 'system' %}<|im_start|>system
{{ message.content }}<|im_end|>
{% endif %}{% endfor %}""" + CHATML.replace(
    "{%- else %}<|im_start|>{{", "{%- elif message.role != 'system' %}<|im_start|>{{"
)
"""Says all that the system said before anything else."""

SPECIAL = (
    "<|im_start|>", "<|im_end|>", "<|begin|>", "<|head|>", "<|neck|>", "<|eot|>", "</s>",
)  # fmt: skip


@cache
def _core():
    tokenizers = pytest.importorskip("tokenizers")
    core = tokenizers.Tokenizer(tokenizers.models.BPE())
    core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=[*SPECIAL],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    text = [CHATML, HEADERS, FORGETFUL, 'user tool {"path": "src/a.py"} Reminder: the file is.\n\n']
    core.train_from_iterator(text * 3, trainer)
    return core


def tokenizer_with(template, end="<|im_end|>"):
    """Return a fast tokenizer with a chat template."""
    transformers = pytest.importorskip("transformers")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=_core(),
        chat_template=template,
        eos_token=end,
        additional_special_tokens=[*SPECIAL],
    )


STYLES = {
    "chatml": (CHATML, "<|im_end|>"),
    "headers": (HEADERS, "<|eot|>"),
    "alternating": (ALTERNATING, "</s>"),
    "forgetful": (FORGETFUL, "<|im_end|>"),
}

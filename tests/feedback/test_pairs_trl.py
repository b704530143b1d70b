"""Pairs for the chat templates of published models, as far as TRL brings them along."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from codeenv.errors import UsageError
from codeenv.feedback import build_teacher_pair
from tests.feedback.talks import check, event_at, marked, talk
from tests.feedback.templates import tokenizer_with

READ = ("read_file", {"path": "src/b.py", "start": 3}, "error: no such file")
TALK = talk(("I look.", [READ]), ("", [READ]), ("Done?", []), ("", [READ]))
MARKS = r"<\|?[\w ]+\|>|<\|[\w ]+\|?>|<｜[^｜]+｜>|<end_of_turn>|<start_of_turn>|</s>"
GOOD = ("glm4moe_training", "gptoss", "lfm2_v2", "llama3_1", "qwen2_5", "qwen3", "qwen3_8")


def _templates():
    found = find_spec("trl")
    folder = Path(found.origin).parent / "chat_templates" if found else Path("none")
    return sorted(folder.glob("*.jinja"))


def _tokenizer(path):
    source = path.read_text("utf-8")
    tokenizer = tokenizer_with(source, "</s>")
    tokenizer.add_special_tokens(
        {"additional_special_tokens": sorted(set(re.findall(MARKS, source)))}
    )
    tokenizer.bos_token = "<|begin|>"
    return tokenizer


@pytest.mark.parametrize("placement", ["before_target", "append_last"])
@pytest.mark.parametrize("name", GOOD)
def test_agents_templates_give_pairs(name, placement):
    path = next((path for path in _templates() if path.stem == name), None)
    if path is None:
        pytest.skip("TRL brings no such template")
    tokenizer = _tokenizer(path)

    for turn, part, expected in ((2, "arguments", "src/b.py"), (4, "tool_name", "read_file")):
        chars = (10, 18) if part == "arguments" else (0, 0)
        event = event_at(TALK, turn, part, chars)
        pair = build_teacher_pair(TALK, event, tokenizer, placement=placement)

        check(pair)
        assert pair.granularity == "span"
        assert expected in marked(pair, tokenizer)
        assert pair.student_ids[-1] in tokenizer.all_special_ids


@pytest.mark.parametrize("path", _templates(), ids=lambda path: path.stem)
def test_every_template_gives_a_right_pair_or_says_what_to_do(path):
    tokenizer = _tokenizer(path)

    told = []
    for turn in (1, 2, 3, 4):
        for placement in ("before_target", "append_last"):
            event = event_at(TALK, turn)
            try:
                check(build_teacher_pair(TALK, event, tokenizer, placement=placement))
            except UsageError as error:
                told.append(error.hint)

    assert all(told)

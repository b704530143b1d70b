"""Whatever an agent writes or prints is read in one go: none of this ends if it is not."""

import pytest

from codeenv.feedback import LeakCheck
from codeenv.feedback.locate import find_part
from codeenv.feedback.models import Target
from codeenv.feedback.plans import open_items
from codeenv.feedback.render import ChatTemplate
from codeenv.feedback.shell import only_reads, runs_code, runs_tests
from codeenv.feedback.testruns import read_run
from codeenv.feedback.writes import written
from tests.feedback.play import edit, events, kinds, run, submit, text_turn

SIZE = 200_000
PIECES = (
    "a", " ", "1", "=", "\n", "a11 ", "1 a, ", "1 failed, ", "FAILED a::", "ERROR a.py ", "a - ",
    "TODO: ", "TODO: a ", "- [ ] ", "- [ ] a\n", "[ ] a", "1.1s", "in 1s ", "<<a\n", "<<'a", "'",
    '"', "\\", "\\\n", "((", "test ", "-", "/", "env ", "bash -c '", "#", "::", "\u0661",
)  # fmt: skip
BEGINNINGS = ("", "1 ", "FAILED ", "TODO: a", "- [ ] a", "test <<a ", "pytest '", 'bash -c "')


def hostile(piece):
    return [f"{start}{piece * (SIZE // len(piece))}!" for start in BEGINNINGS]


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_a_large_output_is_read_to_its_end(piece):
    for text in hostile(piece):
        read_run(1, text, 1)
        open_items(text)


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_a_large_command_is_read_to_its_end(piece):
    for text in hostile(piece):
        for line in (text, text[:8000]):
            assert only_reads(line) in (True, False)
            assert runs_tests(line) in (True, False)
            assert runs_code(line) in (True, False)
            written(line)


def test_the_summary_below_a_large_line_is_found():
    read = read_run(1, f"{'1 a11 ' * 100_000}!\nFAILED t.py::a - x\n1 failed in 0.1s", 0)

    assert (read.failed, read.names) == (True, ("t.py::a",))


def test_an_episode_of_large_turns_comes_to_its_end():
    items = "".join(f"- [ ] item {n}\n" for n in range(20_000))
    turns = [
        text_turn(1, items),
        edit(2, path="plan.md", old_str="", new_str=items),
        edit(3, path="plan.md", old_str=items, new_str=items.replace("[ ] item 7", "[x] item 7")),
        run(4, "pytest", "FAILED t.py::a b - x\n" * 50_000, 1),
        run(5, "pytest", "1s " * 300_000, 1),
        text_turn(6, '{"tool": "read_file", ' + "[" * 900_000),
        submit(7, message="{" * 900_000),
    ]

    found = kinds(*turns)

    assert (7, "todo_left") in found
    assert (7, "verbose_final") in found
    assert len(events(*turns)[-1].evidence["failing"]) <= 50


def test_a_large_hint_is_checked():
    check = LeakCheck.of(["return a + b\n" * 20_000, "(" * 300_000, "'" * 300_000])

    assert check.statements == {("return", "a", "+", "b")}


TARGET = Target(message=1, part="arguments")


class Marked:
    """A tokenizer with special tokens and a template that writes contents alone."""

    all_special_tokens = ("<e>", "<p>", "<p>e>")
    eos_token = "<e>"

    def apply_chat_template(self, conversation, **options):
        return "".join(message["content"] for message in conversation)

    def __call__(self, text, **options):
        raise NotImplementedError

    def decode(self, token_ids, **options):
        raise NotImplementedError


def completed(text):
    return ChatTemplate(Marked()).completion([{"role": "assistant", "content": text}], ())


@pytest.mark.parametrize("piece", ["<p>", "<p> ", " ", "<e>\n", "<", "<p>e>"], ids=repr)
def test_a_turn_full_of_special_tokens_is_cut_at_its_end(piece):
    rubbish = piece * (SIZE // len(piece))

    assert completed(f"{rubbish}!<p> <e>\n<p>") == f"{rubbish}!<p> <e>"


@pytest.mark.parametrize("piece", ['{"a":', '{"a":[{},', "{", '{"a', '[{"a": 1}, '], ids=repr)
def test_arguments_are_looked_for_in_a_turn_of_braces(piece):
    function = {"name": "look", "arguments": {"path": "a.py"}}
    call = {"id": "1", "type": "function", "function": function}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    text = '{"path": "a.py"} ' + piece * (SIZE // len(piece))

    assert find_part(text, message, TARGET, lambda _: None) == (0, 16)
    assert find_part(text[17:], message, TARGET, lambda _: None) is None

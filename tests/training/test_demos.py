import random
import re

import pytest

pytest.importorskip("transformers")

import itertools
from dataclasses import replace

from training.chat import Chat, Said, Turn, answer_shown, instruction_shown, train_tokenizer
from training.demos import CORE, FOREIGN, MORE, Demo, Habits, Translator, deleted_code, told
from training.idioms import IDIOMS
from training.presets import split
from training.repositories import HELD_OUT, SUBJECTS, functions_of, repository

GIVEN = '"""A part."""\n\n\ndef kept(jars):\n    """Keep."""\n    return jars\n'
WHOLE = GIVEN + '\n\ndef total_weight(jars):\n    """Sum."""\n    return sum(jars)\n'
DEMO = Demo(
    task="pantry-x",
    instruction="In `pantry/part1.py`:\n\n- `low_weight`\n\n  Return the jars below 27.",
    turns=(
        Turn("grep", {"pattern": "def "}, "error[unknown_tool]: there is no tool 'grep'"),
        Turn("read_file", {"path": "pantry/part1.py"}, "    27\tdef other(jars):"),
        Turn("edit_file", {"path": "pantry/part1.py", "new_str": "jar < 27"}, "edited: +4 -0"),
        Turn("submit", {}, "Submitted."),
    ),
    reward=1.0,
    words=("pantry", "jars", "jar", "weight"),
)


def tellings(habits, count=300):
    rng = random.Random(5)
    return [told(DEMO, habits, rng) for _ in range(count)]


def names_called(said):
    return [re.match(r'\{"name": "(\w+)"', s.text).group(1) for s in said if s.model]


def test_the_deleted_function_is_told_without_its_docstring():
    assert deleted_code(GIVEN, WHOLE) == "def total_weight(jars):\n    return sum(jars)"


def test_a_base_without_the_tools_of_the_environment_names_them_only_where_they_are_listed():
    for said in tellings(Habits(core=0.0)):
        for before, now in itertools.pairwise(said):
            if now.model:
                (name,) = names_called([now])
                assert name not in CORE or name in before.text


def test_half_of_the_right_turns_have_their_tools_in_sight():
    listed = unlisted = 0
    for said in tellings(Habits(core=0.5)):
        turns = [pair for pair in itertools.pairwise(said) if pair[1].model]
        for before, _ in turns[1:]:
            listed += "Available tools are" in before.text
            unlisted += "Available tools are" not in before.text

    assert 0.4 < listed / (listed + unlisted) < 0.6


def test_a_reminder_says_nothing_of_whether_the_call_after_it_is_right():
    turns = (Turn("open_file", {}, "error"), Turn("read_file", {}, "text")) * 4
    rng = random.Random(3)
    wrong: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(500):
        said = told(replace(DEMO, turns=turns), Habits(core=1.0), rng)
        for before, now in itertools.pairwise(said):
            if now.model and "Available tools are" not in before.text:
                reminded = before.text.startswith("Reminder:")
                wrong[reminded].append(names_called([now])[0] not in CORE)

    shares = {reminded: sum(found) / len(found) for reminded, found in wrong.items()}
    assert abs(shares[True] - shares[False]) < 0.05


def test_a_listed_turn_uses_a_listed_name():
    for said in tellings(Habits(core=0.5)):
        for before, now in itertools.pairwise(said):
            if now.model and "Available tools are" in before.text:
                assert names_called([now])[0] in before.text


def test_a_wrong_name_stays_wrong_in_every_harness_and_its_error_names_it():
    for said in tellings(Habits(core=0.5)):
        wrong = next(s for s in said if s.model)
        error = next(s for s in said if s.role == "tool")
        (name,) = names_called([wrong])
        assert error.text == f"error[unknown_tool]: there is no tool '{name}'"
        assert name in (*CORE, *FOREIGN)


def test_other_words_and_numbers_are_put_everywhere_alike_and_line_numbers_stay():
    swap = Translator({"jars": "tubs", "jar": "tub", "weight": "depth"}, {"27": "41"})

    assert swap("low_weight(jars): jar < 27]") == "low_depth(tubs): tub < 41]"
    assert swap("    27\tdef f(jars):") == "    27\tdef f(tubs):"
    assert swap("jarsful weighty") == "jarsful weighty"
    assert swap("edited x: +27 -0") == "edited x: +27 -0"


def test_errors_are_shown_tersely_and_edits_by_their_first_line():
    error = "error[unknown_tool]: there is no tool 'x'; there are read_file, edit_file"

    assert answer_shown("x", error) == "error[unknown_tool]: there is no tool 'x'"
    assert answer_shown("edit_file", "edited a: +1 -0\n1 x") == "edited a: +1 -0"
    assert len(answer_shown("read_file", "y" * 5000)) < 700


def test_an_instruction_is_shown_from_what_is_missing_to_what_it_must_do():
    text = "# T\n\nblah\n\n## What is missing\n\nthis\n\n## What it must do\n\nthat"

    assert instruction_shown(text) == "this"


def test_what_the_policy_learns_is_what_it_wrote_with_its_end():
    conversation = [
        Said("user", "do it"),
        Said("assistant", "done", model=True),
        Said("tool", "ok"),
    ]
    chat = Chat(train_tokenizer(["user\ndo it", "assistant\ndone", "tool\nok"] * 3, 400))

    (sequence,) = chat.sequences([conversation])

    learnt = [i for i, m in zip(sequence.ids, sequence.mask, strict=True) if m]
    assert chat.text(learnt) == "done<|im_end|>"
    assert chat.text(sequence.ids).startswith("<|im_start|>user\ndo it<|im_end|>\n<|im_start|>assi")


def test_the_chat_template_writes_what_the_study_writes():
    said = [Said("user", "go"), Said("assistant", Turn("read_file", {"path": "é"}, "").text, True)]
    chat = Chat(train_tokenizer([s.text for s in said] * 3, 400))
    call = {"function": {"name": "read_file", "arguments": {"path": "é"}}}
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [call]}]

    rendered = chat.tokenizer.apply_chat_template(messages, tokenize=False)

    (sequence,) = chat.sequences([said])
    assert rendered == chat.text(sequence.ids)


def test_every_subject_has_each_idiom_and_held_out_words_are_nowhere_else():
    words = {name: set(" ".join(groups).split()) for name, groups in SUBJECTS.items()}

    for name in SUBJECTS:
        assert len(functions_of(name)) == 24 > len(IDIOMS)
    for name in HELD_OUT:
        others = set().union(*(words[other] for other in SUBJECTS if other not in HELD_OUT))
        assert not words[name] & others


def test_the_shipped_repositories_are_the_ones_that_are_written():
    from codeenv.sources.bundled import bundled_tree

    for name in SUBJECTS:
        tree = bundled_tree(f"study/{name}")
        assert {
            path: entry.data.decode().splitlines() for path, entry in tree.items()
        } == repository(name)


def test_tasks_are_held_out_by_repository():
    training, held_out = split()

    assert (len(training), len(held_out)) == (192, 48)
    assert {i.split("-")[0] for i in held_out} == set(HELD_OUT)
    assert not {i.split("-")[0] for i in training} & set(HELD_OUT)


def test_no_name_of_another_harness_is_one_of_the_environment():
    names = [name for role in MORE for name in role]

    assert not {*FOREIGN, *names} & set(CORE)
    assert len({*FOREIGN, *names}) == len(FOREIGN) + len(names)

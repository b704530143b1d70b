import re
from dataclasses import replace

import pytest

from codeenv.languages.base import Unit
from codeenv.languages.python.language import PythonLanguage
from codeenv.materialise.brief import (
    deleted_code,
    deleted_units,
    gather,
    hidden_names,
    told_units,
)
from codeenv.materialise.git import without_git
from codeenv.materialise.instruction import render, write_instruction
from codeenv.tree import Entry, Tree
from tests.toytask import SOURCE, make_task

LEVELS = ["L1", "L2", "L3", "L4"]


def statement(level: str, mode: str = "remove") -> str:
    return make_task(mode=mode, level=level).instruction


def test_level_3_tells_place_signature_errors_and_messages():
    text = statement("L3")
    assert "`src/notes/text.py`" in text
    assert "def slug(text: str, *, joiner: str" in text
    assert "Return the title as a name for a file." in text
    assert "EmptyTitle" in text
    assert "at least one word" in text
    assert "which you do not see; everything else must keep passing" in text


def test_every_vanished_name_the_tests_use_is_told_from_level_3_on():
    task = make_task()
    names = PythonLanguage().test_facts(SOURCE, task.fail_to_pass).names
    assert {"slug", "joiner"} <= names
    told = set(re.findall(r"\w+", task.instruction))
    assert {"slug", "joiner"} <= told


def test_level_3_tells_where_exports_are_gone():
    text = statement("L3")
    assert "exports of it are also gone from `src/notes/__init__.py`" in text
    assert "__init__" not in statement("L3", "stub")


def test_levels_below_3_tell_no_names():
    for level in ("L1", "L2"):
        assert "def slug" not in statement(level)
        assert "joiner:" not in statement(level)
    assert "at least one word" not in statement("L1")
    assert "at least one word" in statement("L2")


def test_level_4_adds_the_docstring():
    assert "Marks are dropped." not in statement("L3")
    assert "Marks are dropped." in statement("L4")


def test_level_5_names_the_visible_tests():
    text = statement("L5")
    assert "`tests/test_text.py::test_slug_joins_the_words`" in text
    assert "which you do not see" not in text


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("mode", ["remove", "stub"])
def test_no_statement_names_a_hidden_test_or_quotes_deleted_code(level, mode):
    task = make_task(mode=mode, level=level)
    words = set(re.findall(r"\w+", task.instruction))
    assert {"test_slug_takes_a_joiner"} < hidden_names(task.recipe, ()) | words
    assert not hidden_names(task.recipe, ()) & words
    units = PythonLanguage().units(SOURCE, task.layout)
    code = deleted_code(deleted_units(task.recipe, units), SOURCE)
    assert any("surviving_pieces" in line for line in code)
    assert not [line for line in code if line in task.instruction]


def test_a_stubbed_feature_says_that_the_declaration_is_there():
    assert "still declared" in statement("L3", "stub")
    assert "was deleted" in statement("L3", "remove")


def test_a_private_part_is_told_where_its_declaration_is_still_there():
    parts = [
        Unit("a.py", name, "function", 1, 1, 1, (), public=not name.startswith("_"))
        for name in ("open", "_inner")
    ]
    assert told_units(parts, frozenset(), every=False) == (parts[0],)
    assert told_units(parts, frozenset(), every=True) == tuple(parts)


def test_a_test_that_names_another_hidden_test_is_not_quoted():
    text = SOURCE["tests/test_text.py"].data.replace(
        b"    assert notes.slug(title)",
        b'    """See test_slug_takes_a_joiner."""\n    assert notes.slug(title)',
    )
    task = make_task(Tree({**SOURCE, "tests/test_text.py": Entry(text)}))
    assert "test_slug_takes_a_joiner" not in task.instruction


def test_the_statement_can_be_written_at_any_level_from_one_recipe():
    task = make_task()
    damaged = without_git(task.workspace)
    texts = [
        write_instruction(task.recipe, SOURCE, damaged, PythonLanguage(), level=level)
        for level in LEVELS
    ]
    assert len(set(texts)) == len(LEVELS)
    assert texts[2] == task.instruction


def test_backticks_in_messages_do_not_break_the_text():
    task = make_task()
    brief = gather(task.recipe, SOURCE, without_git(task.workspace), PythonLanguage())
    odd = type(brief)(**{**vars(brief), "messages": ("a `b`\nc",)})
    assert "`` a `b`\\nc ``" in render(odd, "L3")


def brief(**facts):
    task = make_task()
    language = PythonLanguage()
    gathered = gather(task.recipe, SOURCE, without_git(task.workspace), language)
    return replace(gathered, **facts)


def test_words_of_terse_tests_are_told_in_one_sentence():
    text = render(brief(behaviours=("basic", "keeps the order of words", "none")), "L3")
    assert "- Keeps the order of words." in text
    assert "- Tests cover: basic; none." in text


def test_examples_are_told_from_level_3_on():
    known = brief(examples=("f(1) == 2",))
    assert "```\nf(1) == 2\n```" in render(known, "L3")
    assert "f(1)" not in render(known, "L2")


def test_an_entry_of_a_registry_with_a_backtick_does_not_break_the_text():
    text = render(brief(registered=(("MARKS", "a.py", "'`': code"),)), "L3")
    assert "- `MARKS` in `a.py`: `` '`': code ``" in text


def test_errors_that_are_told_with_what_raises_them_are_no_names_of_their_own():
    text = SOURCE["src/notes/text.py"].data.replace(b"raise EmptyTitle(", b"raise LookupError(")
    test = SOURCE["tests/test_text.py"].data.replace(b"raises(EmptyTitle", b"raises(LookupError")
    written = {"src/notes/text.py": Entry(text), "tests/test_text.py": Entry(test)}
    task = make_task(Tree({**SOURCE, **written}))
    assert "Raises `LookupError`." in task.instruction
    assert "## Names" not in task.instruction


def test_other_names_of_the_tests_are_said_to_be_theirs():
    text = render(brief(names=("ValueError", "strict")), "L3")
    assert "Tests of the feature also use these names" in text
    assert "does not have: `ValueError`, `strict`." in text


def test_a_statement_without_names_says_whether_a_file_is_gone_as_a_whole():
    assert "All of `a.py` was taken out" in render(brief(paths=("a.py",), gone=("a.py",)), "L1")
    assert "Part of `a.py`, `b.py` was" in render(brief(paths=("a.py", "b.py"), gone=()), "L1")


def test_tests_that_stay_visible_are_named_and_the_others_called_unseen():
    text = render(brief(tests=("tests/test_data.py::test_1[a`b]",)), "L3")
    assert "which you see only some" in text
    assert "- `` tests/test_data.py::test_1[a`b] ``" in text
    assert "which you do not see" not in text


def test_a_hidden_test_named_like_the_file_of_a_visible_one_is_no_secret():
    recipe = make_task().recipe
    visible = ("tests/test_slug_joins_the_words.py::Base::test_all",)
    assert "test_slug_joins_the_words" in hidden_names(recipe, ())
    assert "test_slug_joins_the_words" not in hidden_names(recipe, visible)


def test_no_more_visible_tests_are_listed_than_one_reads():
    text = render(brief(tests=tuple(f"t.py::test_{n}" for n in range(100)), unseen=False), "L5")
    assert text.count("t.py::test_") == 80
    assert "… and 20 more that you see" in text
    assert "for this feature; everything else" in text
    few = render(brief(tests=tuple(f"t.py::test_{n}" for n in range(100)), unseen=False), "L3")
    assert few.count("t.py::test_") == 10
    assert "… and 90 more that you see" in few


@pytest.mark.parametrize(("used", "told"), [((), ["Open"]), (("_Own",), ["Open", "_Own"])])
def test_special_methods_are_told_of_classes_that_are_told_of(used, told):
    units = [
        Unit("m.py", f"{owner}.__init__", "method", n, n, n, (n,), owner, public=False)
        for n, owner in enumerate(("Open", "_Own"), 1)
    ]
    assert [unit.parent for unit in told_units(units, frozenset(used), every=False)] == told

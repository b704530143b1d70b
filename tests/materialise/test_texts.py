"""Texts that only the deleted code knew."""

from codeenv.languages.python.language import PythonLanguage
from codeenv.materialise.brief import texts_to_tell
from codeenv.materialise.git import without_git
from codeenv.materialise.texts import expected_texts, untold_texts
from codeenv.tree import Entry, Tree
from tests.toytask import SOURCE, make_task

DAMAGED = Tree({"a.py": Entry(b"PLACE = 'known text'\n"), "b.bin": Entry(b"\xff")})


def told(pieces, *texts):
    return expected_texts(pieces, texts, DAMAGED)


def test_a_test_that_holds_a_deleted_text_is_told_with_what_was_filled_in():
    assert told(["no such key:"], "no such key: x", "other") == {
        "no such key:": ("no such key: x",)
    }


def test_of_a_long_text_only_the_line_is_told():
    found = told(["Usage:"], "first\n  Usage: tool\nlast", "Usage: more")
    assert found == {"Usage:": ("Usage: tool", "Usage: more")}


def test_a_test_that_looks_for_a_part_is_told_with_that_part():
    assert told(["the title is much too long"], "too long", "is") == {
        "the title is much too long": ("too long",)
    }


def test_a_text_that_stays_readable_needs_no_telling():
    assert told(["known text"], "known text") == {}
    assert told(["some known text"], "known") == {}


def test_a_word_that_the_tests_look_for_is_not_known_by_a_longer_text():
    assert told(["known"], "known") == {"known": ("known",)}
    assert told(["known"], "known here") == {}


def test_a_text_that_no_test_expects_needs_no_telling():
    assert told(["secret"], "other", "") == {}


def test_what_the_statement_says_of_a_piece_is_enough():
    expected = {"no key:": ("no key: x", "no key: y"), "too long": ("too",)}
    assert untold_texts(expected, "It says `no key: y`.") == ["too"]
    assert untold_texts(expected, "It says `no key:` and that it is too long.") == []
    assert untold_texts(expected, "nothing") == ["no key: x", "too"]


CHANGED = {
    "src/notes/text.py": (b"return joiner.join", b'return f"<a title: {joiner}>" + joiner.join'),
    "tests/test_text.py": (b'== "a-b"', b'== "<a title: ->a-b"'),
}
TITLED = Tree(
    {
        path: Entry(entry.data.replace(*CHANGED[path])) if path in CHANGED else entry
        for path, entry in SOURCE.items()
    }
)


def test_the_statement_tells_texts_of_deleted_formats_that_tests_expect():
    task = make_task(TITLED)
    damaged = without_git(task.workspace)
    expected = texts_to_tell(task.recipe, TITLED, damaged, PythonLanguage())
    assert expected["<a title:"] == ("<a title: ->a-b",)
    assert "- `<a title: ->a-b`" in task.instruction
    assert untold_texts(expected, task.instruction) == []
    low = make_task(TITLED, level="L1")
    assert "<a title:" not in low.instruction

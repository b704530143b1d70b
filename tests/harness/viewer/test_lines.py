"""Texts as lines: diffs, numbers and colours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv_harness.viewer.colours import CHUNK, chunks
from codeenv_harness.viewer.lines import FEW, MANY, block, changed, code, diff, output

LINES = st.lists(st.sampled_from(["a", "b", "", '"""', "def f(): pass"]), max_size=12)


def text(line):
    return "".join(part for _, part in line.spans)


def kinds(lines):
    return "".join(line.kind for line in lines)


def test_a_diff_shows_a_few_lines_around_a_change_with_their_numbers():
    before = "".join(f"line {n}\n" for n in range(1, 21))
    lines = diff(before, before.replace("line 10\n", "line ten\nline 10b\n"), "a.txt")

    assert kinds(lines) == "@   -++   @"
    assert [line.number for line in lines[1:-1]] == [7, 8, 9, 10, 10, 11, 12, 13, 14]
    assert (text(lines[0]), text(lines[-1])) == ("6 lines that stayed", "7 lines that stayed")
    assert changed(lines) == (2, 1)


@given(LINES, LINES)
def test_a_diff_has_all_that_differs(old, new):
    before, after = "\n".join(old), "\n".join(new)
    lines = [line for line in diff(before, after, "a.py") if line.kind != "@"]
    olds = [text(line) for line in lines if line.kind != "+"]
    news = [text(line) for line in lines if line.kind != "-"]

    assert all(line in old for line in olds)
    assert all(line in new for line in news)
    assert changed(lines)[0] - changed(lines)[1] == _count(after) - _count(before)


def _count(words):
    return len(words.removesuffix("\n").split("\n")) if words else 0


def test_long_texts_that_differ_in_everything_are_not_compared():
    before = "".join(f"{n % 7}\n" for n in range(20_000))
    lines = diff(before, "".join(f"{n % 5}\n" for n in range(20_000)), "a.py")

    assert changed(lines) == (19_995, 19_995)


def test_colours_are_names_beside_the_text():
    (line,) = code("def boil(): return 'x'  # now", "kettle.py", first=7)

    assert line.number == 7
    assert ("k", "def") in line.spans
    assert ("f", "boil") in line.spans
    assert ("c", "# now") in line.spans
    assert code("def boil()", "kettle.unknown")[0].spans == [("", "def boil()")]


def test_a_text_over_many_lines_keeps_its_colour():
    lines = code('"""One\n\ntwo"""\nx = 1\n', "a.py")

    assert [line.spans[0][0] if line.spans else "" for line in lines] == ["s", "", "s", ""]
    assert len(lines) == 4


def test_numbered_output_is_coloured_with_its_own_numbers():
    lines = output("    41\tdef boil():\n    42\t    return 1\n[3 more lines]", "a.py")

    assert [line.number for line in lines] == [41, 42, None]
    assert ("k", "return") in lines[1].spans
    assert text(lines[2]) == "[3 more lines]"


def test_terminal_escapes_are_left_out_of_output():
    assert [text(line) for line in output("\x1b[31mred\x1b[0m\nplain\n")] == ["red", "plain"]


def test_long_lines_and_long_texts_are_cut_and_counted():
    lines = output("x" * 100_000 + "\n" + "y\n" * 10_000)

    assert len(text(lines[0])) < 3000
    assert len(text(code("x" * 100_000, "a.py")[0])) < 3000
    assert (len(block(lines, full=False).lines), block(lines, full=False).left) == (
        FEW,
        10_001 - FEW,
    )
    assert len(block(lines, full=True).lines) == MANY


@given(st.text(max_size=300), st.sampled_from(["a.py", "a.toml", "a.json", "a.sh", "a.cfg"]))
def test_coloured_text_is_the_text(words, path):
    lines = code(words, path)
    plain = [line.removesuffix("\r") for line in words.removesuffix("\n").split("\n")]

    assert [text(line) for line in lines] == (plain if words else [])


def colours(lines):
    return {name for line in lines for name, _ in line.spans}


@pytest.mark.parametrize(
    ("words", "path"),
    [("a=" * 100_000, "a.ini"), ("\n " * 100_000, "a.py"), ("x = 1\n" * 30_000, "a.py")],
)
def test_a_long_text_has_no_colours(words, path):
    assert colours(code(words, path)) == {""}


def test_a_long_line_has_no_colours_and_those_around_it_do():
    first, wide, last = code("x = 1\n" + "a=1;" * 1000 + "\ny = 2\n", "a.py")

    assert (colours([first]), colours([wide]), colours([last])) == ({"", "n"}, {""}, {"", "n"})


@given(st.lists(st.text("ab ", max_size=3 * CHUNK), max_size=9))
def test_a_lexer_sees_a_few_lines_at_a_time(lines):
    found = list(chunks(lines))

    assert [line for group in found for line in group] == lines
    assert all(len(group) == 1 or len("\n".join(group)) <= CHUNK for group in found)


def test_code_of_a_usual_size_has_its_colours_to_the_end():
    row = 'def boil():\n    """Boil.\n\n    For long.\n    """\n    return 100  # degrees\n\n\n'
    lines = code(row * 700, "kettle.py")

    assert len(row * 700) > 45_000
    assert {tuple(line.spans) for line in lines[2::8]} == {()}
    assert {line.spans[0][0] for line in lines[0::8]} == {"k"}
    assert {line.spans[-1] for line in lines[3::8]} == {("s", "    For long.")}
    assert {line.spans[-1] for line in lines[5::8]} == {("c", "# degrees")}


def test_a_long_string_keeps_its_colour_and_what_follows_has_its_own():
    for quotes in ('"""', "'''"):
        lines = code(f"{quotes}One\n" + "it is long\n" * 500 + f"{quotes}\nx = 1\n", "a.py")

        assert colours(lines[:502]) == {"s"}
        assert ("n", "1") in lines[502].spans

"""Texts as lines: diffs, numbers and colours."""

from hypothesis import given
from hypothesis import strategies as st

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
    plain = words.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")

    assert "\n".join(text(line) for line in lines).replace("\ufeff", "") == plain.replace(
        "\ufeff", ""
    )

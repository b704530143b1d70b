import pytest


def lines(count):
    return "".join(f"line {i}\n" for i in range(1, count + 1))


def test_lines_are_numbered_from_one(use, put):
    put("a.py", "x = 1\n\ny = 2\n")

    result = use("read_file", path="a.py")

    assert result.text == "     1\tx = 1\n     2\t\n     3\ty = 2"
    assert result.ok
    assert not result.truncated


def test_a_long_file_is_shown_in_parts_that_say_how_to_go_on(use, put):
    put("a.py", lines(1312))

    result = use("read_file", path="a.py")

    assert result.text.splitlines()[0] == "     1\tline 1"
    assert result.text.splitlines()[-2] == "   250\tline 250"
    assert result.text.splitlines()[-1] == "[lines 1-250 of 1312; continue with start_line=251]"
    assert result.truncated


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [(5, 0, 5, 254), (5, 7, 5, 7), (300, -1, 300, 400), (399, 9999, 399, 400), (1, 400, 1, 400)],
)
def test_ranges_are_inclusive(use, put, start, end, first, last):
    put("a.py", lines(400))

    rows = use("read_file", path="a.py", start_line=start, end_line=end).text.splitlines()
    rows = [row for row in rows if not row.startswith("[")]

    assert (rows[0].split()[0], rows[-1].split()[0]) == (str(first), str(last))


def test_never_more_than_a_thousand_lines(use, put):
    put("a.py", lines(3000))

    text = use("read_file", path="a.py", end_line=-1).text

    assert text.splitlines()[-1] == "[lines 1-1000 of 3000; continue with start_line=1001]"


def test_never_more_than_twenty_thousand_characters(use, put):
    put("a.py", ("y" * 99 + "\n") * 900)

    result = use("read_file", path="a.py", end_line=-1)

    assert 19_000 < len(result.text) < 20_200
    assert "continue with start_line=" in result.text


def test_a_very_long_line_is_cut(use, put):
    put("a.py", "z" * 2500 + "\n")

    result = use("read_file", path="a.py")

    assert result.text.endswith("z…[+500 chars]")
    assert result.truncated


def test_a_start_past_the_end_is_told_the_length(use, put):
    put("a.py", lines(3))

    result = use("read_file", path="a.py", start_line=4)

    assert result.error == "bad_arguments"
    assert "a.py has 3 lines" in result.text


def test_an_end_before_the_start_is_an_error(use, put):
    put("a.py", lines(9))

    assert use("read_file", path="a.py", start_line=5, end_line=4).error == "bad_arguments"


def test_an_empty_file_says_so(use, put):
    put("a.py", "")

    assert use("read_file", path="a.py").text == "(empty file)"


def test_a_binary_file_is_not_shown(use, put):
    put("a.bin", b"\x7fELF\0\0")

    result = use("read_file", path="a.bin")

    assert result.error == "binary"
    assert "6 bytes" in result.text


def test_bytes_that_are_not_unicode_are_replaced(use, put):
    put("a.txt", b"caf\xe9\n")

    assert use("read_file", path="a.txt").text == "     1\tcaf�"


def test_line_endings_marks_and_a_missing_final_newline_are_told(use, put):
    put("a.txt", b"\xef\xbb\xbfone\r\ntwo")

    rows = use("read_file", path="a.txt").text.splitlines()

    assert rows[:2] == ["     1\tone", "     2\ttwo"]
    assert [row.split()[0] for row in rows[2:]] == ["[CRLF", "[byte", "[no"]


def test_a_file_over_ten_megabytes_is_read_in_parts_only(use, put):
    put("big.txt", b"0123456789abcde\n" * (11 * 2**16))

    assert use("read_file", path="big.txt").error == "too_large"
    assert "start_line" in use("read_file", path="big.txt").text
    assert use("read_file", path="big.txt", start_line=720_000, end_line=720_001).ok


def test_a_folder_is_listed_two_levels_deep_without_hidden_entries(use, put):
    for path in ("b/c/d.py", "b/x.py", "a.py", ".github/w.yml", ".env", "b/.hidden", ".git/HEAD"):
        put(path, "x")

    text = use("read_file", path=".").text

    assert text == "./\n  a.py\n  b/\n  b/c/\n  b/x.py\n[3 hidden entries omitted]"
    assert use("read_file", path="b").text == (
        "b/\n  c/\n  c/d.py\n  x.py\n[1 hidden entries omitted]"
    )


@pytest.mark.parametrize("path", ["/workspace/a.py", "./a.py", "b/../a.py", "/workspace/b/../a.py"])
def test_paths_may_be_absolute_or_winding_inside_the_repository(use, put, path):
    put("a.py", "x\n")

    assert use("read_file", path=path).text == "     1\tx"


@pytest.mark.parametrize("path", ["..", "../x", "a/../../x", "/etc/passwd", "/workspace/../x"])
def test_paths_outside_the_repository_are_refused(use, path):
    assert use("read_file", path=path).error == "outside_repo"


def test_a_missing_file_is_an_observation(use):
    assert use("read_file", path="none.py").error == "not_found"

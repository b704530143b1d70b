import pytest


@pytest.fixture(autouse=True)
def files(put):
    put("b.py", "import os\n\nclass B:\n    pass\n")
    put("a/x.py", "import os\nimport re\n")
    put("a/notes.txt", "IMPORT this\n")
    put("a/data.bin", b"\0import\n")


def test_matches_are_sorted_by_path_and_line(use):
    assert use("search", pattern="^import").text == (
        "a/x.py:1:import os\na/x.py:2:import re\nb.py:1:import os"
    )


def test_files_and_counts_may_be_asked_for(use):
    assert use("search", pattern="import", output="files").text == "a/x.py\nb.py"
    assert use("search", pattern="import", output="count").text == "a/x.py:2\nb.py:1"


def test_case_glob_and_path_narrow_the_search(use):
    assert use("search", pattern="import", ignore_case=True, glob="*.txt").text == (
        "a/notes.txt:1:IMPORT this"
    )
    assert use("search", pattern="import", path="b.py").text == "b.py:1:import os"


def test_nothing_found_is_not_an_error(use):
    result = use("search", pattern="zzz")

    assert result.ok
    assert result.text == "(no matches)"


def test_what_was_cut_is_counted(use):
    result = use("search", pattern="import", max_results=1)

    assert result.text.splitlines() == [
        "a/x.py:1:import os",
        "[1 of 3 matches in 2 files; narrow the pattern or raise max_results]",
    ]
    assert result.truncated
    assert use("search", pattern="import", output="files", max_results=1).text.endswith(
        "[1 of 2 files]"
    )


def test_context_is_shown_once_and_gaps_are_marked(use, put):
    put("c.txt", "1\nhit 2\n3\nhit 4\n5\n6\n7\nhit 8\n")

    assert use("search", pattern="hit", path="c.txt", context_lines=1).text.splitlines() == [
        "c.txt-1-1",
        "c.txt:2:hit 2",
        "c.txt-3-3",
        "c.txt:4:hit 4",
        "c.txt-5-5",
        "--",
        "c.txt-7-7",
        "c.txt:8:hit 8",
    ]


def test_neighbouring_matches_are_both_marked_as_matches(use, put):
    put("c.txt", "hit 1\nhit 2\n")

    assert use("search", pattern="hit", path="c.txt", context_lines=2).text.splitlines() == [
        "c.txt:1:hit 1",
        "c.txt:2:hit 2",
    ]


def test_long_lines_are_cut(use, put):
    put("c.txt", "hit" + "y" * 500)

    assert use("search", pattern="hit", path="c.txt").text.endswith("y…[+203 chars]")


def test_a_bad_pattern_says_where(use):
    result = use("search", pattern="a(")

    assert result.error == "bad_arguments"
    assert "position" in result.text
    assert use("search", pattern="os\nimport (", fixed_strings=True).ok


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"pattern": ""}, "bad_arguments"),
        ({"pattern": "x", "output": "lines"}, "bad_arguments"),
        ({"pattern": "x", "max_results": 201}, "bad_arguments"),
        ({"pattern": "x", "path": "none"}, "not_found"),
        ({"pattern": "x", "path": "/etc"}, "outside_repo"),
    ],
)
def test_impossible_searches_are_refused(use, arguments, error):
    assert use("search", **arguments).error == error

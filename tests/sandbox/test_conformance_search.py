"""What every backend promises about searching."""

import pytest

from codeenv.errors import PathError
from codeenv.sandbox.base import Match, SearchQuery
from codeenv.tree import Entry, Tree

TREE = Tree(
    {
        ".gitignore": Entry(b"ignored.txt\nbuild/\n"),
        "a.py": Entry(b"import os\n\nneedle = 1\r\nafter\n"),
        "b/c.py": Entry(b"Needle(needle)\n"),
        "b/d.txt": Entry(b"no\nneedle.dot\nno"),
        "binary": Entry(b"needle\x00"),
        "ignored.txt": Entry(b"needle"),
        "latin": Entry(b"caf\xe9 needle\n"),
        "link": Entry(b"a.py", "link"),
    }
)


@pytest.fixture
def searched(world):
    """A box with a repository to search in."""
    box = world.open(TREE)
    box.exec("git init -q . && git add a.py b")
    return box


def _found(box, pattern="needle", **options):
    return [(m.path, m.line) for m in box.search(SearchQuery(pattern, **options)).matches]


def test_tracked_and_untracked_but_not_ignored_text_is_searched(searched):
    assert _found(searched) == [("a.py", 3), ("b/c.py", 1), ("b/d.txt", 2), ("latin", 1)]


def test_without_a_repository_everything_is_searched(world):
    assert ("ignored.txt", 1) in _found(world.open(TREE))


def test_a_broken_repository_is_searched_all_the_same(world):
    box = world.open(TREE)
    box.exec("mkdir .git; echo nonsense > .git/HEAD; echo needle > .git/config")

    assert ("a.py", 3) in _found(box)
    assert not any(path.startswith(".git/") for path, _ in _found(box))


def test_a_match_has_its_line_and_its_context(searched):
    (match,) = searched.search(SearchQuery("needle = ", context_lines=1)).matches

    assert match == Match("a.py", 3, "needle = 1", ("",), ("after",))


def test_bytes_that_are_not_text_are_replaced(searched):
    (match,) = searched.search(SearchQuery("caf")).matches

    assert match.text == "caf\ufffd needle"


def test_case_can_be_ignored(searched):
    assert _found(searched, "NEEDLE") == []
    assert len(_found(searched, "NEEDLE", ignore_case=True)) == 4


def test_a_pattern_can_be_a_plain_text(searched):
    assert _found(searched, "needle.", fixed_strings=True) == [("b/d.txt", 2)]
    assert len(_found(searched, "needle.")) == 3


def test_a_search_can_be_in_one_folder_or_file(searched):
    assert _found(searched, path="b") == [("b/c.py", 1), ("b/d.txt", 2)]
    assert _found(searched, path="b/c.py") == [("b/c.py", 1)]
    assert _found(searched, path=f"{searched.workspace}/b/c.py") == [("b/c.py", 1)]


@pytest.mark.parametrize(
    ("glob", "paths"),
    [
        ("*.py", ["a.py", "b/c.py"]),
        ("b/*", ["b/c.py", "b/d.txt"]),
        ("**/*.py", ["a.py", "b/c.py"]),
        ("b/[!c]*", ["b/d.txt"]),
        ("?.py", ["a.py", "b/c.py"]),
        ("*.md", []),
    ],
)
def test_a_glob_chooses_files(searched, glob, paths):
    assert [path for path, _ in _found(searched, glob=glob)] == paths


def test_totals_count_what_the_limit_cuts(searched):
    result = searched.search(SearchQuery("needle", max_results=2))

    assert len(result.matches) == 2
    assert result.total == 4
    assert dict(result.counts) == {"a.py": 1, "b/c.py": 1, "b/d.txt": 1, "latin": 1}
    assert list(result.counts) == sorted(result.counts)


def test_no_match_is_no_error(searched):
    result = searched.search(SearchQuery("nowhere"))

    assert (result.matches, result.total) == ((), 0)


def test_a_bad_pattern_says_where(searched):
    with pytest.raises(PathError, match="position 3") as caught:
        searched.search(SearchQuery("abc(d"))
    assert caught.value.code == "bad_pattern"


def test_a_pattern_that_takes_for_ever_is_given_up(searched):
    searched.write_file("slow", b"a" * 60 + b"!\n")

    with pytest.raises(PathError) as caught:
        searched.search(SearchQuery("(a+)+$", path="slow", timeout=0.3))
    assert caught.value.code == "bad_pattern"
    assert searched.exec("echo fine").text == "fine\n"


@pytest.mark.parametrize(("path", "code"), [("missing", "not_found"), ("/etc", "outside")])
def test_a_place_that_cannot_be_searched_says_why(searched, path, code):
    with pytest.raises(PathError) as caught:
        searched.search(SearchQuery("x", path=path))
    assert caught.value.code == code

"""A tree and what lies over it make the tree that a box sees."""

import pytest

from codeenv.errors import PathError
from codeenv.sandbox.merging import merged
from codeenv.tree import Entry, Tree

BASE = Tree(
    {
        ".git/HEAD": Entry(b"ref"),
        "a": Entry(b"a"),
        "d/x": Entry(b"x"),
        "d/y": Entry(b"y"),
        "d.txt": Entry(b"beside"),
    }
)


def _merged(*items, files=100, size=100):
    changes = [(path, kind, 0o644, 0, data) for path, kind, data in items]
    return dict(merged(BASE, changes, files=files, size=size))


def test_the_repository_of_the_base_is_left_out():
    assert set(_merged()) == {"a", "d/x", "d/y", "d.txt"}


@pytest.mark.parametrize(
    ("items", "gone", "new"),
    [
        ([("d", "folder", b""), ("d/x", "gone", b"")], {"d/x"}, set()),
        ([("d", "gone", b"")], {"d/x", "d/y"}, set()),
        ([("d", "whole", b""), ("d/z", "file", b"")], {"d/x", "d/y"}, {"d/z"}),
        ([("d", "whole", b""), ("d/x", "file", b"new")], {"d/y"}, set()),
        ([("d", "file", b"")], {"d/x", "d/y"}, {"d"}),
        ([("d", "link", b"a")], {"d/x", "d/y"}, {"d"}),
        ([("a", "folder", b""), ("a/b", "file", b"")], {"a"}, {"a/b"}),
    ],
)
def test_what_lies_over_hides_what_lies_below(items, gone, new):
    assert set(_merged(*items)) == {"a", "d/x", "d/y", "d.txt"} - gone | new


def test_limits_hold_for_the_whole_tree():
    with pytest.raises(PathError, match="too many entries"):
        _merged(("new", "file", b""), files=4)
    with pytest.raises(PathError, match="too many bytes"):
        _merged(("new", "file", b"1234567890"), size=10)

from typing import Any

import pytest

from codeenv.errors import TaskError
from codeenv.materialise.operations import apply_operations
from codeenv.tasks.models import Operation, span_digest
from codeenv.tree import Entry, Tree

TEXT = b"one\r\ntwo\xff\nthree\n"
TREE = Tree({"a.py": Entry(TEXT, "exec"), "b.py": Entry(b"keep\n"), "l": Entry(b"a.py", "link")})


def edit(path: str, start: int, end: int, replacement: str = "", **more: Any) -> Operation:
    data = TREE[path].data[start:end] if path in TREE else b""
    values = {"kind": "function", "mode": "remove", "sha256": span_digest(data)}
    return Operation(path=path, start=start, end=end, replacement=replacement, **{**values, **more})


def test_bytes_outside_the_spans_and_the_mode_survive() -> None:
    out = apply_operations(TREE, [edit("a.py", 10, 16, "3"), edit("a.py", 0, 3, "1")])
    assert out["a.py"].data == b"1" + TEXT[3:10] + b"3" + TEXT[16:]
    assert out["a.py"].mode == "exec"
    assert out["b.py"] == TREE["b.py"]


def test_the_order_of_edits_does_not_matter() -> None:
    edits = [edit("a.py", 10, 16, "3"), edit("a.py", 0, 3, "1"), edit("b.py", 0, 4, "K")]
    assert apply_operations(TREE, edits) == apply_operations(TREE, edits[::-1])


def test_a_repeated_edit_counts_once() -> None:
    once = edit("a.py", 0, 3, "1")
    assert apply_operations(TREE, [once, once]) == apply_operations(TREE, [once])


def test_touching_spans_are_not_an_overlap() -> None:
    out = apply_operations(TREE, [edit("a.py", 0, 3), edit("a.py", 3, 5)])
    assert out["a.py"].data == TEXT[5:]


def test_overlapping_spans_are_refused() -> None:
    with pytest.raises(TaskError, match="overlap"):
        apply_operations(TREE, [edit("a.py", 0, 5), edit("a.py", 3, 9)])


def test_two_insertions_at_one_place_are_refused() -> None:
    with pytest.raises(TaskError, match="overlap"):
        apply_operations(TREE, [edit("a.py", 3, 3, "x"), edit("a.py", 3, 3, "y")])


def test_other_bytes_than_the_recipe_names_are_refused() -> None:
    with pytest.raises(TaskError, match="sha256") as caught:
        apply_operations(TREE, [edit("a.py", 0, 3, sha256="0" * 16)])
    assert "a.py[0:3]" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (edit("gone.py", 0, 0), "is not in the source"),
        (edit("l", 0, 2), "is a link"),
        (edit("a.py", 0, 99), "has 16 bytes"),
    ],
)
def test_spans_that_cannot_be_are_refused(operation: Operation, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        apply_operations(TREE, [operation])


@pytest.mark.parametrize(
    ("kind", "mode"), [("module", "remove"), ("test", "hide"), ("text", "remove")]
)
def test_removing_a_whole_file_deletes_it(kind: str, mode: str) -> None:
    assert "b.py" not in apply_operations(TREE, [edit("b.py", 0, 5, kind=kind, mode=mode)])


@pytest.mark.parametrize(("kind", "mode"), [("function", "remove"), ("module", "stub")])
def test_emptying_a_file_in_another_way_keeps_it(kind: str, mode: str) -> None:
    out = apply_operations(TREE, [edit("b.py", 0, 5, kind=kind, mode=mode)])
    assert out["b.py"].data == b""

"""The compact form of recipes: nothing is lost, and a person can read it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.tasks.digest import canonical
from codeenv.tasks.models import Operation, Recipe, span_digest
from codeenv.tasks.packing import pack, pack_ids, unpack, unpack_ids, write
from tests.tasks.test_taskset import recipe

PIECES = st.sampled_from(["a.py", "T", "test_a", "test_b", "::", "[", "]", "[1 /x]", " ", "", "\\n", "ü"])
IDS = st.lists(st.lists(PIECES, max_size=6).map("".join) | st.text(), max_size=12).map(tuple)
TEXT = st.text(st.characters(codec="utf-8"), max_size=9)
KINDS = st.sampled_from(["function", "class", "import", "export", "test", "text"])
MODES = st.sampled_from(["remove", "stub", "clean", "hide"])


@st.composite
def operations(draw):
    start = draw(st.integers(0, 99))
    return Operation(
        path=draw(st.sampled_from(["a.py", "b/c.py", ""])),
        start=start,
        end=start + draw(st.integers(0, 99)),
        sha256=span_digest(draw(st.binary(max_size=3))),
        replacement=draw(TEXT),
        symbol=draw(TEXT),
        kind=draw(KINDS),
        mode=draw(MODES),
    )


def again(text):
    return Recipe.model_validate_json(json.dumps(unpack(json.loads(text))))


@given(IDS)
def test_any_ids_in_any_order_come_back(ids):
    assert tuple(unpack_ids(json.loads(write(pack_ids(ids))))) == ids


@given(IDS, st.lists(operations(), max_size=6), st.lists(operations(), max_size=6))
def test_a_recipe_comes_back_as_it_was(ids, deletions, hidden):
    made = recipe(
        deletions=tuple(deletions),
        hidden=tuple(hidden),
        fail_to_pass=ids,
        excluded=ids[1:],
        held_out=ids[:1],
    )
    assert again(canonical(made)) == made


def test_an_id_of_ten_thousand_characters_comes_back():
    ids = ("a.py::test_a[" + "[x::y]/" * 1500 + "]", "a.py::test_a")
    assert tuple(unpack_ids(pack_ids(ids))) == ids


def test_ids_are_grouped_by_file_class_and_function():
    ids = ("a.py::test_a", "a.py::T::test_b[1]", "a.py::T::test_b[2]", "b.py::test_c", "doc.txt")
    assert pack_ids(ids) == [
        {"a.py": ["test_a", {"T": [["test_b", "[1]", "[2]"]]}], "b.py": ["test_c"]},
        "doc.txt",
    ]


def test_an_edit_is_a_row_that_ends_with_the_last_thing_worth_saying():
    stub = Operation(
        path="a.py",
        start=1,
        end=2,
        sha256="0" * 16,
        replacement="pass",
        symbol="f",
        kind="function",
        mode="stub",
    )
    hide = stub.model_copy(update={"replacement": "", "symbol": "", "kind": "test", "mode": "hide"})
    made = pack(recipe(deletions=(stub,), hidden=(hide, hide)))
    assert made["deletions"] == {"a.py": [[1, 2, "0" * 16, "function", "stub", "f", "pass"]]}
    assert made["hidden"] == {"a.py": [[1, 2, "0" * 16], [1, 2, "0" * 16]]}
    assert f'  "a.py": [\n   [1, 2, "{"0" * 16}", "function"' in write(made)


def test_nothing_is_said_of_what_is_not_there():
    made = pack(recipe())
    assert not {"hidden", "excluded", "held_out", "secrets"} & made.keys()
    assert not {"version", "subdir"} & made["source"].keys()
    assert made["fail_to_pass"] == {"t.py": ["a"]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"fail_to_pass": "t.py"},
        {"fail_to_pass": [[]]},
        {"fail_to_pass": [1]},
        {"fail_to_pass": {"t.py": None}},
        {"excluded": [["a", 1]]},
        {"deletions": {"a.py": [[1, 2]]}},
        {"deletions": {"a.py": 3}},
        {"hidden": [["a.py"]]},
        {"hidden": {"a.py": [[1, 2, "0", "", "test", "", "hide", "more"]]}},
    ],
)
def test_what_is_packed_wrongly_is_told(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is not written as codeenv writes"):
        unpack(wrong)


PLACES = st.sampled_from(["", "a.py", "a.py::T::test_a", "a b.py::test_a", "a.py::test_b"])
LICENCES = st.lists(st.builds("{} {}".format, PLACES, st.sampled_from([".name", "Box.!=", "~", ""])))


@given(LICENCES.map(lambda found: tuple(sorted({*found}))) | st.just(("Box", "Box.=")))
def test_licences_come_back_as_they_were(licences):
    known = recipe().model_copy(update={"licences": licences})
    assert Recipe.model_validate(unpack(json.loads(canonical(known)))) == known


def test_places_with_the_same_licences_stand_together():
    found = ("a.py .name", "a.py .size", "b.py .name", "b.py .size")
    known = recipe().model_copy(update={"licences": found})
    assert pack(known)["licences"] == {".name .size": ["a.py", "b.py"]}

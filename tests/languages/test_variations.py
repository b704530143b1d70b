"""Calls that no test makes: like those that tests make, and the same ones every time."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.guest.replay_values import parts, with_parts
from codeenv.guest.split_wire import Decoder, Encoder
from codeenv.languages.python.replaying import target_of
from codeenv.languages.python.variations import vary


class _Nothing:
    def refer(self, value):
        raise AssertionError(value)

    def resolve(self, tag, body):
        raise AssertionError(tag)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


def script(*arguments, **named):
    encode = Encoder(_Nothing()).encode
    steps = [["pkg.mod:function", list(map(encode, arguments))]]
    return json.dumps([[*steps[0], {n: encode(v) for n, v in named.items()}]] if named else steps)


def values(text):
    _, arguments, *named = json.loads(text)[0]
    decode = Decoder(_Nothing()).decode
    return [decode(each) for each in arguments], {
        name: decode(each) for name, each in (named or [{}])[0].items()
    }


@given(st.lists(PLAIN, max_size=3), st.dictionaries(st.sampled_from("abc"), PLAIN, max_size=2))
def test_a_variation_calls_the_same_with_values_of_the_same_kinds(arguments, named):
    text = script(*arguments, **named)
    for other in vary(text, 6):
        assert other != text
        assert target_of(other) == "pkg.mod:function"
        args, kwargs = values(other)
        assert list(map(type, args)) == list(map(type, arguments))
        assert {n: type(v) for n, v in kwargs.items()} == {n: type(v) for n, v in named.items()}


@given(PLAIN)
def test_variations_are_always_the_same_ones(value):
    assert vary(script(value), 6) == vary(script(value), 6)


@pytest.mark.parametrize(
    "value",
    [None, True, ["list"], ["standard", "builtins:int"], ["named", "pkg:f"], ["single", "..."]],
)
def test_what_has_no_other_value_of_its_kind_has_no_variation(value):
    assert vary(json.dumps([["pkg:f", [value]]]), 6) == ()


def test_earlier_steps_vary_and_references_stay():
    steps = [["pkg:Box", [5]], [[0, "put"], ["word"]], ["pkg:join", [["list", ["step", 0]]]]]
    found = [json.loads(other) for other in vary(json.dumps(steps), 6)]

    assert found
    assert all(other[2] == steps[2] for other in found)
    assert {other[0][0] for other in found} == {"pkg:Box"}
    assert target_of(json.dumps(steps)) == "pkg:join"
    assert target_of(json.dumps(steps[:2])) == "pkg:Box.put"


@given(PLAIN)
def test_a_container_with_its_own_parts_is_itself(value):
    wire = Encoder(_Nothing()).encode(value)
    assert with_parts(wire, parts(wire)) == wire


def test_a_key_that_looks_like_a_reference_is_none():
    wire = ["dict", ["step", 7], ["a", ["step", 1]]]
    assert parts(wire) == ["step", 7, "a", ["step", 1]]
    assert with_parts(wire, ["b", 8, "c", 9]) == ["dict", ["b", 8], ["c", 9]]

"""A replacement as deletions within the line."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.languages.python.narrowing import STUBS, narrow

PIECES = ["a", "b", "if", "(", ")", ",", ".", "  ", " ", "\n", "    ", '"', "pass", "ä", "\t", "1"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40)


def applied(old, spans):
    for start, end, text in reversed(spans):
        old = old[:start] + text.encode() + old[end:]
    return old


@given(TEXTS, st.data())
def test_what_is_left_after_deletions_is_found_again(pieces, data):
    keep = data.draw(st.lists(st.booleans(), min_size=len(pieces), max_size=len(pieces)))
    # A space after each piece, so that no two words become one.
    old = "".join(p + " " for p in pieces).encode()
    new = "".join(p + " " for p, k in zip(pieces, keep, strict=True) if k).encode()
    spans = narrow(old, new)
    assert applied(old, spans) == new
    assert {line.strip() for _, _, text in spans for line in text.split("\n")} <= {"", *STUBS}


@given(TEXTS, TEXTS)
def test_anything_else_is_refused_or_right(before, after):
    old, new = "".join(before).encode(), "".join(after).encode()
    try:
        spans = narrow(old, new)
    except ValueError:
        return
    assert applied(old, spans) == new
    assert {line.strip() for _, _, text in spans for line in text.split("\n")} <= {"", *STUBS}
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        (b"from a import b, c\n", b"from a import b\n", [b", c"]),
        (b"from a import b, c\n", b"from a import c\n", [b"b, "]),
        (b"f(a, b, c)\n", b"f(a, c)\n", [b"b, "]),
        (b"def f(a, *, b=1):\n", b"def f(a):\n", [b", *, b=1"]),
        (b"if x:\n    y()\n", b"y()\n", [b"if x:\n    "]),
        (b"    if x:\n        y()\n        z()\n", b"    y()\n    z()\n", None),
        (b"from a import (\n    b,\n    c,\n)\n", b"from a import b\n", None),
        (b"x = f(1) + g(2)\n", b"x = g(2)\n", [b"f(1) + "]),
    ],
)
def test_a_line_with_less_in_it_is_a_deletion_within_the_line(old, new, gone):
    spans = narrow(old, new)
    assert applied(old, spans) == new
    assert not any(text.strip() for _, _, text in spans)
    if gone is not None:
        assert [old[start:end] for start, end, _ in spans] == gone


@pytest.mark.parametrize("stub", STUBS)
def test_a_trivial_stub_may_be_new(stub):
    old = b"def f(x):\r\n    y = x\r\n    return y\r\n"
    new = b"def f(x):\r\n    " + stub.encode() + b"\r\n"
    spans = narrow(old, new)
    assert applied(old, spans) == new
    assert [text for _, _, text in spans if text.strip()] == [stub]
    assert applied(b"def f(): return g()\n", narrow(b"def f(): return g()\n", b"def f(): pass\n"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"x = 1\n", b"x = 2\n"),
        (b"foobar()\n", b"foo()\n"),
        (b"a b\n", b"b a\n"),
        (b"return x\n", b"return not x\n"),
        (b"f()\n", b"f()\nraise ValueError\n"),
        (b"f()\n", b"f(pass)\n"),
    ],
)
def test_a_word_that_was_not_there_is_refused_with_its_line(old, new):
    line = new.strip().splitlines()[-1].decode()
    with pytest.raises(ValueError, match="cannot be had by deleting") as refused:
        narrow(old, new)
    assert repr(line) in str(refused.value)

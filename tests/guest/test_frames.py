"""Frames survive any way of being cut, and nonsense is noticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeenv.guest.frames import MAX_HEADER, Decoder, Frame, FrameError

HEADERS = st.dictionaries(st.text(), st.text() | st.integers() | st.none())
FRAMES = st.lists(st.builds(Frame, HEADERS, st.binary(max_size=300)), max_size=4)


@given(FRAMES, st.integers(1, 50))
def test_frames_come_back_whatever_the_cuts(frames, size):
    stream = b"".join(frame.encode() for frame in frames)
    decoder = Decoder()

    got = [f for n in range(0, len(stream), size) for f in decoder.feed(stream[n : n + size])]

    assert got == frames


def test_names_that_are_not_text_survive():
    frame = Frame({"path": b"caf\xe9".decode("utf-8", "surrogateescape")})

    assert list(Decoder().feed(frame.encode())) == [frame]


def test_impossible_lengths_are_noticed_at_once():
    data = (MAX_HEADER + 1).to_bytes(4, "big") + bytes(8)

    with pytest.raises(FrameError, match="impossible"):
        list(Decoder().feed(data))
    with pytest.raises(FrameError, match="impossible"):
        list(Decoder(limit=10).feed(Frame({}, bytes(11)).encode()))


@pytest.mark.parametrize("header", [b"{", b"[]", b"\xff"])
def test_a_header_that_is_no_json_object_is_noticed(header):
    data = len(header).to_bytes(4, "big") + bytes(8) + header

    with pytest.raises(FrameError, match="header"):
        list(Decoder().feed(data))

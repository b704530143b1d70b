"""Output is kept by its head and its tail, whatever its pieces."""

from hypothesis import given
from hypothesis import strategies as st

from codeenv.guest.capture import LOG_LIMIT, Capture


@given(st.lists(st.binary(max_size=40)), st.integers(0, 60))
def test_head_and_tail_do_not_depend_on_the_pieces(pieces, limit):
    capture = Capture(limit)
    for piece in pieces:
        capture.feed(piece)
    data = b"".join(pieces)
    kept = capture.result()

    assert capture.total == len(data)
    assert capture.truncated == (len(data) > limit)
    if len(data) <= limit:
        assert kept == data
    else:
        head = limit // 2
        assert kept == data[:head] + data[len(data) - (limit - head) :]


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1), st.integers(0, 20))
def test_the_log_has_everything_once_something_is_dropped(tmp_path_factory, pieces, limit):
    path = tmp_path_factory.mktemp("logs") / "out" / "0001.log"
    capture = Capture(limit, str(path))
    for piece in pieces:
        capture.feed(piece)
    capture.result()
    data = b"".join(pieces)

    assert capture.logged == path.exists() == (len(data) > limit)
    if path.exists():
        assert path.read_bytes() == data


def test_the_log_is_capped(tmp_path):
    path = tmp_path / "log"
    capture = Capture(10, str(path))
    for _ in range(10):
        capture.feed(bytes(1024**2))
    capture.result()

    assert path.stat().st_size == LOG_LIMIT


def test_a_log_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "taken").write_text("")
    capture = Capture(2, str(tmp_path / "taken" / "log"))
    capture.feed(b"abcdef")

    assert capture.result() == b"af"
    assert not capture.logged


def test_a_planted_log_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "log").symlink_to(victim)
    capture = Capture(2, str(tmp_path / "log"))
    capture.feed(b"abcdef")
    capture.result()

    assert victim.read_text() == "precious"
    assert not capture.logged

import threading

import pytest

from codeenv.env.memo import Memo


def test_a_value_is_made_once_however_many_ask():
    memo, made, meeting = Memo(4), [], threading.Barrier(4, timeout=20)

    def ask():
        meeting.wait()
        memo.get("key", lambda: made.append(1))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert made == [1]


def test_a_failure_is_not_kept():
    memo = Memo(4)
    with pytest.raises(ZeroDivisionError):
        memo.get("key", lambda: 1 / 0)

    assert memo.get("key", lambda: 7) == 7


def test_the_least_used_value_goes_first():
    memo = Memo(2)
    for key in "ab":
        memo.get(key, lambda key=key: key)
    memo.get("a", lambda: "again")
    memo.get("c", lambda: "c")

    assert memo.get("a", lambda: "again") == "a"
    assert memo.get("b", lambda: "again") == "again"
